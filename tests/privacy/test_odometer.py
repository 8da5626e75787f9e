"""The odometer: no analyst who chooses and stops as she likes gets past what it says.

Proof: docs/how-to/ledger.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import compose
from discreet.errors import InvalidArgument, InvalidNumber
from discreet.ledger import Ledger
from discreet.privacy import ZCDP, ApproxDP, BoundedRange, LaplaceDP, NoGuarantee, PureDP, odometer
from discreet.privacy.composition import Composition
from discreet.privacy.epsilon_dp import ByEpsilon
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.odometer import Odometer

MILLIONTH = Fraction(1, 10**6)


def pure(epsilon: Any) -> PureDP:
    return PureDP(Fraction(epsilon), "add_remove")


def ranged(epsilon: Any) -> BoundedRange:
    return BoundedRange(Fraction(epsilon), "add_remove")


def of(*guarantees: Guarantee) -> Odometer:
    return Odometer("add_remove", tuple((each, 1) for each in guarantees))


def said(guarantee: Guarantee, delta: Fraction, n: int) -> list[float]:
    """Return what the odometer says after 0, 1, ..., n answers."""
    return [
        float(Odometer("add_remove", ((guarantee, k),) * (k > 0)).approx(delta).epsilon)
        for k in range(n + 1)
    ]


def missed(said: float, loss: float) -> float:
    """Return what a loss above what was said adds to delta: (1 - exp(said - loss)) or nothing."""
    return max(0.0, -math.expm1(said - loss))


# How an analyst does who stops when it is best for her, computed backwards over all realised losses.


def stopping_responses(epsilon: float, said: list[float]) -> float:
    """Return her delta against randomised response: the loss goes up or down by epsilon."""
    p, last = 1 / (1 + math.exp(-epsilon)), len(said) - 1
    value = {j: missed(said[last], j * epsilon) for j in range(-last, last + 1)}
    for n in range(last - 1, -1, -1):
        value = {
            j: max(missed(said[n], j * epsilon), p * value[j + 1] + (1 - p) * value[j - 1])
            for j in range(-n, n + 1)
        }
    return value[0]


def stopping_ranges(epsilon: float, said: list[float], cuts: int) -> float:
    """Return her delta against exponential mechanisms: she also chooses each pair of losses, t and t - epsilon."""
    step, last = epsilon / cuts, len(said) - 1

    def likely(t: float) -> float:  # of the loss t on P
        return -math.expm1(t - epsilon) / -math.expm1(-epsilon)

    pairs = [(up, likely(up * step)) for up in range(1, cuts)]
    width = last * cuts
    value = {j: missed(said[last], j * step) for j in range(-width, width + 1)}
    for n in range(last - 1, -1, -1):
        value = {
            j: max(
                missed(said[n], j * step),
                *(p * value[j + up] + (1 - p) * value[j + up - cuts] for up, p in pairs),
            )
            for j in range(-n * cuts, n * cuts + 1)
        }
    return value[0]


# The four of the first defect found here, and others: epsilon, delta, answers.
RESPONSES = [("1/2", "1/10", 40), ("1/10", "1/1000", 200), ("2", "1/20", 30),
             ("1/4", "1/100", 150), ("1/20", "1/3", 50)]  # fmt: skip
RANGES = [("1/2", "1/10", 24), ("1/2", "1/100", 30), ("2", "1/20", 12)]


@pytest.mark.parametrize(("epsilon", "delta", "n"), RESPONSES)
@pytest.mark.one_in(2)
def test_nobody_gains_by_stopping_randomised_response(epsilon: str, delta: str, n: int) -> None:
    claims = said(pure(epsilon), Fraction(delta), n)
    assert stopping_responses(float(Fraction(epsilon)), claims) <= Fraction(delta)


@pytest.mark.parametrize(("epsilon", "delta", "n"), RANGES)
@pytest.mark.one_in(3)
def test_nobody_gains_by_stopping_exponential_mechanisms(epsilon: str, delta: str, n: int) -> None:
    claims = said(ranged(epsilon), Fraction(delta), n)
    assert stopping_ranges(float(Fraction(epsilon)), claims, 8) <= Fraction(delta)


def test_what_holds_for_a_fixed_list_is_no_odometer() -> None:
    """The attack works: it gets past `compose`, which the ledger's `spent` once was."""
    claims = [0.0] + [
        float(compose(pure("1/2").repeated(n)).approx("1/10").epsilon) for n in range(1, 41)
    ]
    assert stopping_responses(0.5, claims) > 0.23


