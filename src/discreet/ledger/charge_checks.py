"""Checks before a charge: the description on record, and tables and files that other budgets have too.

A pattern or a folder names other files from one day to the next. So what was compared when a budget was opened says
nothing of today, and files are compared whenever a question is charged. Proof: docs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import Exhausted, InvalidArgument, LedgerError
from ..selection.payment import UNDESCRIBED, About
from ..tables.datasets.extents import extent_of
from ..tables.datasets.sources import is_in_database, list_files, place_in_words
from ..tables.engines.reach import ReachCheck, changed_source, same_reach
from .bindings import Bindings, BudgetSource, read_bindings, sources_of
from .events import EventBody
from .transaction import Transaction

_PARTS_IN_WORDS = {
    "source": "source",
    "privacy_unit": "privacy unit",
    "max_contributions": "max_contributions",
}
_WHY_OVERLAPPING = (
    "another budget is about the same tables or files, and nothing new is answered until the "
    "owner of the data merges or separates them. To see which: discreet ledger verify"
)
"""Why budgets about the same tables or files answer nothing, for the caller: it names no other budget."""


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


def set_check(transaction: Transaction, budget: str, about: About) -> None:
    """Tell the reading of a described database which reach is on record, before rows are read."""
    if not isinstance(about.check, ReachCheck):
        return
    bindings = read_bindings(transaction)
    body = _find_body(bindings.of(budget), about)
    about.check.record = None if body is None else body.get("reach")
    about.check.with_views = bindings.is_told_apart(budget)


def check_charge(transaction: Transaction, budget: str, about: About | None) -> About | None:
    """Return the description to be recorded with a charge, as `check_about` does.

    Raises:
        Exhausted: if the budget was renewed, its period has ended, or another budget is about the same tables or
            files.
        InvalidArgument: as `check_about` does.
    """
    about, bindings = _with_catalogue(read_bindings(transaction), budget, about)
    why = bindings.closed(budget)
    if why is not None:
        raise Exhausted(f"the budget of {budget} cannot pay any more: {why}")
    others = bindings.overlaps(budget)
    if others:
        raise Exhausted(f"the budget of {budget} cannot pay: {_why_overlapping(budget, others)}")
    description = check_about(bindings, budget, about)
    if budget not in transaction.compared:
        shared = find_shared_file(bindings, budget, about)
        if shared is not None:
            raise shared.refusal
        transaction.compared.add(budget)
    return description


def why_unanswered(bindings: Bindings, budget: str, data: Sequence[About | None]) -> str | None:
    """Return why a budget answers nothing new about these data, for a quote, or None.

    Raises:
        InvalidArgument: as `check_about` does.
    """
    for about in data:
        check_about(bindings, budget, about)
    are_shared = any(find_shared_file(bindings, budget, about) for about in data)
    why = _WHY_OVERLAPPING if are_shared or bindings.overlaps(budget) else None
    return bindings.closed(budget) or why


def _with_catalogue(
    bindings: Bindings, budget: str, about: About | None
) -> tuple[About | None, Bindings]:
    """Return a description and the bindings with the reach that the catalogue had when the rows were read."""
    check = None if about is None else about.check
    if about is None or not isinstance(check, ReachCheck) or check.reach is None:
        return about, bindings
    about = replace(about, reach=check.reach.as_dict)
    source = BudgetSource(budget, about.source, about.reach)
    return about, replace(bindings, sources=sources_of([*bindings.sources, source]))


def _why_overlapping(budget: str, others: Sequence[str]) -> str:
    """Return why budgets about the same tables answer no new question, and the remedy of their owner."""
    return (
        f"{' and '.join([budget, *others])} are budgets about the same tables, so their answers "
        "add up. Nothing new is answered until the owner of the data merges them, discreet ledger "
        f"merge {others[0]} --into {budget}, or says that they hold other people's data: discreet "
        f"ledger describe {budget} --separate"
    )


def check_about(bindings: Bindings, budget: str, about: About | None) -> About | None:
    """Return the description to be recorded with a charge, if its columns have changed since the last one.

    Raises:
        InvalidArgument: if the release is not about the dataset that the budget belongs to, or its owner has to
            say that the description has changed.
    """
    if about is None:
        return None
    bodies = bindings.of(budget)
    if not bodies and is_in_database(about.source):
        raise InvalidArgument(
            f"the budget of {budget} was opened by its name alone, and budgets of databases are "
            f"compared: open it with the description, discreet ledger open {budget}"
        )
    if not bodies:
        if about.name in (None, budget):
            return None
        raise _of_another(f"the budget of {budget} is not that of {about.name}", about.name)
    whose = f"the budget of {budget} belongs to {' and '.join(bodies)}"
    if about == UNDESCRIBED:
        raise _of_another(f"{whose}, and these data have no description", None)
    body = _find_body(bodies, about)
    if body is None:
        raise _of_another(f"{whose}, and this is about {about.name or 'other data'}", about.name)
    return change(body, about)


def change(body: EventBody, about: About) -> About | None:
    """Return a description if its columns differ from those on record, or its table has another number by now.

    Raises:
        InvalidArgument: if it is of other data, or of other records.
    """
    differences = [key for key, part in about.identity.items() if body[key] != part]
    if differences:
        words = "; ".join(
            f"its {_PARTS_IN_WORDS[key]} was {body[key]!r} and is {about.identity[key]!r}"
            for key in differences
        )
        name = body["name"]
        raise InvalidArgument(
            f"the description of {name} is not that of its budget: {words}. Its owner records the "
            f"change with ledger.describe(dataset), or discreet ledger describe {name}. What was "
            "spent stays spent"
        )
    old_reach = body.get("reach")
    if old_reach is None or about.reach is None:
        about = replace(about, reach=old_reach or about.reach)
    elif not same_reach(old_reach, about.reach):
        raise changed_source(str(body["name"]))
    else:  # where views were not asked for, they stay as they were
        about = replace(
            about, reach={**about.reach, "views": about.reach["views"] or old_reach["views"]}
        )
    is_same = body["digest"] == about.digest and old_reach == about.reach
    return None if is_same or about.name is None else about


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


def _find_body(bodies: Mapping[str, EventBody], about: About) -> EventBody | None:
    """Return the description of the same name. For a name that is not known here, that of the same source."""
    if about.name is not None and about.name in bodies:
        return bodies[about.name]
    extent = extent_of(about.source, about.reach)
    same_first = sorted(bodies.values(), key=lambda body: bool(body["source"] != about.source))
    for body in same_first if extent is not None else ():
        other = extent_of(body["source"], body.get("reach"))
        if extent is not None and other is not None and extent.overlaps(other):
            return body
    return None


def _of_another(why: str, name: str | None) -> InvalidArgument:
    fix = (
        f"take ledger.session(dataset) with the dataset {name}"
        if name
        else "ask about the described dataset, discreet.Dataset or discreet.read_dataset"
    )
    return InvalidArgument(f"{why}: {fix}")
