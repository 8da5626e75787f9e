"""The audit of a declared sensitivity: all small datasets, or a search for a counterexample."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, TypedDict, Unpack

from ...base.arguments import read_sequence
from ...base.error_boundary import error_boundary
from ...base.messages import BOTH, Message, join
from ...base.numbers import Number, count, spell
from ...errors import InvalidScores, preview
from ...mechanisms.testing import SeededBits
from ...privacy.sensitivity import Neighbors, Sensitivity, read_neighbors
from ...sampling.bits import Bits, below
from ...selection.candidates import Labels
from ...selection.scores.custom import Custom, ScoreFunction
from .neighborhood import DatabaseIndices, Neighborhood, Pair

_MOST_RECORDS = 10**4
"""Different records, and sizes."""

_MOST_IDLE_STEPS = 300
"""Steps without progress after which the search starts somewhere else."""


class Declared(TypedDict, total=False):
    """The declaration of a score function's author, as for `select_by`, with the neighbouring relation."""

    sensitivity: Number | None
    spread: Number | None
    monotonic: bool
    error: Number | None
    granularity: Number | None
    neighbors: Neighbors


_DECLARED = {"sensitivity": None, "spread": None, "monotonic": False, "error": None,
             "granularity": None, "neighbors": "add_remove"}  # fmt: skip


