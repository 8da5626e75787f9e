"""The audit of a mechanism of your own: all pairs of neighbours over a small universe of records."""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from hashlib import sha256
from inspect import getsourcefile
from pathlib import Path
from typing import Any

from ...base.arguments import read_sequence
from ...base.error_boundary import error_boundary, foreign_function
from ...base.messages import Message
from ...base.numbers import Number, count, exact, positive
from ...errors import InvalidArgument, UnreadableArgument, preview
from ...privacy.sensitivity import Neighbors, read_neighbors
from .exact import ExtendedNumber, laws
from .neighborhood import DatabaseIndices, Neighborhood, Pair
from .sampling import samples

_LARGEST_UNIVERSE = 1000
"""Different records, and sizes."""

_MOST_NEIGHBORS = 20_000

InventedRecords = list[Any]
_Law = Any
"""A distribution: a dictionary or a list of probabilities, or an object with `probabilities()`."""

Verdict = tuple[bool, ExtendedNumber]
"""Whether the claim holds of a pair, and how large the loss is."""


@dataclass(frozen=True, slots=True)
class AuditedClaim:
    """The claim about a mechanism, and how closely it is looked at.

    Attributes:
        epsilon: the claimed epsilon.
        delta: the claimed delta.
        neighbors: the neighbouring relation.
        draws: how many answers are drawn from each dataset; 0 where probabilities are given.
        confidence: how likely a counterexample by draws is one, over all pairs; 1 where probabilities are given.
    """

    epsilon: Fraction
    delta: Fraction
    neighbors: str
    draws: int
    confidence: Fraction


@dataclass(frozen=True, slots=True)
class AuditedProgram:
    """The program that was audited.

    Attributes:
        name: its file and the function in it.
        digest: the SHA-256 hash of that file, or "" if it is in none.
    """

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class MechanismAudit:
    """An audit of all pairs of neighbours over a small universe. Even without a counterexample, it is not a proof.

    Attributes:
        claim: the claim.
        universe: the records that a dataset may contain.
        sizes: the allowed numbers of records in a dataset.
        pairs: the number of pairs of neighbours.
        largest: the largest loss of all pairs. It is an epsilon if delta is 0, and otherwise the least delta at the
            claimed epsilon. By draws, it is a lower bound on epsilon.
        pair: the two datasets with this loss.
        holds: whether the claim holds for all pairs, as far as was seen.
        program: the program.
        private: whether the records are about real people.
    """

    claim: AuditedClaim
    universe: InventedRecords
    sizes: list[int]
    pairs: int
    largest: ExtendedNumber
    pair: tuple[InventedRecords, InventedRecords]
    holds: bool
    program: AuditedProgram
    private: bool = False

    @property
    def verdict(self) -> str:
        """The outcome in one line."""
        return verdict_of(self.holds, self.pairs)

    def as_dict(self) -> dict[str, object]:
        """Return the audit in plain values, ready for JSON."""
        first, second = self.pair
        return {
            "holds": self.holds, "verdict": str(self.verdict), "pairs": self.pairs,
            "claimed": {"epsilon": str(self.claim.epsilon), "delta": str(self.claim.delta)},
            "neighbors": self.claim.neighbors, "draws": self.claim.draws,
            "confidence": str(self.claim.confidence), "largest": spell_loss(self.largest),
            "data": first, "neighbor": second,
            "mechanism": self.program.name, "program_digest": self.program.digest,
        }  # fmt: skip

    def __str__(self) -> str:
        first, second = (json.dumps(side, default=repr, ensure_ascii=False) for side in self.pair)
        kind = "delta" if self.claim.delta and not self.claim.draws else "epsilon"
        return "\n".join(
            [
                self.verdict,
                Message(
                    "the largest {kind} is {largest}, between {first} and {second}",
                    kind=kind, largest=spell_loss(self.largest), first=first, second=second,
                ),
            ]
        )  # fmt: skip