def test_what_a_ledger_says_was_spent_holds_whenever_one_stops() -> None:
    ledger, claims = Ledger(), [0.0]
    ledger.open("d", epsilon=100, neighbors="replace_one")
    session = ledger.session("d")
    for _ in range(40):
        discreet.randomized_response("y", ["y", "n"], epsilon="1/2", ledger=session)
        claims.append(float(ledger.spent("d").approx("1/10").epsilon))
    assert stopping_responses(0.5, claims) <= 0.1


def without_weights() -> tuple[tuple[arb, arb], ...]:
    """Every order with weight 1: the best order after the fact."""
    shares = [
        1 / Fraction(odometer._WIDTH**2 + (j - odometer._CENTRE) ** 2) for j in odometer._QUARTERS
    ]
    whole = sum(shares)
    return tuple(
        (excess, log - (arb(float(w / whole))).log())
        for (excess, log), w in zip(ORDERS(), shares, strict=True)
    )


ORDERS = odometer._orders


def test_an_odometer_whose_weights_do_not_add_up_to_one_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(odometer, "_orders", without_weights)
    assert stopping_responses(0.5, said(pure("1/2"), Fraction(1, 10), 40)) > 0.15
    assert stopping_ranges(0.5, said(ranged("1/2"), Fraction(1, 10), 24), 8) > 0.1


def test_the_weights_add_up_to_one() -> None:
    whole = Fraction(0)
    for excess, log in ORDERS():
        x = float(excess.mid())
        greatest = (x / (1 + x)) ** x / (1 + x)  # of (1 - exp(-y)) exp(-x y)
        seen = max((1 - math.exp(-y / 1000)) * math.exp(-x * y / 1000) for y in range(1, 5000))
        assert x > 50 or greatest * 0.99 < seen <= greatest * (1 + 1e-12)
        whole += Fraction(math.exp(float(log.mid())) * greatest)
    assert abs(whole - 1) < 1e-9


# An analyst who chooses among several mechanisms each time. A release is its outcomes: the loss, and the
# probability on P. All of them satisfy the guarantee they are charged with, and most exactly.


@dataclass(frozen=True)
class Asked:
    guarantee: Guarantee
    outcomes: tuple[tuple[float, float], ...]
    told: float = 0.0
    """The probability that everything is told."""


def response(
    epsilon: Fraction, charged: Guarantee | None = None, told: Fraction = Fraction(0)
) -> Asked:
    e, p = float(epsilon), 1 / (1 + math.exp(-float(epsilon)))
    return Asked(charged or pure(epsilon), ((e, p), (-e, 1 - p)), float(told))


def exponential(epsilon: Fraction, t: Fraction) -> Asked:
    e, up = float(epsilon), float(t)
    p = math.expm1(up - e) / math.expm1(-e)
    return Asked(ranged(epsilon), ((up, p), (up - e, 1 - p)))


@dataclass
class Analyst:
    """Who plays all strategies of a few rounds, and takes the best."""

    among: list[Asked]
    delta: Fraction
    claims: dict[tuple[int, ...], tuple[float, float]] = field(default_factory=dict)

    def claimed(self, counts: tuple[int, ...]) -> tuple[float, float]:
        """Return the epsilon and the delta that the odometer says after so many of each."""
        if counts not in self.claims:
            spent = of()
            for asked, n in zip(self.among, counts, strict=True):
                for _ in range(n):
                    spent = spent.after(asked.guarantee)
            found = spent.approx(self.delta)
            self.claims[counts] = float(found.epsilon), float(found.delta)
        return self.claims[counts]

    def best(
        self,
        rounds: int,
        counts: tuple[int, ...],
        loss: float,
        worth: Callable[[tuple[int, ...], float], float],
    ) -> float:
        """Return the most that she expects: stopping here, or going on with any mechanism."""
        found = worth(counts, loss)
        if rounds:
            for i, asked in enumerate(self.among):
                after = (*counts[:i], counts[i] + 1, *counts[i + 1 :])
                kept = sum(
                    p * self.best(rounds - 1, after, loss + change, worth)
                    for change, p in asked.outcomes
                )
                if asked.told:  # and may stop then, or go on for a larger claim
                    kept = asked.told * max(worth(after, math.inf), 0.0) + (1 - asked.told) * kept
                found = max(found, kept)
        return found