_PROBLEMS = {
    "sensitivity": Message("sensitivity", "an audit"),
    "spread": Message("spread", "an audit"),
}


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two neighbouring datasets on which a declaration is false.

    Attributes:
        data: the one.
        neighbor: the other.
        problem: "sensitivity", "spread", "monotonic", or "fails" if the function returns no scores.
        candidates: the candidate with a score that moves too far, or the two that move apart.
        declared: how far they may.
        found: how far they do.
        reason: why the function returns no scores, without quoting the data.
    """

    data: list[Any]
    neighbor: list[Any]
    problem: str
    candidates: tuple[object, ...]
    declared: Fraction
    found: Fraction
    reason: str = ""

    def __str__(self) -> str:
        pair = {"first": _shown_records(self.data), "second": _shown_records(self.neighbor)}
        if self.problem == "fails":
            return Message(
                "no scores for one of {first} and {second}: {reason}", **pair, reason=self.reason
            )
        if self.problem == "monotonic":
            up, down = map(repr, self.candidates)
            return Message(
                "monotonic: the score of {up} rises and that of {down} falls, each by {change} or more, "
                "from {first} to {second}",
                **pair, up=up, down=down, change=spell(self.found),
            )  # fmt: skip
        return Message(
            "{problem}: declared {declared}, found {found} for {candidates} on {first} and {second}",
            **pair, problem=_PROBLEMS[self.problem], declared=spell(self.declared),
            found=spell(self.found), candidates=join(BOTH, map(repr, self.candidates)),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SensitivityAudit:
    """The result of an audit. If it is exhaustive and finds no counterexample, it is a proof for that universe.

    Attributes:
        declared: the declared sensitivity, as used for accounting.
        change: the most one score changed.
        spread: the most a difference of two scores changed.
        monotonic: whether all scores moved in the same direction in all pairs.
        pairs: the number of pairs of neighbours that were checked.
        exhaustive: whether these are all pairs.
        counterexample: the first pair that refutes the declaration, among the smallest. None if there is none.
    """

    declared: Sensitivity
    change: Fraction
    spread: Fraction
    monotonic: bool
    pairs: int
    exhaustive: bool
    counterexample: Counterexample | None

    @property
    def holds(self) -> bool:
        """Whether no counterexample was found. This is a proof only if the audit is exhaustive."""
        return self.counterexample is None

    def __str__(self) -> str:
        if self.counterexample is not None:
            return Message("FALSE: {counterexample}", counterexample=self.counterexample)
        return Message(
            "{search}. Sensitivity {sensitivity}, spread {spread}, {direction}",
            search=nothing_found(self.pairs, exhaustive=self.exhaustive),
            sensitivity=spell(self.change), spread=spell(self.spread),
            direction=Message("monotonic" if self.monotonic else "not monotonic", "an audit"),
        )  # fmt: skip


def nothing_found(pairs: int, *, exhaustive: bool) -> Message:
    """Return the words for so many pairs of neighbours without a counterexample."""
    if exhaustive:
        return Message(
            "no counterexample among all {pairs:,} pairs: a proof for this universe", pairs=pairs
        )
    return Message("no counterexample among {pairs:,} pairs: no proof", pairs=pairs)


@error_boundary
def sensitivity(
    u: ScoreFunction,
    candidates: Iterable[object],
    universe: Iterable[object],
    sizes: Iterable[int],
    *,
    budget: int = 20_000,
    **declaration: Unpack[Declared],
) -> SensitivityAudit:
    """Return whether a score function has its declared sensitivity, with a counterexample if not.

    If there are at most `budget` pairs of neighbours, it checks all of them. Otherwise it checks up to `budget`
    pairs, by hill climbing from pseudorandom starts (always the same) towards larger changes of scores. Then it
    makes a counterexample as small as possible by leaving out records.

    Args:
        u: as for `select_by`: u(data, candidates), with data as a list of records. `u` must not depend on their
            order. It gets them in the order of the universe.
        candidates: the possible answers.
        universe: the records that a dataset may contain, with repetition.
        sizes: the allowed numbers of records in a dataset, such as range(4).
        budget: the most pairs to check.
        **declaration: sensitivity (or spread), monotonic, error, granularity, as for `select_by`, and
            neighbors.

    Raises:
        InvalidArgument: if an argument is invalid. `u` was not called.
    """
    for name in declaration:
        if name not in _DECLARED:
            raise TypeError(f"unexpected argument {name!r}; declare {', '.join(_DECLARED)}")
    records = read_sequence(universe, "universe", _MOST_RECORDS)
    size_list = read_sequence(sizes, "sizes", _MOST_RECORDS)
    room = Neighborhood.of(records, size_list, declaration.get("neighbors", "add_remove"))
    trial = _Trial(
        u, list(Labels(candidates)), records, declaration, read_neighbors(room.neighbors)
    )
    if count(budget, "budget") >= room.pairs():
        for pair in room.everything():
            trial.judge(pair)
        return trial.result(exhaustive=True)
    _climb(trial, room, budget, SeededBits())
    return trial.result(exhaustive=False)


class _Trial:
    """A score function under audit: its declaration, and the largest changes so far."""

    def __init__(
        self,
        u: ScoreFunction,
        candidates: list[object],
        universe: list[object],
        declaration: Declared,
        neighbors: Neighbors,
    ) -> None:
        self._u, self._declaration = u, declaration
        self.candidates, self.universe = candidates, universe
        self.sensitivity = self._score([]).sensitivity(neighbors)
        self.change = self.spread = Fraction(0)
        self.monotonic, self.pairs = True, 0
        self.counterexample: Counterexample | None = None
        self._scores: dict[DatabaseIndices, list[Fraction] | str] = {}

    def _score(self, records: list[object]) -> Custom:
        """Return the score of these records, as it is declared."""
        declaration = self._declaration
        return Custom(
            self._u, records, self.candidates, declaration.get("sensitivity"), declaration.get("spread"),
            declaration.get("monotonic", False), declaration.get("error"), declaration.get("granularity"),
        )  # fmt: skip

    def judge(self, pair: Pair) -> Fraction | float:
        """Return the change of a pair as a share of the declared one; above 1 it is a counterexample."""
        self.pairs += 1
        first, second = map(self._scores_of, pair)
        if isinstance(first, str) or isinstance(second, str):
            reason = first if isinstance(first, str) else str(second)
            self._keep(
                Counterexample(*self._records(pair), "fails", (), Fraction(0), Fraction(0), reason)
            )
            return inf
        moves = [b - a for a, b in zip(first, second, strict=True)]
        high, low = max(moves), min(moves)
        self.change = max(self.change, high, -low)
        self.spread = max(self.spread, high - low)
        self.monotonic = self.monotonic and not low < 0 < high
        return max(self._against(pair, moves, high, low))

    def _against(
        self, pair: Pair, moves: list[Fraction], high: Fraction, low: Fraction
    ) -> Iterator[Fraction]:
        """Yield the changes of a pair relative to all declarations, and keep it if one is above 1."""
        up, down = moves.index(high), moves.index(low)
        if self.sensitivity.change is not None:
            worst = up if high >= -low else down
            yield self._weigh(
                pair, "sensitivity", (worst,), self.sensitivity.change, abs(moves[worst])
            )
        if self.sensitivity.monotonic:
            apart = max(Fraction(0), min(high, -low))
            self._weigh(pair, "monotonic", (up, down), Fraction(0), apart)
            yield 1 + apart if apart else Fraction(0)
        yield self._weigh(pair, "spread", (up, down), self.sensitivity.spread, high - low)

    def _weigh(
        self, pair: Pair, problem: str, who: DatabaseIndices, limit: Fraction, change: Fraction
    ) -> Fraction:
        if change > limit:
            labels = tuple(self.candidates[i] for i in who)
            self._keep(Counterexample(*self._records(pair), problem, labels, limit, change))
        return change / limit if limit else Fraction(0)

    def _keep(self, counterexample: Counterexample) -> None:
        """Keep the counterexample of the smallest datasets."""
        if self.counterexample is None or len(counterexample.data) < len(self.counterexample.data):
            self.counterexample = counterexample

    def _records(self, pair: Pair) -> tuple[list[object], list[object]]:
        first, second = ([self.universe[i] for i in indices] for indices in pair)
        return first, second

    def _scores_of(self, database: DatabaseIndices) -> list[Fraction] | str:
        """Return the scores, exactly, or why there are none."""
        if database not in self._scores:
            try:
                vector = self._score([self.universe[i] for i in database]).compute(Fraction(0))
                vector.best()
                self._scores[database] = [vector.exact(i) for i in range(len(vector))]
            except InvalidScores as error:
                self._scores[database] = str(error)
        return self._scores[database]

    def result(self, *, exhaustive: bool) -> SensitivityAudit:
        """Return the result."""
        extremes = (self.change, self.spread, self.monotonic)
        return SensitivityAudit(
            self.sensitivity, *extremes, self.pairs, exhaustive, self.counterexample
        )


def _climb(trial: _Trial, room: Neighborhood, budget: int, bits: Bits) -> None:
    """Look for a counterexample by hill climbing from pseudorandom starts, then make it small."""
    while trial.pairs < budget and trial.counterexample is None:
        base, step = _beginning(room, bits)
        best, idle_steps = trial.judge(room.pair(base, step)), 0
        while idle_steps < _MOST_IDLE_STEPS and trial.pairs < budget and best <= 1:
            next_place = _move(base, step, room, bits)
            share = trial.judge(room.pair(*next_place))
            idle_steps = 0 if share > best else idle_steps + 1
            if share >= best:
                (base, step), best = next_place, share
        if best > 1:
            _shrink(trial, room, base, step)


def _beginning(room: Neighborhood, bits: Bits) -> tuple[DatabaseIndices, DatabaseIndices]:
    """Return a random base and step."""
    bases = room.bases()
    size = bases[below(len(bases), bits)]
    step_size = 2 if room.neighbors == "replace_one" else 1
    base, step = (tuple(_record(room, bits) for _ in range(n)) for n in (size, step_size))
    return base, step


def _record(room: Neighborhood, bits: Bits) -> int:
    """Return a random record. The first and the last, often extreme, come more often."""
    return {0: 0, 1: room.records - 1}.get(below(8, bits), below(room.records, bits))


def _move(
    base: DatabaseIndices, step: DatabaseIndices, room: Neighborhood, bits: Bits
) -> tuple[DatabaseIndices, DatabaseIndices]:
    """Return a neighbour in the search: one record changed, left out or put in."""
    way, record, i = below(4, bits), _record(room, bits), below(max(1, len(base)), bits)
    if way == 0:
        j = below(len(step), bits)
        step = (*step[:j], record, *step[j + 1 :])
    elif way == 1:
        base = (*base, record)
    else:
        instead = (record,) if way == 2 and base else ()
        base = (*base[:i], *instead, *base[i + 1 :])
    fits = len(base) in room.bases()
    return (base, step) if fits else _beginning(room, bits)


def _shrink(
    trial: _Trial, room: Neighborhood, base: DatabaseIndices, step: DatabaseIndices
) -> None:
    """Leave out records as long as the pair stays a counterexample."""
    bases, i = set(room.bases()), 0
    while i < len(base):
        fewer = base[:i] + base[i + 1 :]
        if len(fewer) in bases and trial.judge(room.pair(fewer, step)) > 1:
            base, i = fewer, 0
        else:
            i += 1


def _shown_records(records: Sequence[object]) -> str:
    """Return a dataset in short, for a message: it was made up here, so it is not private."""
    text = repr(list(records))
    return text if len(text) <= 60 else f"{len(records)} records such as {preview(records[0])}"


_ANY = 10**300
"""A sensitivity that no score exceeds, so that the audit is of the direction alone."""


@dataclass(frozen=True, slots=True)
class MonotonicAudit:
    """The result of an audit. If it is exhaustive and finds no counterexample, it is a proof for that universe.

    Attributes:
        pairs: the number of pairs of neighbours that were checked.
        exhaustive: whether these are all pairs.
        counterexample: two neighbours between which one score rises and another falls. None if there are none.
    """

    pairs: int
    exhaustive: bool
    counterexample: Counterexample | None

    @property
    def holds(self) -> bool:
        """Whether no counterexample was found. This is a proof only if the audit is exhaustive."""
        return self.counterexample is None

    def __str__(self) -> str:
        if self.counterexample is not None:
            return Message("FALSE: {counterexample}", counterexample=self.counterexample)
        return Message(
            "monotonic: {search}", search=nothing_found(self.pairs, exhaustive=self.exhaustive)
        )


@error_boundary
def monotonic(
    u: ScoreFunction,
    candidates: Iterable[object],
    universe: Iterable[object],
    sizes: Iterable[int],
    *,
    budget: int = 20_000,
) -> MonotonicAudit:
    """Return whether one record more or less moves all scores in the same direction, or a counterexample.

    This checks only the claim `monotonic=True`, for any sensitivity. The search is that of `sensitivity`.

    Args:
        u: as for `select_by`: u(data, candidates), with data as a list of records. `u` must not depend on their
            order. It gets them in the order of the universe.
        candidates: the possible answers.
        universe: the records that a dataset may contain, with repetition.
        sizes: the allowed numbers of records in a dataset, such as range(4).
        budget: the most pairs to check.

    Raises:
        InvalidArgument: if an argument is invalid. `u` was not called.
    """
    sensitivity_audit = sensitivity(
        u, candidates, universe, sizes, budget=budget, sensitivity=_ANY, monotonic=True
    )
    return MonotonicAudit(
        sensitivity_audit.pairs, sensitivity_audit.exhaustive, sensitivity_audit.counterexample
    )
