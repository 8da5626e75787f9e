"""Files that the sources of two budgets name now: compared whenever a question is charged. Proof: docs.

A pattern or a folder names other files from one day to the next. So what was compared when a budget was opened says
nothing of today.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import Exhausted, LedgerError
from ..selection.payment import About
from ..tables.datasets.sources import list_files, place_in_words
from .bindings import Bindings, read_bindings
from .bindings import check_charge as check_binding
from .transaction import Transaction

MOST_FILES = 1_000_000
"""So many files of all sources together are looked at for one charge."""


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file that the sources of two budgets name.

    Attributes:
        path: its path, as the first budget finds it.
        budget: a budget.
        source: its source, in words.
        other: the other budget.
        other_source: a source that it has or had, in words.
    """

    path: str
    budget: str
    source: str
    other: str
    other_source: str

    @property
    def refusal(self) -> Exhausted:
        """The error for a question that would be charged. It is for the owner: it names files and budgets."""
        return Exhausted(
            f"{self.path} is a file of two budgets: {self.budget} names it by {self.source}, and "
            f"{self.other} by {self.other_source}. Nothing was charged. Describe {self.budget} "
            "with a narrower source, or say that they hold other people's data: discreet ledger "
            f"describe {self.budget} --separate"
        )


def refuse_shared_files(transaction: Transaction, budget: str, about: About | None) -> About | None:
    """Return the description to be recorded with a charge: see `bindings.check_charge`. Files are compared, too.

    Raises:
        Exhausted: if a file is named by the source of another budget as well, or as there.
        InvalidArgument: as there.
    """
    description = check_binding(transaction, budget, about)
    if budget not in transaction.compared:
        shared = find_shared_file(read_bindings(transaction), budget, about)
        if shared is not None:
            raise shared.refusal
        transaction.compared.add(budget)
    return description


def find_shared_file(
    bindings: Bindings, budget: str, about: About | None = None
) -> SharedFile | None:
    """Return a file of a question that another budget's source names or named, or None.

    Args:
        bindings: the descriptions of the ledger.
        budget: the budget that would be charged.
        about: the dataset that is asked about. None for all of the budget.

    Raises:
        LedgerError: if there are too many files to be looked at.
    """
    own, files = bindings.current(budget), dict[object, tuple[str, Any]]()
    for place in _own_sources(bindings, own, about):
        for file, path in list_files(place):
            files[file] = path, place
    if not files:
        return None
    others = (
        (file, source)
        for source in bindings.sources
        if bindings.current(source.budget) != own
        for file, _ in list_files(source.place)
    )
    for number, (file, source) in enumerate(others, len(files)):
        _check_number(number)
        other = bindings.current(source.budget)
        if file in files and not bindings.is_separate(own, other):
            path, place = files[file]
            return SharedFile(path, own, place_in_words(place), other, place_in_words(source.place))
    return None


def _own_sources(bindings: Bindings, own: str, about: About | None) -> Iterator[Any]:
    """Yield the sources that a question reads: that of its dataset, or those of all datasets of its budget."""
    bodies = bindings.of(own)
    body = bodies.get(str(about.name)) if about is not None else None
    for one in bodies.values() if body is None else [body]:
        yield one["source"]


def _check_number(number: int) -> None:
    if number > MOST_FILES:
        raise LedgerError(
            f"the sources of this ledger name more than {MOST_FILES} files, which are compared "
            "with every charge: keep these budgets in ledgers of their own, or their rows in "
            "larger files"
        )


def pairs_with_shared_files(bindings: Bindings) -> list[SharedFile]:
    """Return a file of each pair of budgets that a source of one names, and one of the other names or named."""
    places, pairs = dict[object, list[tuple[str, Any]]](), dict[frozenset[str], SharedFile]()
    for source in bindings.sources:
        for file, _ in list_files(source.place):
            places.setdefault(file, []).append((bindings.current(source.budget), source.place))
    for own in dict.fromkeys(bindings.current(source.budget) for source in bindings.sources):
        for place in _own_sources(bindings, own, None):
            for file, path in list_files(place):
                for other, other_place in places.get(file, ()):
                    pair = frozenset({own, other})
                    if other != own and pair not in pairs and not bindings.is_separate(own, other):
                        words = (place_in_words(place), other, place_in_words(other_place))
                        pairs[pair] = SharedFile(path, own, *words)
    return list(pairs.values())
