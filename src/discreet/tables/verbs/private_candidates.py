"""private_candidates: the best of several private attempts, such as models trained with privacy."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from ...base.arguments import refuse_one_shot
from ...base.error_boundary import error_boundary
from ...base.numbers import Number, positive
from ...errors import InvalidArgument, InvalidScores, preview
from ...mechanisms.repetitions import RepetitionKind, Repetitions
from ...privacy.calibration import read_share
from ...privacy.contract import Guarantee, check_guarantee
from ...privacy.guarantees import PureDP
from ...privacy.sensitivity import Neighbors, read_neighbors, read_unit
from ...sampling.bits import SystemBits, below
from ...sampling.vectors import read_vector
from ...selection.candidates import Labels
from ...selection.payment import Account, Indices
from ...selection.question import Order, Query
from ...selection.released_values import read_result, store_result
from ...selection.releases import Release
from ...selection.scores.custom import replacing_errors
from ...selection.terms import read_payment
from ..datasets.calls import takes_dataset

_T = TypeVar("_T")

RunCandidate = Callable[[Any, Any, Any], tuple[Any, Any]]
"""Tries a candidate on the data at an epsilon or with a guarantee, and returns its score and its result."""


@dataclass(frozen=True, slots=True, repr=False)
class Attempt:
    """The outcome of one attempt. Private, but for the best."""

    index: int
    exact: Fraction
    score: object
    result: object


@error_boundary
@partial(takes_dataset, asks="anything")
def private_candidates(  # noqa: PLR0913  # what is tried, on what, how often, and who pays
    run: RunCandidate,
    data: object,
    candidates: Iterable[_T],
    *,
    epsilon: Number | None = None,
    attempt: Guarantee | None = None,
    delta: Number | None = None,
    repetitions: RepetitionKind = "logarithmic",
    gamma: Number = "0.01",
    neighbors: Neighbors = "add_remove",
    privacy_unit: str | Sequence[str] | None = None,
    ledger: Account | None = None,
    request: str | None = None,
) -> Release[tuple[_T, Any, Any]]:
    """Release the best of K private attempts with candidates picked at random. K is also random.

    Args:
        run: called as run(data, candidate, share), it returns a score, higher is better, and any result. You must
            ensure that, for any candidate, score and result together are share-DP, with new randomness at every
            call. A score computed directly from the private data breaks the guarantee, because it needs noise as
            well.
        data: the first argument of `run`, untouched. Private.
        candidates: the settings to try, such as those of a model, public.
        epsilon: the privacy parameter ε of the whole release, a positive number without a unit. It is read exactly,
            so 0.1 is one tenth. The share of an attempt is a half of it if logarithmic, and a third if geometric.
            Or pass `attempt`.
        attempt: instead of `epsilon`, the guarantee of one attempt, such as `ZCDP("0.01")` or `GaussianDP("1/5")`,
            which is then the `share` passed to `run`. The release promises the Rényi divergences that follow. For
            attempts that are ε-DP, it promises two or three times their ε.
        delta: with `attempt`, the δ at which the release is charged as (ε, δ)-DP, such as "1e-6", with the least ε
            that follows from its Rényi divergences. Without it the divergences are the guarantee.
        repetitions: the distribution of K: "logarithmic" (the default) costs less, "geometric" rarely stops early.
        gamma: between 0 and 1, "0.01" by default. Smaller values mean more attempts. At 0.01, there are on average
            21.5 if logarithmic and 100 if geometric.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default) or "replace_one".
        privacy_unit: the name of the column of the privacy unit, if an attempt is private for all rows of a unit.
            Without it a row is a record.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it, no budget is
            kept. It is charged before the first attempt.
        request: a name for this request in the ledger: if you repeat the request, you get the same candidate, score
            and result, without an attempt and without a charge. The ledger stores them, so they must be plain
            values: text, numbers, dates, lists and dicts of them. Needs `ledger`.

    Returns:
        (candidate, score, result) of the best attempt. Don't reveal anything about the others, including their
        number.

    Raises:
        InvalidArgument: if a public argument is invalid. `run` was not called.
        InvalidScores: if `run` fails, or its score is not a finite number. The message never quotes the data.

    Guarantee: epsilon-DP, if every attempt is share-DP. With `attempt`, the one that follows from that guarantee.

    Side channels: everything `run` does, including its time and whether it fails. The time also reveals roughly how
    large K was. Don't stop after a time limit, because that would break the guarantee.

    Source: Liu and Talwar, STOC 2019; Papernot and Steinke, ICLR 2022. Proof:
    docs/reference/mechanisms/private_candidates.md.
    """
    if not callable(run):
        raise InvalidArgument(
            f"run must be a function run(data, candidate, share), got {preview(run)}"
        )
    _check_arity(run)
    if isinstance(candidates, Mapping):
        raise InvalidArgument(
            "candidates are a list of settings, got a dict: give each combination as one candidate, "
            "such as its place in list(ParameterGrid(grid)) of scikit-learn"
        )
    refuse_one_shot(data, "the data")
    labels, tries = Labels(candidates), Repetitions(repetitions, gamma)
    price = _read_price(tries, epsilon, attempt, delta, read_neighbors(neighbors))
    account, name = read_payment({"ledger": ledger, "request": request})
    unit = read_unit(privacy_unit)
    query = _query(getattr(run, "__name__", "a function"), labels, tries, price.guarantee)
    details = partial(_details, labels, price)
    order = Order(query, price.guarantee, "private_candidates", details, account, name, unit=unit)
    trial = _Trial(run, data, labels, tries, price.share, is_stored=name is not None)
    return order.deliver(trial.prepare, trial.name)


def _check_arity(run: RunCandidate) -> None:
    """Raise unless the function takes three arguments, which its public signature says before it is called."""
    try:
        signature = inspect.signature(run)
    except (TypeError, ValueError):  # a function of C may have none
        return
    try:
        signature.bind(None, None, None)
    except TypeError:
        raise InvalidArgument(
            "run is called with three arguments by position, run(data, candidate, share), and yours takes "
            f"{', '.join(map(_spelled, signature.parameters.values())) or 'no arguments'}"
        ) from None


def _spelled(parameter: inspect.Parameter) -> str:
    """Return the name of a parameter, with = if it is by keyword only. A default is never shown."""
    return parameter.name + "=" * (parameter.kind is parameter.KEYWORD_ONLY)


class _AttemptPrice(NamedTuple):
    """The price of a release.

    Attributes:
        guarantee: the guarantee of the release.
        share: the most that an attempt may cost: an epsilon, or its guarantee.
        parameter: the privacy parameter in plain values, for a digest.
    """

    guarantee: Guarantee
    share: Fraction | Guarantee
    parameter: dict[str, object]


def _read_price(
    tries: Repetitions,
    epsilon: Number | None,
    attempt: Guarantee | None,
    delta: Number | None,
    neighbors: Neighbors,
) -> _AttemptPrice:
    """Return the price of a release.

    Raises:
        InvalidArgument: unless one of epsilon and attempt is given, which can be accepted.
    """
    if (epsilon is None) == (attempt is None):
        raise InvalidArgument(
            "give either epsilon, of the whole release, or the guarantee of one attempt"
        )
    if attempt is None:
        if delta is not None:
            raise InvalidArgument(
                "delta goes with attempt: with epsilon alone the release is epsilon-DP"
            )
        whole = PureDP(positive(epsilon, "epsilon"), neighbors)
        return _AttemptPrice(whole, whole.epsilon / tries.price, {"epsilon": whole.epsilon})
    if check_guarantee(attempt).neighbors != neighbors:
        raise InvalidArgument(
            f"the guarantee of an attempt must be under {neighbors}, as the release is, got "
            f"{preview(attempt)}"
        )
    together = tries.best_of(attempt)
    parameter: dict[str, object] = {"attempt": attempt.as_dict()}
    if delta is None:
        return _AttemptPrice(together, attempt, parameter)
    approx: Any = together.approx(read_share(delta))
    return _AttemptPrice(approx, attempt, {**parameter, "delta": approx.delta})


def _query(function: str, labels: Labels, tries: Repetitions, guarantee: Guarantee) -> Query:
    """Return the query, in words and in public values."""
    return Query(
        "private_candidates",
        {"function": function, **labels.facts},
        {
            "run": function,
            "repetitions": tries.kind,
            "gamma": tries.gamma,
            "neighbors": guarantee.neighbors,
        },
    )


def _details(labels: Labels, price: _AttemptPrice) -> dict[str, object]:
    """Return the rest of the description that decides the distribution, for a digest."""
    return {"candidates": labels.description, "privacy_parameter": price.parameter}


@dataclass(slots=True, repr=False)
class _Trial:
    """The attempts of one release. Private, but for the best.

    Attributes:
        run: tries one candidate.
        data: the private data.
        labels: the candidates.
        tries: the distribution of the number of attempts.
        share: the epsilon of an attempt, or its guarantee.
        is_stored: whether the best is stored in a ledger, with its score and its result.
        best: the best attempt, once it has been drawn.
    """

    run: RunCandidate
    data: object
    labels: Labels
    tries: Repetitions
    share: Fraction | Guarantee
    is_stored: bool = False
    best: Attempt | None = None

    def prepare(self) -> Callable[[], Indices]:
        """Return the function that draws: there are no scores to compute before payment."""
        return self.draw

    def draw(self) -> Indices:
        """Return the index of the best of K candidates, drawn uniformly and with replacement.

        Where it is stored, its score and its result follow.
        """
        bits = SystemBits()
        indices = (below(self.labels.size, bits) for _ in range(self.tries.draw(bits)))
        # The first of equal scores is any of them, as all tries have the same law.
        self.best = max(map(self._attempt, indices), key=attrgetter("exact"))
        if not self.is_stored:
            return self.best.index
        return [self.best.index, *map(store_result, (self.best.score, self.best.result))]

    def name(self, answer: Any) -> tuple[object, object, object]:
        """Return the candidate with its score and its result."""
        if self.is_stored:  # now, or for the same request before
            index, score, result = answer
            return self.labels[index], read_result(score), read_result(result)
        assert self.best is not None
        return self.labels[answer], self.best.score, self.best.result

    def _attempt(self, index: int) -> Attempt:
        return _attempt(self.run, self.data, self.labels[index], self.share, index)


def _attempt(
    run: RunCandidate, data: object, candidate: object, share: Fraction | Guarantee, index: int
) -> Attempt:
    """Try a candidate, and check its score."""

    def call() -> tuple[object, ...]:
        returned: object = run(data, candidate, share)
        return tuple(returned) if isinstance(returned, tuple | list) else ()

    def check() -> Fraction:
        scores = read_vector([score])
        scores.best()  # refuses what is not finite
        return scores.exact(0)

    pair = replacing_errors(call, who="run")
    if len(pair) != 2:
        raise InvalidScores("run must return two values, as in `return score, result`")
    score, result = pair
    exact = replacing_errors(check, passing=(InvalidScores,), who="run")
    return Attempt(index, exact, score, result)
