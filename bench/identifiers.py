"""How names are formed: participles that stand for things, and names that say nothing, counted.

A participle is a whole name in -ed, or one of the irregular forms below; `found_rows` is none, and neither is a
function that is called by its verb (`read`, `cut`). Uses are counted, not definitions, of parameters, locals and
attributes: that is what a reader meets. Functions, classes and modules count as attributes where they are used so.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator


def _words(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(re.findall(r"\w+", text))


# The list of the first measurement of this source beside others.
MEASURED_FIRST = _words(
    """
    found told asked said given kept held made seen taken known wanted shown drawn named listed
    """
)
# All irregular participles that differ from their verbs, and `left`.
IRREGULAR = _words(
    """
    begun bent bitten born borne bought bound broken brought built burnt caught chosen clung crept
    dealt done drawn driven drunk eaten fallen fed felt flown forbidden forgiven forgotten fought
    found frozen given gone got gotten grown heard held hidden hung kept known laid lain learnt led
    left lent lit lost made meant met mistaken overcome paid proven ridden risen rung said sat seen
    sent sewn shaken shone shot shown shrunk slain slept slid sold sought spelt spoken spun stolen
    stood struck stuck sung sunk swept sworn swum swung taken taught thought thrown told torn
    trodden undergone understood undone unknown untold unseen withdrawn withheld woken won worn
    woven written wrung
    """
)
# These are verbs too, so only a parameter or a local of that name counts, and no attribute.
SAME_AS_VERB = _words(
    """
    read cut split put hit let shut set run spread cast
    """
)
# Nouns and adjectives that end alike, names of Python and of libraries, and terms of the field.
NO_PARTICIPLES = _words(
    """
    bed bleed breed embed exceed feed need proceed red seed shed shred speed succeed Annotated
    NotImplemented sorted reversed searchsorted set run spread read_only bound bounded unbounded
    weighted unweighted calibrated oversubscribed signed unsigned truncated shared spent charged
    isolated disabled nested linked_list is_closed closed
    """
)
VAGUE = _words(
    """
    result value data item info obj tmp
    """
)


def names(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield all names that code uses, with whether each is an attribute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id, False
        elif isinstance(node, ast.arg):
            yield node.arg, False
        elif isinstance(node, ast.Attribute):
            yield node.attr, True
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name, False


def is_participle(name: str, is_attribute: bool = False) -> bool:
    """Return whether a whole name is a participle."""
    word = name.strip("_")
    if {word, word.lower()} & NO_PARTICIPLES or not (word.islower() or word.istitle()):
        return False
    word = word.lower()
    if word in SAME_AS_VERB:
        return not is_attribute and not name.startswith("_")
    return word in IRREGULAR or ("_" not in word and word.endswith("ed") and len(word) > 3)


def participles(trees: list[ast.Module]) -> Counter[str]:
    """Return the participles among the names of modules, with how often they are used."""
    used = (pair for tree in trees for pair in names(tree))
    return Counter(name for name, attribute in used if is_participle(name, attribute))


def measured_first(trees: list[ast.Module]) -> int:
    """Return how often the names of the first list are used."""
    return sum(name.strip("_") in MEASURED_FIRST for tree in trees for name, _ in names(tree))


def vague(trees: list[ast.Module]) -> Counter[str]:
    """Return the names that say nothing of what they hold, with how often they are defined."""
    return Counter(name for tree in trees for name in definitions(tree) if name in VAGUE)


def letters(trees: list[ast.Module]) -> int:
    """Return how many parameters and locals have one letter, `_` apart."""
    return sum(len(name) == 1 and name != "_" for tree in trees for name in definitions(tree))


def definitions(tree: ast.AST) -> Iterator[str]:
    """Yield the parameters, and the names that are assigned to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