@pytest.mark.parametrize("delta", ["1/3", "1/100"])
@pytest.mark.one_in(2)
def test_no_analyst_who_chooses_mechanisms_gains(delta: str) -> None:
    half, two = Fraction(1, 2), Fraction(2)
    among = [
        response(half),
        response(two, ZCDP(pure(two).rho, "add_remove")),
        response(half / 5),
        exponential(two, two / 3),
        exponential(Fraction(1), half),
    ]
    analyst = Analyst(among, Fraction(delta))

    def worth(counts: tuple[int, ...], loss: float) -> float:
        return missed(analyst.claimed(counts)[0], loss)

    assert analyst.best(4, (0,) * len(among), 0.0, worth) <= Fraction(delta)


def test_deltas_of_single_answers_come_on_top() -> None:
    """For any (epsilon, delta): what she gets where the odometer says no more than these is within them."""
    third, tenth = Fraction(1, 3), Fraction(1, 10)
    among = [
        response(Fraction(1)),
        response(third, ApproxDP(third, tenth, "add_remove"), tenth),
        response(Fraction(2), ApproxDP(Fraction(2), tenth / 3, "add_remove"), tenth / 3),
    ]
    analyst = Analyst(among, Fraction(1, 20))
    start = (0,) * len(among)
    for epsilon in (0.0, 0.5, 1.0, 2.0, 3.0, 4.5):
        for delta in (0.05, 0.0834, 0.15, 0.184, 0.25):

            @cache
            def worth(
                counts: tuple[int, ...], loss: float, e: float = epsilon, d: float = delta
            ) -> float:
                claimed = analyst.claimed(counts)
                return missed(e, loss) if claimed[0] <= e and claimed[1] <= d + 1e-12 else 0.0

            assert analyst.best(4, start, 0.0, worth) <= delta + 1e-12


kinds = st.sampled_from([PureDP, BoundedRange, LaplaceDP])
sizes = st.fractions(Fraction(1, 1000), 3, max_denominator=1000)


@given(st.lists(st.tuples(kinds, sizes), min_size=1, max_size=5), st.sampled_from(["0.1", "1e-6"]))
@settings(max_examples=15)
def test_further_answers_never_lower_it(asked: list[tuple[Any, Fraction]], delta: str) -> None:
    spent, before = of(), Fraction(0)
    for kind, epsilon in asked:
        spent = spent.after(kind(epsilon, "add_remove"))
        now = spent.approx(delta).epsilon
        assert before <= now * (1 + Fraction(1, 10**9))
        assert now <= (spent.epsilon or 0)
        before = now


@given(kinds, sizes, st.integers(1, 200))
@settings(max_examples=15)
def test_it_says_no_less_than_what_holds_for_a_fixed_list(
    kind: Any, epsilon: Fraction, n: int
) -> None:
    """Of one guarantee n times: at every order by itself, and with all of them."""
    spent = Odometer("add_remove", ((kind(epsilon, "add_remove"), n),))
    found, least = float(spent.approx(MILLIONTH).epsilon), math.inf
    for excess, _ in ORDERS():
        x = float(excess.mid())
        divergence = n * float(kind(epsilon, "add_remove").renyi(excess).mid())
        c = x * math.log(x) - (1 + x) * math.log1p(x)
        least = min(least, divergence + (c + math.log(10**6)) / x)
    assert min(least, n * float(epsilon)) <= found * (1 + 1e-9)
    assert found <= min(least + 1.5 * math.sqrt(least), n * float(epsilon)) * (1 + 1e-9)


def test_it_solves_the_equation_in_the_proof() -> None:
    """An independent sum, in doubles: at what is said the weighted sum over orders is 1 / delta."""
    spent = of(*[ranged("1/10")] * 50)
    epsilon, sum_ = float(spent.approx(MILLIONTH).epsilon), 0.0
    for excess, log in ORDERS():
        x = float(excess.mid())
        divergence = 50 * float(ranged("1/10").renyi(excess).upper())
        sum_ += math.exp(float(log.mid()) + x * (epsilon - divergence))
    assert 1e6 * (1 - 1e-9) <= sum_ <= 1e6 * (1 + 1e-6)
    assert 1.78 < epsilon < 1.79


