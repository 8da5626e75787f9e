"""The law of an answer: every number of it against the same law written out, one candidate at a time."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

import discreet
from discreet import Grid
from discreet.errors import DiscreetError, InvalidArgument, InvalidNumber
from discreet.sampling.enclosures import ball, lower, precision, upper
from discreet.study.planning.distribution import Distribution, _surprise
from discreet.study.planning.enclosure import Enclosure
from discreet.study.planning.support import WeightedRun

AGES = [3, 4, 4, 7, 9, 9, 9, 12]
BIDS = [1, 1, 1, 3]
GRID = Grid(0, 14, "1/2")
PRICES = Grid(0, "3.5", "0.1")
NARROW = Fraction(1, 2**50)


def median_scores() -> list[Fraction]:
    points = [Fraction(i, 2) for i in range(29)]
    n = len(AGES)
    return [
        Fraction(min(n - 2 * sum(a < c for a in AGES), 2 * sum(a <= c for a in AGES) - n))
        for c in points
    ]


def revenues() -> list[Fraction]:
    return [Fraction(i, 10) * sum(b * 10 >= i for b in BIDS) for i in range(36)]


def distances() -> list[Fraction]:
    return [-abs(Fraction(5) - Fraction(i, 2)) for i in range(29)]


ON_A_GRID: dict[str, tuple[Callable[..., Distribution], Callable[[], list[Fraction]], int, Grid]] = {
    "median": (
        lambda **t: discreet.distribution(discreet.median, AGES, candidates=GRID, **t), median_scores, 2, GRID,
    ),
    "price": (
        lambda **t: discreet.distribution(discreet.best_price, BIDS, candidates=PRICES, **t), revenues, 0, PRICES,
    ),
    "laplace": (
        lambda **t: discreet.distribution(
            discreet.laplace, 5, sensitivity=1, step="1/2", lo=0, hi=14, **t
        ), distances, 2, GRID,
    ),
}  # fmt: skip


def pairs() -> list[Any]:
    """Return each grid law beside the same law over a list, for each mechanism that serves both."""
    found = []
    for name, (on_a_grid, scores, spread, grid) in ON_A_GRID.items():
        mechanisms = ["exponential", "permute_and_flip"] if name == "median" else ["exponential"]
        for mechanism in mechanisms:
            for epsilon in ("1/10", 2):
                terms: dict[str, Any] = {"epsilon": epsilon, "mechanism": mechanism}
                listed = dict(zip((grid[i] for i in range(grid.size)), scores(), strict=True))
                law = discreet.distribution(listed, spread=spread or Fraction("3.5"), **terms)
                found.append(
                    pytest.param(on_a_grid(**terms), law, id=f"{name}-{mechanism}-{epsilon}")
                )
    return found


def agree(a: Enclosure, b: Enclosure) -> bool:
    """Return whether two narrow enclosures can be of one number."""
    assert 0 <= a.upper - a.lower < NARROW
    assert 0 <= b.upper - b.lower < NARROW
    return a.lower <= b.upper and b.lower <= a.upper


@pytest.mark.parametrize(("law", "listed"), pairs())
def test_a_law_in_runs_is_the_law_written_out(law: Distribution, listed: Distribution) -> None:
    assert len(law.runs) < len(listed.runs)
    points = list(listed.candidates)
    assert list(law.pmf()) == points
    for point in points:
        assert agree(law.probability(point), listed.probability(point))
        assert agree(law.cdf(point), listed.cdf(point))
        assert agree(law.cdf(point + type(point)(1) / 32), listed.cdf(point))
    for error in [*range(9), Fraction(1, 2), Fraction(1, 3)]:
        assert agree(law.tail(error), listed.tail(error))
    for of in (
        Distribution.expected_error,
        Distribution.expected_score,
        Distribution.expected_value,
        Distribution.entropy,
    ):
        assert agree(of(law), of(listed))
    for p in ("1/1000", "1/10", "1/2", "2/3", "999/1000"):
        assert law.quantile(p) == listed.quantile(p)


@pytest.mark.parametrize(("law", "listed"), pairs())
def test_the_top_is_likeliest_first(law: Distribution, listed: Distribution) -> None:
    top = law.top(12)
    assert [float(p) for _, p in top] == sorted(map(float, listed.pmf().values()), reverse=True)[
        :12
    ]
    for candidate, probability in top:
        assert agree(probability, listed.probability(candidate))


LAWS: list[Callable[..., Distribution]] = [
    *(law for law, *_ in ON_A_GRID.values()),
    lambda **t: discreet.distribution([0, 1, 2, 3, 4], spread=3, **t),
    lambda **t: discreet.distribution(discreet.geometric, 7, sensitivity=3, **t),
    lambda **t: discreet.distribution(discreet.median, AGES, candidates=Grid(0, 10**18), **t),
    lambda **t: discreet.distribution(
        discreet.best_price, BIDS, candidates=Grid(0, 3, "1/1000000000000"), **t
    ),
]
UNITS = [Fraction(1, 2), Fraction(2, 7), Fraction(1, 2), Fraction(1, 3), Fraction(1, 3),
         Fraction(1, 2), Fraction(1, 3)]  # fmt: skip


@pytest.mark.parametrize(("of", "unit"), list(zip(LAWS, UNITS, strict=True)))
@pytest.mark.parametrize("epsilon", [Fraction(1, 50), Fraction(1), Fraction(20)])
def test_error_and_entropy_say_the_same(
    of: Callable[..., Distribution], unit: Fraction, epsilon: Fraction
) -> None:
    """The product eta * E[error] is entropy - ln Z, where 1 / Z is the probability of a best candidate."""
    law = of(epsilon=epsilon)
    error, entropy = law.expected_error(), law.entropy()
    (_, best), *_ = law.top(1)
    with precision(200):
        log_z = -(ball(best.lower).union(ball(best.upper))).log()
    eta = epsilon * unit
    assert eta * error.lower <= entropy.upper - lower(log_z)
    assert entropy.lower - upper(log_z) <= eta * error.upper
    assert eta * (error.upper - error.lower) + entropy.upper - entropy.lower < NARROW


@pytest.mark.parametrize(
    ("epsilon", "revenue"), [("0.01", "1.724381942"), (1, "1.87136847"), (5, "2.392558754")]
)
def test_the_revenue_of_the_seeds_continuous_price(epsilon: Any, revenue: str) -> None:
    """Numbers of peers.md; the seed spends twice what it has to."""
    bids, prices = [1, 1, 1, Fraction("3.01")], Grid(0, "3.5", "0.01")
    half = Fraction(epsilon) / 2
    law = discreet.distribution(
        discreet.best_price, bids, candidates=prices, continuous=True, epsilon=half
    )
    assert abs(float(law.expected_score()) - float(revenue)) < 1e-8
    assert abs(float(law.expected_error()) - (4 - float(revenue))) < 1e-8
    assert law.runs[0].last == Fraction(
        "0.99"
    )  # the prices from 0 to 1 are released as at most 0.99
    if epsilon == 1:
        golden = (".2981146993", ".5935917584", ".1082935423")
        assert all(
            abs(float(r.mass) - float(g)) < 1e-10 for r, g in zip(law.runs, golden, strict=True)
        )
        assert agree(law.cdf("0.99"), law.runs[0].mass)
        assert float(law.tail(0)) == 1
        assert agree(law.tail(4), law.runs[2].mass)


def test_the_tail_of_a_continuous_price_is_an_integral() -> None:
    """One bid of 1, prices from 0 to 1: density eta * e**(eta r) / (e**eta - 1); behind by 1/3 is below 2/3."""
    grid = Grid(0, 1, "1/2")
    law = discreet.distribution(
        discreet.best_price, [1], candidates=grid, continuous=True, epsilon=1
    )
    expected = math.expm1(2 / 3) / math.expm1(1)
    assert abs(float(law.tail("1/3")) - expected) < 1e-14
    assert abs(float(law.expected_score()) - (1 / -math.expm1(-1) - 1)) < 1e-14
    assert abs(float(law.probability("0.5")) - (math.e - math.exp(0.5)) / math.expm1(1)) < 1e-14
    assert float(law.probability("0.25")) == 0


def test_small_vectors_of_other_libraries() -> None:
    """Numbers of peers.md, section 3."""
    law = discreet.distribution([0, 1, 2, 3, 4], sensitivity=1, epsilon=1)
    assert abs(float(law.expected_error()) - 1.0943666) < 1e-7
    flips = discreet.distribution(
        [0, 1, 2, 3, 4], sensitivity=1, epsilon=1, mechanism="permute_and_flip"
    )
    assert abs(float(flips.expected_error()) - 0.9125782) < 1e-7


def test_laplace_without_end() -> None:
    law = discreet.distribution(discreet.geometric, 3, sensitivity=1, epsilon=1)
    a = math.exp(-1)
    assert (
        repr(law)
        == "Distribution(over endlessly many candidates in 2 runs; private, do not publish)"
    )
    assert law.size is None
    assert [(run.first, run.last, run.size) for run in law.runs] == [
        (None, 2, None),
        (3, None, None),
    ]
    for k in (0, 1, -1, 5, -5, 40):
        assert abs(float(law.probability(3 + k)) / ((1 - a) / (1 + a) * a ** abs(k)) - 1) < 1e-14
    assert abs(float(law.cdf(2)) - a / (1 + a)) < 1e-15
    assert float(law.expected_value()) == 3
    assert abs(float(law.expected_error()) - 2 * a / (1 - a * a)) < 1e-14
    assert law.quantile("1/2") == 3
    for p in ("1e-30", "0.001", "0.2", "0.9", "0.999999999999"):
        answer, share = law.quantile(p), Fraction(p)
        assert law.cdf(answer - 1).upper < share <= law.cdf(answer).upper
    assert law.top(1)[0][0] == 3
    assert {c for c, _ in law.top(5)} == {1, 2, 3, 4, 5}
    with pytest.raises(InvalidArgument, match="not listed"):
        law.pmf()


def test_text_has_no_order() -> None:
    law = discreet.distribution({"b": 1, "a": 0, "10": 2}, sensitivity=1, epsilon=1)
    assert list(law.pmf()) == ["b", "a", "10"]
    assert [c for c, _ in law.top(9)] == ["10", "b", "a"]
    assert float(law.probability("d")) == 0
    for ask in (lambda: law.cdf(1), lambda: law.quantile("1/2"), law.expected_value):
        with pytest.raises(InvalidArgument, match="not all numbers"):
            ask()


def test_a_list_of_numbers_goes_by_value() -> None:
    law = discreet.distribution({30: 0, 10: 0, 20: 0}, sensitivity=1, epsilon=1)
    assert list(law.pmf()) == [30, 10, 20]
    assert abs(float(law.cdf(15)) - 1 / 3) < 1e-15
    assert law.quantile("1/2") == 20
    assert law.quantile("2/3") == 20  # its bounds hold 2/3, which counts as equal
    assert law.quantile("0.67") == 30
    assert abs(float(law.expected_value()) - 20) < 1e-14
    with pytest.raises(InvalidNumber, match="p must be above 0"):
        law.quantile(1)


VERBS: list[tuple[Any, ...]] = [
    (discreet.select, [1, 2], {"sensitivity": 1}),
    (
        discreet.select_by,
        discreet.per_candidate(lambda x, c: x.count(c)),
        "abba",
        ["a", "b"],
        {"sensitivity": 1},
    ),
    (discreet.select_generalized, [1, 2], [1, 3], {}),
    (
        discreet.mode,
        "examples/marital_status.csv",
        "marital_status",
        {"candidates": ["Divorced", "Widowed"]},
    ),
    (discreet.median, AGES, {"candidates": [1, 5, 9]}),
    (discreet.quantile, {3: 4, 9: 1}, {"alpha": "0.2", "candidates": GRID}),
    (discreet.minimum, AGES, {"candidates": GRID}),
    (discreet.maximum, AGES, {"candidates": GRID}),
    (discreet.laplace, 3, {"sensitivity": 1, "step": "0.1"}),
    (discreet.randomized_response, "no", ["yes", "no"], {}),
]


@pytest.mark.parametrize("call", VERBS, ids=lambda call: call[0].__name__)
def test_every_verb_of_one_answer_has_a_law_and_draws(
    call: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path

    monkeypatch.chdir(Path(__file__).parents[3])
    verb, *arguments, named = call
    law = discreet.distribution(verb, *arguments, epsilon=1, **named)
    if law.size is not None:
        assert abs(sum(law.pmf().values()) - 1) < 1e-12
    drawn = discreet.simulate(verb, *arguments, epsilon=1, size=20, **named)
    assert len(drawn.values) == 20
    assert all(law.probability(value).lower > 0 for value in drawn.values)
    release = verb(*arguments, epsilon=1, **named)  # what was overheard is not heard for ever
    assert law.probability(release.value).lower > 0
    assert law.mechanism == release.mechanism
    assert law.guarantee == release.guarantee


def test_candidates_from_the_data_have_a_law_too() -> None:
    from pathlib import Path

    file = Path(__file__).parents[3] / "examples" / "marital_status.csv"
    law = discreet.distribution(
        discreet.mode, file, "marital_status", unsafe_candidates_from_data=True, epsilon="1/1000"
    )
    assert law.size == 7


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: discreet.distribution(
                discreet.select_top_k, range(99), k=3, sensitivity=1, epsilon=1
            ),
            "941,094 lists of 3 of 99 candidates",
        ),
        (
            lambda: discreet.distribution(discreet.select_rows, [[1, 2]], spread=1, epsilon=1),
            "select_rows gives several",
        ),
        (
            lambda: discreet.distribution(
                discreet.quantiles, AGES, alphas=["0.5"], candidates=GRID, epsilon=1, method="joint"
            ),
            "quantiles gives several",
        ),
        (lambda: discreet.distribution(lambda **_: None, epsilon=1), "is not a verb"),
        (
            lambda: discreet.distribution(discreet.median, AGES, candidates=GRID, epsilon=0),
            "epsilon must be greater",
        ),
        (
            lambda: discreet.distribution(
                discreet.best_price, BIDS, candidates=GRID, epsilon=1, mechanism="noisy_max"
            ),
            "in a list",
        ),
    ],
)
def test_what_has_no_law_is_refused(ask: Callable[[], Any], message: str) -> None:
    with pytest.raises(DiscreetError, match=message):
        ask()


def test_nothing_is_drawn_for_a_law(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_bits(*_: Any) -> None:
        raise AssertionError("bits were read")

    monkeypatch.setattr("discreet.sampling.bits.SystemBits.word", no_bits)
    monkeypatch.setattr("discreet.sampling.bits.SystemBits.words", no_bits)
    discreet.distribution(discreet.median, AGES, candidates=GRID, epsilon=1).top(3)
    discreet.distribution([1, 2, 3], sensitivity=1, epsilon=1, mechanism="noisy_max").entropy()


@pytest.mark.parametrize("upward", [True, False])
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("slope", [Fraction(0), Fraction(1, 10**9), Fraction(1, 3), Fraction(50)])
def test_a_stretch_is_the_sum_of_its_candidates(
    upward: bool, dense: bool, size: int, slope: Fraction
) -> None:
    """Cell k weighs exp(-eta * slope * k), whether it is a point or an integral."""
    from discreet.sampling.enclosures import NaturalRate

    eta = Fraction(2, 3)
    run = WeightedRun(100, size, Fraction(5), slope, upward, dense, NaturalRate(eta))
    with precision(300):
        weights = [(-ball(eta * slope * k)).exp() for k in range(size)]
        total = sum(weights, arb(0))
        shares = [weight / total for weight in weights]
        mean = sum((k * p for k, p in enumerate(shares)), arb(0))
        entropy = -sum((p * p.log() for p in shares), arb(0))
        for k in range(size):
            assert run.at(k).overlaps(shares[k])
            assert run.within(k).overlaps(sum(shares[:k], arb(0)))
            assert run.steps(run.index(k)) == k
            up_to = shares[: k + 1] if upward else shares[size - 1 - k :]
            assert run.up_to(100 + k).overlaps(sum(up_to, arb(0)))
        assert run.mean_steps().overlaps(mean)
        assert run.entropy().overlaps(entropy)
        if not dense:
            assert run.mean_loss().overlaps(mean * ball(slope))
    assert run.at(-1) == run.at(size) == run.within(0) == run.up_to(99) == 0
    assert run.up_to(100 + size) == 1
    assert upper(abs(run.mean_steps().rad())) < NARROW


def test_a_probability_that_may_be_nothing_has_a_surprise() -> None:
    with precision(64):
        tiny = arb(0, 1e-20)
        surprise = _surprise(tiny)
        assert surprise.contains(arb(0))
        assert surprise.contains(arb(1e-20) * 46)
        assert not surprise.contains(arb(1e-18))
        assert _surprise(arb(0)) == 0