def verdict_of(holds: bool, pairs: int) -> Message:
    """Return the outcome of an audit in one line."""
    if holds:
        return Message("no counterexample among {pairs:,} pairs, which is not a proof", pairs=pairs)
    return Message("a counterexample among {pairs:,} pairs: the claim is false", pairs=pairs)


def spell_loss(loss: ExtendedNumber) -> str:
    """Return a loss in ten digits."""
    return f"{float(loss):.10g}"


@error_boundary
def mechanism(  # noqa: PLR0913  # a mechanism, a universe, a claim, and how it is looked at
    function: Callable[[InventedRecords], object],
    universe: Iterable[object],
    sizes: Iterable[int],
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: Neighbors = "add_remove",
    draws: int | None = None,
    confidence: Number = "0.95",
    private: bool = False,
) -> MechanismAudit:
    """Audit your own mechanism on all pairs of neighbours over a small universe.

    With exact probabilities, every pair is decided exactly, as by `laws`. With draws, `samples` tries to refute
    every pair at its share of the risk, so all verdicts hold together with the confidence. Neither way is a proof,
    because it doesn't cover other records and larger datasets.

    Args:
        function: accepts a list of records, in the order of the universe. It returns the exact probabilities of its
            answers, as a dictionary, a list or an object with `probabilities()`. With `draws`, it returns a single
            answer.
        universe: the records that a dataset may contain, with repetition. Make them up.
        sizes: the allowed numbers of records in a dataset, such as range(4).
        epsilon: the claimed epsilon.
        delta: the claimed delta.
        neighbors: "add_remove" or "replace_one".
        draws: the number of answers to draw from a dataset, if you don't know the probabilities.
        confidence: the probability with which a counterexample by draws must be true.
        private: pass True if the records are about real people. Then the audit and its record are as private as the
            records.

    Raises:
        InvalidArgument: if an argument is invalid, or there are more than 20,000 pairs. `function` was not
            called. Or if it does not return a distribution.
    """
    claim = _read_claim(epsilon, delta, neighbors, draws, confidence)
    records = read_sequence(universe, "universe", _LARGEST_UNIVERSE)
    size_list = read_sequence(sizes, "sizes", _LARGEST_UNIVERSE)
    room = Neighborhood.of(records, size_list, claim.neighbors)
    pairs = _number_of_pairs(room, max(size_list))
    trial = _Audition(foreign_function(function, "function"), records, claim, pairs)
    worst, pair, holds = trial.run(room.everything())
    return MechanismAudit(
        claim,
        records,
        sorted(size_list),
        pairs,
        worst,
        pair,
        holds,
        read_program(function),
        private,
    )


def _number_of_pairs(room: Neighborhood, largest: int) -> int:
    """Return the number of pairs of neighbours.

    Raises:
        InvalidArgument: if they are too many, or a dataset is too large.
    """
    if largest > _LARGEST_UNIVERSE:
        raise InvalidArgument(
            f"a dataset has at most {_LARGEST_UNIVERSE:,} records here, and sizes go up to "
            f"{largest:,}"
        )
    pairs = room.pairs()
    if pairs > _MOST_NEIGHBORS:
        raise InvalidArgument(
            f"there are {pairs:,} pairs of neighbours, and at most {_MOST_NEIGHBORS:,} are looked "
            "at: give fewer records or smaller sizes"
        )
    return pairs


def _read_claim(
    epsilon: Number, delta: Number, neighbors: Neighbors, draws: int | None, confidence: Number
) -> AuditedClaim:
    """Return a claim, checked."""
    level = positive(confidence, "confidence")
    slack = exact(delta, "delta")
    for name, share, number in (("confidence", level, confidence), ("delta", slack, delta)):
        if not 0 <= share < 1:
            raise InvalidArgument(f"{name} must be from 0 to below 1, got {preview(number)}")
    size = 0 if draws is None else count(draws, "draws")
    if size == 1:
        raise InvalidArgument(
            "draws must be at least 2: one half of them chooses an event, the other tests it"
        )
    certainty = level if size else Fraction(1)
    return AuditedClaim(
        positive(epsilon, "epsilon"), slack, read_neighbors(neighbors), size, certainty
    )