def test_sums() -> None:
    spent = of(pure("1/3"), ranged("1/2"), pure("1/3"))
    assert spent.answers == 3
    assert spent.epsilon == Fraction(7, 6)
    assert spent.rho == 2 * pure("1/3").rho + ranged("1/2").rho
    assert spent.approx(0) == ApproxDP(Fraction(7, 6), Fraction(0), "add_remove")
    assert spent.if_fixed_beforehand() == compose([pure("1/3")] * 2, ranged("1/2"))
    more = spent.after(ApproxDP(Fraction(1), MILLIONTH, "add_remove"))
    assert (more.epsilon, more.rho, more.delta) == (None, None, MILLIONTH)
    assert more.approx(0) == ApproxDP(Fraction(13, 6), MILLIONTH, "add_remove")
    assert more.approx("1e-6").delta == 2 * MILLIONTH
    more = more.after(ApproxDP(Fraction(0), Fraction(9, 10), "add_remove"))
    assert more.approx(Fraction(1, 5)).delta == 1
    assert spent.after(ZCDP(Fraction(1, 10), "add_remove")).rho == spent.rho + Fraction(1, 10)


def test_before_the_first_answer() -> None:
    nothing = Odometer("replace_one")
    assert nothing.answers == nothing.epsilon == nothing.rho == nothing.delta == 0
    assert nothing.approx("1e-6") == ApproxDP(Fraction(0), MILLIONTH, "replace_one")
    assert nothing.if_fixed_beforehand() is None


def test_what_cannot_be_said() -> None:
    void = of(pure(1), NoGuarantee("candidates were taken from the data", "add_remove"))
    for delta in (0, "1e-6"):
        with pytest.raises(InvalidArgument, match="no epsilon is known at delta"):
            void.approx(delta)
    assert void.epsilon is void.rho is None
    assert void.delta == 1
    with pytest.raises(InvalidArgument, match="no epsilon is known at delta = 0"):
        of(ZCDP(Fraction(1), "add_remove")).approx(0)
    for delta in (1, -1, "x"):
        with pytest.raises(InvalidNumber):
            of().approx(delta)
    with pytest.raises(InvalidArgument, match=r"Take \.under\('replace_one'\) of it"):
        Odometer("replace_one").after(pure(1))


