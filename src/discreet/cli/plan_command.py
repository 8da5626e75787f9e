"""discreet plan and discreet compare: the error of an answer, or the epsilon for one, before anything is paid."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from rich.console import Console
from rich.table import Table

from ..base.numbers import Number, count, positive, rounded_up, spell
from ..errors import InvalidArgument
from ..mechanisms import BOUNDED, MECHANISMS
from ..mechanisms.contract import PrivacyParameter
from ..mechanisms.noisy_counts import moved_counts
from ..privacy.sensitivity import Neighbors, read_neighbors, sensitivity_of
from ..study import plots
from ..study.planning.compare import Comparison, compare
from ..study.planning.key_plan import KeyPlan, plan_keys
from ..study.planning.worst_errors import epsilon_for, worst_error
from ..tables import engines as tables
from ..tables.verbs.list_methods import CountsOffer, MethodChoice, PublicNumbers, choose_method
from ..tables.verbs.noisy_numbers import read_price
from .completion import columns_of_file, one_of
from .count_command import MinimumCountOption
from .inputs import table_file
from .json_output import print_either, print_json
from .options import (
    AsJson,
    ColumnArgument,
    DataArgument,
    FormatName,
    MaxGroups,
    NeighborsName,
    PlotTo,
    check_picture,
    option,
    switch,
)

if TYPE_CHECKING:
    from ..study.plots.figure import Figure


_SHARES = [Fraction(k, 10) for k in (1, 2, 5, 10, 20, 50, 100)]


CandidateCountOption = Annotated[int | None, option("NUMBER", "The number of candidates.")]
ScoresFileOption = Annotated[
    str | None, option("FILE", "Instead: a table of public scores, or - for standard input.")
]
ScoresColumnOption = Annotated[
    str | None, option("COLUMN", "The column of scores in that table.", completes=columns_of_file)
]
LargestChangeOption = Annotated[str, option("NUMBER", "The largest change of a score difference.")]
AnswerEpsilonOption = Annotated[
    str | None, option("NUMBER", "The epsilon of an answer. Shows the error.", "--epsilon", "-e")
]
TargetErrorOption = Annotated[str | None, option("NUMBER", "The target error. Shows the epsilon.")]
ConfidenceOption = Annotated[
    str | None, option("NUMBER", "The probability that the error stays below, such as 0.95.")
]

PlanDeltaOption = Annotated[
    str | None,
    option("NUMBER", "The delta of unlisted keys. With --candidates: of their counts."),
]


WithCountsOption = Annotated[
    bool,
    switch("--with-counts", "With --delta: the probabilities for count, which shows counts too."),
]


ListLengthOption = Annotated[
    int | None,
    option(
        "NUMBER",
        "The length of a list of the most common candidates. Shows the method for it.",
        "--k",
        "-k",
    ),
]
CandidatesOfOneOption = Annotated[
    int, option("NUMBER", "With --k or --delta: the most candidates that one record counts for.")
]


_DELTA_ALONE = "--delta goes with --epsilon, without scores and an error"


def plan_command(
    candidates: CandidateCountOption = None,
    scores: ScoresFileOption = None,
    column: ScoresColumnOption = None,
    spread: LargestChangeOption = "1",
    epsilon: AnswerEpsilonOption = None,
    error: TargetErrorOption = None,
    confidence: ConfidenceOption = None,
    k: ListLengthOption = None,
    max_candidates: CandidatesOfOneOption = 1,
    delta: PlanDeltaOption = None,
    max_groups: MaxGroups = None,
    minimum_count: MinimumCountOption = 1,
    with_counts: WithCountsOption = False,
    neighbors: NeighborsName = "add_remove",
    plot: PlotTo = None,
    as_json: AsJson = False,
) -> None:
    """Show the error of an answer, or the epsilon it needs.

    Nothing is charged. With --candidates you need no data, because the bound holds for the worst scores. The
    error is the difference between the best score and the score of the answer. It is shown as its expectation, or
    as its quantile at --confidence. Numbers are rounded up to two digits. Use --json to see more.

    With --delta: show how likely an unlisted key is released, by its number of records. With --candidates too: show
    which noise their counts have.

    Example: discreet plan --candidates 1000 --error 5 --confidence 0.95
    """
    check_picture(plot)
    if delta is not None and candidates is None:
        limits: Any = {"max_groups": max_groups or 1, "minimum_count": minimum_count}
        limits |= {"neighbors": neighbors, "with_counts": with_counts}
        plan = plan_keys(_epsilon_of_keys(epsilon, scores, error), delta, **limits)
        return _print_plan(plan, plot, as_json=as_json)
    _check_plan(candidates, scores, epsilon, error, confidence)
    if (k, delta) != (None, None):
        counts = _CountTerms(candidates, epsilon, delta, max_candidates, neighbors)
        return _show_counts(counts, k, as_json=as_json)
    if scores is None:
        assert candidates is not None
        by_mechanism, picture = _worst(candidates, spread, epsilon, error, confidence)
    else:
        with table_file(scores) as path:
            by_mechanism, picture = _on_scores(tables.numbers(path, column), spread, epsilon, error)
    if plot is not None:
        picture().savefig(plot)
    what = "expected error" if confidence is None else f"error, confidence {confidence}"
    return _show(by_mechanism, "ε" if epsilon is None else what, as_json=as_json)


def _epsilon_of_keys(epsilon: str | None, scores: str | None, error: str | None) -> str:
    """Return the epsilon of unlisted keys. Raise if it is not given, or something else is."""
    if epsilon is None or (scores, error) != (None, None):
        raise InvalidArgument(_DELTA_ALONE)
    return epsilon


class _CountTerms(NamedTuple):
    """The terms of counts of listed candidates.

    Attributes:
        candidates: The number of candidates.
        epsilon: the epsilon of all counts together.
        delta: the delta of all counts together, or None.
        most: the most candidates that one record counts for.
        relation: the neighbouring relation.
    """

    candidates: int | None
    epsilon: str | None
    delta: str | None
    most: int
    relation: str

    @property
    def neighbors(self) -> Neighbors:
        """The neighbouring relation, read."""
        return read_neighbors(self.relation)

    @property
    def size(self) -> int:
        """The number of candidates."""
        if self.candidates is None or self.epsilon is None:
            raise InvalidArgument("--k and --delta go with --candidates and --epsilon")
        return count(self.candidates, "--candidates")

    @property
    def each(self) -> int:
        """The most candidates that one record counts for."""
        return count(self.most, "--max-candidates", most=self.size)

    @property
    def offer(self) -> CountsOffer:
        """The noisy counts."""
        moved = moved_counts(self.size, self.each, self.neighbors)
        parameter = PrivacyParameter("epsilon", positive(self.epsilon, "epsilon"))
        price = read_price(parameter, {}, self.neighbors, self.delta)
        return CountsOffer(moved, self.size, price)

    def method(self, k: int) -> MethodChoice:
        """Return the method that `top_k` takes for a list of k."""
        one = sensitivity_of(1, self.neighbors, monotonic=self.neighbors == "add_remove")
        length, price = count(k, "--k", most=self.size), self.offer.price
        public = PublicNumbers(
            self.size, length, self.offer, one, price.parameter, self.each == 1, None, price.delta
        )
        return choose_method(public)


def _show_counts(terms: _CountTerms, k: int | None, *, as_json: bool) -> None:
    """Print the noise of counts, and for a list of k the method that `top_k` takes, and why."""
    offer, plain, words = terms.offer, dict[str, Any](), list[str]()
    if k is not None:
        best = terms.method(k)
        plain |= {"method": best.method, "errors": dict(best.errors), "reason": best.reason}
        words.append(best.reason)
    noise = offer.price.noise(offer.sensitivity, offer.numbers)
    choice = offer.price.choice(noise) if plain.get("method", "counts") == "counts" else None
    if choice is not None:
        plain["noise"] = choice.as_dict()
        words.append(str(choice))
    print_either(plain, "\n".join(words), as_json=as_json)


def _print_plan(plan: KeyPlan, plot: Path | None, *, as_json: bool) -> None:
    """Print the probabilities of keys, and draw them."""
    if plot is not None:
        plan.plot().savefig(plot)
    print_either(plan.as_dict(), plan, as_json=as_json)


def _check_plan(
    candidates: int | None,
    scores: str | None,
    epsilon: str | None,
    error: str | None,
    confidence: str | None,
) -> None:
    """Raise unless one of candidates and scores is given, and one of epsilon and error."""
    if (candidates is None) == (scores is None):
        raise InvalidArgument("give either --candidates, for the worst case, or --scores FILE")
    if (epsilon is None) == (error is None):
        raise InvalidArgument(
            "give either --epsilon, to learn the error, or --error, to learn epsilon"
        )
    if scores is not None and confidence is not None:
        raise InvalidArgument(
            "--confidence goes with --candidates. With --scores you get the expected error"
        )


def _worst(
    candidates: int, spread: str, epsilon: str | None, error: str | None, confidence: str | None
) -> tuple[dict[str, Fraction], Callable[[], "Figure"]]:
    """Return error or epsilon by mechanism on the worst scores, and a function that plots it."""

    def at(mechanism: str, epsilon: Number) -> Fraction:
        return worst_error(
            candidates, spread=spread, epsilon=epsilon, mechanism=mechanism, confidence=confidence
        )

    def needs(mechanism: str) -> Fraction:
        assert error is not None
        return epsilon_for(
            error, candidates, spread=spread, mechanism=mechanism, confidence=confidence
        )

    by_mechanism = {m: needs(m) if epsilon is None else at(m, epsilon) for m in BOUNDED}

    def picture() -> "Figure":
        middle = max(by_mechanism.values()) if epsilon is None else positive(epsilon, "epsilon")
        epsilons = [middle * share for share in _SHARES]
        lines = {m: [float(at(m, epsilon)) for epsilon in epsilons] for m in BOUNDED}
        what = "expected error" if confidence is None else f"error, confidence {confidence}"
        return plots.curve(
            {m: ([*map(float, epsilons)], line) for m, line in lines.items()}, what=f"worst {what}"
        )

    return by_mechanism, picture


def _on_scores(
    scores: object, spread: str, epsilon: str | None, error: str | None
) -> tuple[dict[str, Fraction], Callable[[], "Figure"]]:
    """Return error or epsilon by mechanism on these scores, and a function that plots it."""

    def on(epsilons: list[Fraction]) -> Comparison:
        return compare(scores, spread=spread, epsilons=epsilons, mechanisms=BOUNDED)

    at = [Fraction(1)] if epsilon is None else [positive(epsilon, "epsilon")]
    if epsilon is None:
        assert error is not None
        by_mechanism = on(at).epsilon_for(error)
        at = [max(by_mechanism.values())]
    else:
        by_mechanism = {m: e.upper for m, e in zip(BOUNDED, on(at).errors[0], strict=True)}

    def picture() -> "Figure":
        return on([at[0] * share for share in _SHARES]).plot()

    return by_mechanism, picture


def _show(by_mechanism: dict[str, Fraction], what: str, *, as_json: bool) -> None:
    """Print the number of every mechanism, rounded up: to two digits, in JSON to twelve."""
    if as_json:
        name = "epsilon" if what == "ε" else "error"
        print_json(
            {m: {name: spell(number).removeprefix("≤ ")} for m, number in by_mechanism.items()}
        )
        return
    table = Table("mechanism", what, box=None, padding=(0, 3, 0, 0))
    for mechanism, number in by_mechanism.items():
        table.add_row(mechanism, rounded_up(number, 2))
    Console(highlight=False).print(table)


def compare_command(
    data: DataArgument,
    column: ColumnArgument,
    epsilons: Annotated[str, option("A,B,C", "The epsilons of an answer.")] = "0.1,0.2,0.5,1,2,5",
    mechanisms: Annotated[
        str, option("A,B,C", f"Some of {', '.join(MECHANISMS)}.", completes=one_of(*MECHANISMS))
    ] = ",".join(BOUNDED),
    spread: LargestChangeOption = "1",
    form: FormatName = None,
    plot: PlotTo = None,
    as_json: AsJson = False,
) -> None:
    """Compare the errors of mechanisms on public scores.

    The column has one score per candidate, from last year or made up. The output is as private as the scores.

    Example: discreet compare votes.csv votes --epsilons 0.1,1
    """
    check_picture(plot)
    with table_file(data, form) as path:
        scores = tables.numbers(path, column)
    comparison = compare(
        scores, spread=spread, epsilons=_comma_parts(epsilons), mechanisms=_comma_parts(mechanisms)
    )
    if plot is not None:
        comparison.plot().savefig(plot)
    print_either(comparison.as_dict(), comparison, as_json=as_json)


def _comma_parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]