class _Audition:
    """A mechanism under audit, with the answers on the datasets that were seen."""

    def __init__(
        self,
        ask: Callable[[InventedRecords], object],
        universe: InventedRecords,
        claim: AuditedClaim,
        pairs: int,
    ) -> None:
        self._ask, self._universe, self._claim, self._pairs = ask, universe, claim, pairs
        self._distributions: dict[DatabaseIndices, _Law] = {}

    def run(
        self, pairs: Iterator[Pair]
    ) -> tuple[ExtendedNumber, tuple[InventedRecords, InventedRecords], bool]:
        """Return the largest loss of all pairs, the smallest pair of that loss, and whether the claim holds."""
        judge = self._by_draws if self._claim.draws else self._exactly
        largest: ExtendedNumber = Fraction(-1)
        worst: Pair = ((), ())
        all_hold = True
        for pair in pairs:
            holds, loss = judge(pair)
            all_hold = all_hold and holds
            if loss > largest:
                largest, worst = loss, pair
        return largest, (self._dataset(worst[0]), self._dataset(worst[1])), all_hold

    def _dataset(self, indices: DatabaseIndices) -> InventedRecords:
        return [deepcopy(self._universe[i]) for i in indices]  # a mechanism may change a list

    def _exactly(self, pair: Pair) -> Verdict:
        first, second = map(self._distribution, pair)
        if isinstance(first, Mapping) and isinstance(second, Mapping):
            answers = dict.fromkeys([*first, *second])
            first, second = ([law.get(answer, 0) for answer in answers] for law in (first, second))
        elif isinstance(first, Mapping) or isinstance(second, Mapping):
            raise InvalidArgument(
                "function must return a dictionary for every dataset, or for none: answers by name and answers "
                "by place cannot be compared"
            )
        audit = laws(first, second, epsilon=self._claim.epsilon, delta=self._claim.delta)
        if self._claim.delta:
            return audit.holds, audit.hockey_stick(self._claim.epsilon).upper
        return audit.holds, audit.epsilon.upper

    def _distribution(self, indices: DatabaseIndices) -> _Law:
        if indices not in self._distributions:
            self._distributions[indices] = _read_law(self._ask(self._dataset(indices)))
        return self._distributions[indices]

    def _by_draws(self, pair: Pair) -> Verdict:
        """Judge a pair at its share of the risk, by answers of its own: no two pairs share any."""
        answers = [
            [_read_answer(self._ask(self._dataset(indices))) for _ in range(self._claim.draws)]
            for indices in pair
        ]
        risk = (1 - self._claim.confidence) / self._pairs
        audit = samples(*answers, confidence=1 - risk, delta=self._claim.delta)
        return not audit.refutes(self._claim.epsilon), audit.epsilon


def _read_law(law: object) -> _Law:
    """Return a distribution, or refuse it without quoting it."""
    is_list = isinstance(law, Sequence) and not isinstance(law, str | bytes)
    if isinstance(law, Mapping) and any(
        answer != answer for answer in law
    ):  # NaN: no two are one answer
        raise InvalidArgument(
            "an answer of function is NaN, which is not equal to itself: name it by a text"
        )
    if isinstance(law, Mapping) or is_list or hasattr(law, "probabilities"):
        return law
    raise InvalidArgument(
        "function must return the exact probabilities of its answers, as a dictionary. If it "
        "returns an answer, give the number of draws: draws=2000"
    )


def _read_answer(answer: object) -> Hashable:
    if not isinstance(answer, Hashable):
        raise UnreadableArgument(
            "function must return answers that can be counted, such as numbers"
        )
    return answer


def read_program(function: Callable[..., object]) -> AuditedProgram:
    """Return the file of a function, with its hash."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if isinstance(function, partial):
        return read_program(function.func)
    code = function if hasattr(function, "__code__") else type(function).__call__
    try:
        path = Path(getsourcefile(code) or "")
        return AuditedProgram(f"{path.name}:{name}", sha256(path.read_bytes()).hexdigest())
    except (OSError, TypeError):
        return AuditedProgram(name, "")