def test_many_kinds_are_counted_by_their_rho(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said is larger then, and still grows."""
    parts = tuple((ranged(Fraction(1, 5 + i)), 1) for i in range(9))
    exact = Odometer("add_remove", parts).approx(MILLIONTH).epsilon
    monkeypatch.setattr(odometer, "_MOST_CURVES", 4)
    said = [Odometer("add_remove", parts[:n]).approx(MILLIONTH).epsilon for n in range(10)]
    assert said == sorted(said)
    rho = Odometer("add_remove", parts).rho
    assert rho is not None
    by_rho = of(ZCDP(rho, "add_remove")).approx(MILLIONTH).epsilon
    assert exact < said[-1] <= by_rho
    monkeypatch.setattr(odometer, "_MOST_CURVES", 0)
    assert abs(Odometer("add_remove", parts).approx(MILLIONTH).epsilon / by_rho - 1) < MILLIONTH


@dataclass(frozen=True)
class Curved:
    """A guarantee of a kind of its own: a curve at some orders, and nothing else."""

    most: float
    neighbors: str = "add_remove"
    kind = "curved"
    slack = Fraction(0)
    pure = rho = None

    delta_at = approx = ceiling = repeated = group = under = as_dict = None  # nobody asks for these

    @property
    def core(self) -> "Curved":
        return self

    def renyi(self, excess: arb) -> arb | None:
        return arb(0.01) * (1 + excess) if excess <= self.most else None


def test_a_curve_of_a_kind_of_its_own_counts_at_the_orders_it_has() -> None:
    whole: Any = Curved(math.inf)
    some: Any = Curved(4.0)
    none: Any = Curved(0.0)
    same = of(ZCDP(Fraction(1, 100), "add_remove")).approx(MILLIONTH).epsilon
    assert abs(of(whole).approx(MILLIONTH).epsilon - same) < 1e-9
    assert of(some).approx(MILLIONTH).epsilon > same
    assert of(some, pure(1)).approx(MILLIONTH).epsilon > of(some).approx(MILLIONTH).epsilon
    for mixed in (of(none), of(none, pure(1)), of(pure(1), none)):
        with pytest.raises(InvalidArgument, match="no epsilon is known"):
            mixed.approx(MILLIONTH)


def test_in_words() -> None:
    assert str(of()) == "0 answers: ε = 0 in all, whenever one stops (add/remove one record)"
    assert str(of(pure("1/3"))) == (
        "1 answer: ε = 1/3 in all, whenever one stops (add/remove one record)"
    )
    many = of(*[ranged("1/10")] * 50)
    assert str(many) == (
        "50 answers: ε = 5 in all or ε ≤ 1.78255, δ = 0.000001, whenever one stops "
        "(add/remove one record)"
    )
    assert repr(many) == f"Odometer({many})"
    assert str(of(NoGuarantee("?", "add_remove"))) == "1 answer: no privacy guarantee"
    assert of(pure("1/3")).as_dict() == {
        "answers": 1, "epsilon": "1/3", "rho_running_total": str(pure("1/3").rho), "delta": "0",
        "neighbors": "add_remove", "privacy_unit": None,
    }  # fmt: skip


def test_it_says_whom_it_is_about() -> None:
    spent = Odometer("replace_one", unit="person").after(PureDP(Fraction(1, 2), "replace_one"))
    whom = "whenever one stops (replace one person)"
    assert str(spent) == f"1 answer: ε = 0.5 in all, {whom}"
    assert spent.in_words(0) == f"ε = 0.5, δ = 0, {whom}"
    assert spent.as_dict()["privacy_unit"] == "person"
    with pytest.raises(InvalidArgument, match="privacy_unit must be the name of a column"):
        Odometer("add_remove", unit="")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (((PureDP(Fraction(1)), 0),), "count must be a whole number of at least 1, got 0"),
        (((PureDP(Fraction(1)), -1),), "count must be"),
        (((PureDP(Fraction(1)), 0.5),), "count must be"),
        (((PureDP(Fraction(1)), True),), "count must be"),
        ((("1/2", 1),), "what composes are guarantees"),
        (((None, 1),), "what composes are guarantees"),
        ((PureDP(Fraction(1)),), "parts must be"),
        ((PureDP(Fraction(1)), 1), "parts must be"),
        (PureDP(Fraction(1)), "parts must be"),
        (3, "parts must be"),
    ],
)
def test_parts_are_guarantees_and_how_many(parts: Any, message: str) -> None:
    for kind in (lambda: Odometer("add_remove", parts), lambda: Composition(parts)):
        with pytest.raises(InvalidArgument, match=message):
            kind()


def test_a_release_of_very_many_kinds_does_not_make_it_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No more curves than for so many releases; what is said lies between all curves and all rhos."""
    asked: list[Fraction] = []
    curve = ByEpsilon.renyi

    def counted(self: ByEpsilon, excess: arb) -> arb:
        asked.append(self.epsilon)
        return curve(self, excess)

    whole = compose(*[ranged(Fraction(1, 1000 + i)) for i in range(200)])
    exact = whole.approx(MILLIONTH).epsilon
    monkeypatch.setattr(ByEpsilon, "renyi", counted)
    found = of(whole, pure(1)).approx(MILLIONTH).epsilon
    assert len(set(asked)) <= len(asked) <= odometer._MOST_CURVES * len(ORDERS())
    assert whole.rho is not None
    by_rho = of(ZCDP(whole.rho), ZCDP(pure(1).rho)).approx(MILLIONTH).epsilon
    assert exact < found <= by_rho
    few = compose([pure("1/2")] * 3, ranged("1/7"))  # nesting makes no difference
    assert of(few, few).approx("1/9") == of(*[pure("1/2")] * 6, *[ranged("1/7")] * 2).approx("1/9")


@dataclass
class Interleaving(Analyst):
    """Who also charges something interactive of epsilon 2, and asks it in between for parts of that.

    `late`: as if it were charged when its last answer is given.
    """

    late: bool = False

    def going_on(self, rounds: int, n: int, begun: int, left: int, loss: float) -> float:
        """Return the most that she expects after n plain answers, with so many halves of epsilon left to ask."""
        counted = begun - (1 if self.late and left else 0)
        found = missed(self.claimed((n, counted))[0], loss)
        if not rounds:
            return found
        ways = [(1.0, n + 1, begun, left)]
        ways += [(part / 2, n, begun, left - part) for part in (1, 2, 4) if part <= left]
        ways += [(part / 2, n, begun + 1, 4 - part) for part in (1, 2, 4) if not left]
        for e, n_, begun_, left_ in ways:
            p = 1 / (1 + math.exp(-e))
            up, down = (self.going_on(rounds - 1, n_, begun_, left_, loss + x) for x in (e, -e))
            found = max(found, p * up + (1 - p) * down)
        return found


@pytest.mark.parametrize("delta", ["1/4", "1/50"])
def test_interactive_releases_may_be_interleaved_if_charged_at_once(delta: str) -> None:
    among = [response(Fraction(1)), response(Fraction(2))]
    asked = Interleaving(among, Fraction(delta))
    assert asked.going_on(4, 0, 0, 0, 0.0) <= Fraction(delta)
    late = Interleaving(among, Fraction(delta), late=True)
    assert late.going_on(4, 0, 0, 0, 0.0) > Fraction(delta)
