"""Scores from a function of the user's, with the sensitivity that its author declares."""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...base.error_boundary import replacing
from ...base.numbers import Number, exact, positive, positive_up
from ...errors import InvalidArgument, InvalidNumber, InvalidScores, preview
from ...privacy.sensitivity import Neighbors, Sensitivity, read_sensitivity
from ...sampling.vectors import Vector, objects, read_vector
from .contract import BaseScore

_T = TypeVar("_T")
CandidateList = Sequence[object] | NDArray[Any]
ScoreFunction = Callable[[Any, Any], object]
"""u(data, candidates): one score for each candidate, in their order; higher is better."""
_ONE_SCORE = (int, float, Fraction, Decimal, np.number)


@dataclass(frozen=True, slots=True, repr=False)
class Custom(BaseScore):
    """The numbers u(data, candidates), exactly; a float means its binary value.

    The sensitivity is declared for the ideal scores, without rounding errors. If `u` returns floats, one
    of `error` and `granularity` says how far they are from ideal. For proofs, see
    docs/reference/scores/your_own.md#custom.

    Args:
        u: the function; called once, when everything public has been checked.
        data: the first argument of the function. Private.
        candidates: the second argument of the function.
        change: the most one score can change between neighbours ("sensitivity").
        spread: the most a difference of two scores can change; instead of `change`.
        monotonic: whether all scores move the same way whenever one record comes or goes.
        error: how far a returned score may be from the ideal one; the spread grows by four times that.
        granularity: the ideal scores are multiples of it, and the returned ones are nearer than half of
            it. They are rounded to multiples, which are the ideal scores: nothing is added.
    """

    u: ScoreFunction
    data: object
    candidates: CandidateList
    change: Number | None = None
    spread: Number | None = None
    monotonic: bool = False
    error: Number | None = None
    granularity: Number | None = None
    name: ClassVar[str] = "custom"
    public_fields: ClassVar[tuple[str, ...]] = ("change", "spread", "monotonic")
    counts_rows: ClassVar[bool] = False

    @property
    def parameters(self) -> dict[str, object]:
        """How far scores are from ideal."""
        return {"error": _bound(self.error), "granularity": _exactly(self.granularity)}

    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return the declared sensitivity; with an error above zero, a spread larger by 4 * error.

        Raises:
            InvalidArgument: if a declaration cannot be accepted.
        """
        if not callable(self.u):
            raise InvalidArgument(
                f"u must be a function u(data, candidates), got {preview(self.u)}"
            )
        ideal = read_sensitivity(self.change, self.spread, self.monotonic, neighbors)
        if self.error is not None and self.granularity is not None:
            raise InvalidArgument("give error or granularity, not both")
        if self.granularity is not None:
            positive(self.granularity, "granularity")
        error = _bound(self.error)
        if error == 0:
            return ideal
        return Sensitivity(ideal.spread + 4 * error, ideal.neighbors)

    def compute(self, cutoff_gap: Fraction) -> Vector:
        """Return the scores. Private.

        Raises:
            InvalidScores: if the function failed, or did not return a finite number per candidate,
                or returned floats and nothing says how far they are from ideal. It never quotes data.
        """
        output = replacing_errors(self._call)
        if issubclass(type(output), _ONE_SCORE):
            raise InvalidScores(
                "u is called as u(data, candidates), and must return one score for each candidate, got a "
                "single number. If u scores one candidate, pass discreet.per_candidate(u)"
            )
        scores = replacing_errors(partial(read_vector, output), (InvalidScores,))
        if len(scores) != len(self.candidates):
            raise InvalidScores(
                f"u must return one score for each of the {len(self.candidates)} candidates"
            )
        if self.granularity is not None:
            return _round_scores(scores, positive(self.granularity, "granularity"))
        if self.error is None and replacing_errors(partial(_holds_floats, output)):
            raise InvalidScores(
                "u returns floats, and the sensitivity must cover their rounding errors. Declare "
                "error= (how far a score may be from the ideal one, 0 if never) or granularity= "
                "(the ideal scores are multiples of it). Or return integers or Fractions"
            )
        return scores

    def _call(self) -> object:
        output = self.u(self.data, self.candidates)
        ready = hasattr(output, "__array__") or isinstance(output, Set)
        if ready or not isinstance(output, Iterable):
            return output
        return list(islice(output, len(self.candidates) + 1))  # one more is too many already


def per_candidate(u: Callable[[Any, Any], object]) -> ScoreFunction:
    """Return a score function that calls u(data, candidate) for every candidate.

    Args:
        u: the utility function of a single candidate. It is called as u(data, candidate) and returns one score.
    """

    def scores(data: Any, candidates: Iterable[object]) -> list[object]:
        return [u(data, candidate) for candidate in candidates]

    return scores


def _exactly(granularity: object) -> Fraction | None:
    return None if granularity is None else positive(granularity, "granularity")


def _bound(error: object) -> Fraction:
    """Return the declared error, rounded upwards; zero if there is none."""
    if error is None or exact(error, "error") == 0:
        return Fraction(0)
    if exact(error, "error") < 0:
        raise InvalidNumber(f"error must not be below zero, got {preview(error)}")
    return positive_up(error, "error")


def _holds_floats(output: object) -> bool:
    """Return whether there is a float among the scores, by their types."""
    if hasattr(output, "__array__"):
        output = np.asarray(output)
        if output.dtype.kind != "O":
            return bool(output.dtype.kind == "f")
    scores = output if isinstance(output, Iterable) else ()
    return any(isinstance(score, float | np.floating) for score in scores)


def _round_scores(scores: Vector, granularity: Fraction) -> Vector:
    """Return the scores, rounded to the nearest multiples of the granularity."""
    scores.best()  # refuses what is not finite
    steps = [round(scores.exact(i) / granularity) for i in range(len(scores))]
    # They may have more digits than a score may have: a refusal now would depend on the scores.
    return Vector(objects([step * granularity for step in steps]))


def replacing_errors(
    work: Callable[[], _T],
    passing: tuple[type[BaseException], ...] = (),
    who: str = "the score function",
) -> _T:
    """Return the result of `work`; an error in it, which may quote the data, is replaced by one with its class."""
    return replacing(work, partial(_failure, who), passing)


def _failure(who: str, error: BaseException) -> InvalidScores:
    return InvalidScores(
        f"{who} failed with {type(error).__name__}. Its message may quote the data, so it is not "
        "shown. Call the function yourself on data you may look at"
    )
