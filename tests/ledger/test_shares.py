"""Shares are paid for when they are opened: sums hold in any order, and no analyst learns of another."""

from collections.abc import Iterable
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from discreet import Dataset, Ledger
from discreet.cli import run
from discreet.errors import DiscreetError, Exhausted, InvalidArgument, LedgerCorrupt
from discreet.ledger import Amount, Budget
from discreet.ledger.budget import DeltaFor, ShareRule, new_budget
from discreet.ledger.shares import close, shrink, with_changed_share, with_rule, with_share
from discreet.ledger.verification import Replay
from discreet.privacy import ZCDP, ApproxDP

from ..ledgers import answering, bill, untouched
from .test_verification import tampered

HALF = Fraction(1, 2)


def spent(ledger: Ledger) -> dict[str | None, Fraction | None]:
    return {budget.analyst: budget.spent.epsilon for budget in ledger.budgets()}


def test_a_share_is_paid_for_when_it_is_opened(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=2)
    ledger.open("adult", analyst="a", epsilon=1)
    assert spent(ledger) == {None: 1, "a": 0}
    with pytest.raises(
        Exhausted, match=r"cannot pay ε = 1.5 for the share of b: .* ε = 1 is left"
    ) as refused:
        ledger.open("adult", analyst="b", epsilon="3/2")
    assert (refused.value.requested, refused.value.spent) == (
        Amount(Fraction(3, 2)),
        Amount(Fraction(1)),
    )
    ledger.session("adult").buy(bill(1), answering(0))
    with pytest.raises(Exhausted):
        ledger.session("adult").buy(bill("1/100"), untouched)
    ledger.session("adult", "a").buy(bill(1), answering(0))  # whatever the owner has spent
    assert spent(ledger) == {None: 2, "a": 1}
    assert ledger.verify().notes == ()
    assert ledger.spent("adult").epsilon == 2


def test_a_share_can_grow_shrink_and_be_closed(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=2)
    ledger.open("adult", analyst="a", epsilon=1)
    ledger.session("adult", "a").buy(bill("1/4"), answering(0))
    with pytest.raises(InvalidArgument, match=r"not below what was spent, got ε = 0\.125"):
        ledger.shrink("adult", analyst="a", epsilon="1/8")
    with pytest.raises(InvalidArgument, match="It can only shrink"):
        ledger.shrink("adult", analyst="a", epsilon=2)
    with pytest.raises(InvalidArgument, match="is in epsilon, so its total is too"):
        ledger.shrink("adult", analyst="a", rho="1/8")
    assert ledger.shrink("adult", analyst="a", epsilon=HALF).total == Amount(HALF)
    assert spent(ledger) == {None: HALF, "a": Fraction(1, 4)}
    with pytest.raises(Exhausted, match="for the share of a"):
        ledger.extend("adult", analyst="a", epsilon=3)
    ledger.extend("adult", analyst="a", epsilon=2)
    assert spent(ledger)[None] == 2
    assert ledger.shrink("adult", analyst="a").remaining == Amount(Fraction(0))
    assert spent(ledger) == {None: Fraction(1, 4), "a": Fraction(1, 4)}
    with pytest.raises(InvalidArgument, match="nothing is left of the share"):
        ledger.shrink("adult", analyst="a")
    with pytest.raises(Exhausted):
        ledger.session("adult", "a").buy(bill("1/100"), untouched)
    assert [e.kind for e in ledger.history()[-3:]] == ["shrunk", "extended", "shrunk"]
    assert ledger.verify().events == 7


@pytest.mark.parametrize(
    ("whole", "share", "message"),
    [
        ({"epsilon": 1}, {"rho": "1/8"}, "is in epsilon .*, so a share of it is too, got rho"),
        ({"epsilon": 1}, {"epsilon": "1/2", "neighbors": "replace_one"}, "replace one record"),
        ({"epsilon": 1}, {"epsilon": "1/2", "privacy_unit": "person"}, "takes no privacy_unit"),
        ({"epsilon": 1}, {"epsilon": "1/2", "delta": "1e-9", "delta_for": "questions"}, "so a share of it is too"),
        ({"epsilon": 1, "delta": "1e-6", "delta_for": "composition"}, {"epsilon": "1/2"}, "delta for composition"),
        ({"epsilon": 1, "delta": "1e-6", "delta_for": "questions"},
         {"epsilon": "1/2", "delta": "1e-9", "delta_for": "composition"}, "so a share of it is too"),
        ({"epsilon": 1}, {"epsilon": "1/2", "oversubscribed": True}, "not of a share"),
        ({"epsilon": 1}, {"epsilon": "1/2", "delta_for": "questions"}, "delta_for goes with delta"),
    ],
)  # fmt: skip
def test_a_share_of_another_kind_is_refused(
    whole: dict[str, Any], share: dict[str, Any], message: str
) -> None:
    ledger = Ledger()
    ledger.open("adult", **whole)
    with pytest.raises(InvalidArgument, match=message):
        ledger.open("adult", analyst="a", **share)
    assert len(ledger.history()) == 1


def test_a_share_without_a_delta_is_paid_by_a_budget_with_one_for_questions() -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1, delta="1e-6", delta_for="questions")
    ledger.open("adult", analyst="a", epsilon=HALF)
    slack = ApproxDP(Fraction(1, 4), Fraction(1, 10**9), "add_remove")
    with pytest.raises(InvalidArgument, match="counts epsilon, and this release"):
        ledger.session("adult", "a").buy(bill(guarantee=slack), untouched)
    ledger.session("adult", "a").buy(bill("1/2"), answering(0))
    whole, share = ledger.budgets()
    assert whole.spent == Amount(HALF, None)
    assert share.remaining.epsilon == 0
    assert ledger.open("adult", epsilon=1, delta="1e-6", delta_for="questions", oversubscribed=True)
    ledger.open("adult", epsilon=1, delta="1e-6", delta_for="questions", oversubscribed=False)
    assert ledger.verify().events == len(ledger.history())


def test_what_a_delta_is_for_is_said_at_opening() -> None:
    ledger = Ledger()
    with pytest.raises(InvalidArgument, match="say what delta is for"):
        ledger.open("adult", epsilon=3, delta="1e-6")
    ledger.open("adult", epsilon=3, delta="1e-6", delta_for="questions")
    for analyst in ("a", "b"):
        ledger.open("adult", analyst=analyst, epsilon=1, delta="5e-7")
    half = ApproxDP(HALF, Fraction(1, 10**7), "add_remove")
    # One analyst's releases close nothing of the other's, in whatever order.
    ledger.session("adult", "a").buy(bill("1/100"), answering(0))
    ledger.session("adult", "b").buy(bill(guarantee=half), answering(0))
    ledger.session("adult", "a").buy(bill(guarantee=half), answering(0))
    whole, a, b = ledger.budgets()
    assert whole.spent == Amount(Fraction(2), None, Fraction(1, 10**6))
    assert a.remaining == Amount(Fraction(49, 100), None, Fraction(4, 10**7))
    assert b.remaining == Amount(HALF, None, Fraction(4, 10**7))
    ledger.open("census", epsilon=3, delta="1e-6", delta_for="composition")
    ledger.open("census", analyst="a", epsilon=1, delta="5e-7")
    with pytest.raises(InvalidArgument, match="counts rho, as its delta is for composition"):
        ledger.session("census", "a").buy(bill(guarantee=half), untouched)
    ledger.session("census", "a").buy(bill("1/100"), answering(0))
    assert ledger.budgets()[3].spent == Amount(None, ledger.budgets()[4].total.rho)
    assert ledger.verify().notes == ()


def test_oversubscribed_is_said_and_unsaid_by_events(where: str) -> None:
    ledger = Ledger(where)
    ledger.open("adult", epsilon=1)
    ledger.open("adult", analyst="a", epsilon=1)
    ledger.session("adult", "a").buy(bill("1/4"), answering(0))
    assert ledger.open("adult", epsilon=1, oversubscribed=True).spent == Amount(Fraction(1, 4))
    ledger.open("adult", analyst="b", epsilon=1)
    ledger.session("adult").buy(bill("1/8"), answering(0))
    assert spent(ledger) == {None: Fraction(3, 8), "a": Fraction(1, 4), "b": 0}
    assert "adult: oversubscribed" in "".join(ledger.verify().notes)
    with pytest.raises(InvalidArgument, match=r"add up to ε = 2.125, more than ε = 1"):
        ledger.open("adult", epsilon=1, oversubscribed=False)
    ledger.shrink("adult", analyst="a")
    ledger.shrink("adult", analyst="b", epsilon="5/8")
    assert spent(ledger)[None] == Fraction(3, 8)  # nothing is paid for, so nothing returns
    ledger.open("adult", epsilon=1, oversubscribed=False)
    assert spent(ledger) == {None: 1, "a": Fraction(1, 4), "b": 0}
    assert [e.kind for e in ledger.history()].count("recounted") == 2
    assert ledger.open("adult", epsilon=1).shares == "reserved"  # not said: as it is
    assert ledger.verify().notes == ()


# All short sequences of events, on the values that they are made of.

EPSILONS = [Fraction(1, 2), Fraction(1)]
Step = tuple[str, str | None, Fraction | None]
STEPS: list[Step] = [
    *[("open", who, e) for who in "ab" for e in EPSILONS],
    *[("charge", who, HALF) for who in (None, "a", "b")],
    *[("extend", who, Fraction(1)) for who in "a"],
    *[("shrink", who, e) for who in "ab" for e in (HALF, None)],
    ("rule", None, None),
]


class Model:
    """A dataset's budget of 1 and its shares, as the ledger's pure functions change them."""

    def __init__(self, delta_for: DeltaFor | None = None) -> None:
        self.delta_for: DeltaFor | None = delta_for
        total = self.total(Fraction(1))
        self.whole = new_budget(
            "d", None, "add_remove", total, delta_for=delta_for, shares="reserved"
        )
        self.shares: dict[str, Budget] = {}
        self.direct = self.whole.spent
        self.charges: dict[str | None, list[Amount]] = {}

    def total(self, epsilon: Fraction) -> Amount:
        """A total whose units grow in proportion, so that halves are halves in each of them."""
        if self.delta_for is None:
            return Amount(epsilon)
        return Amount(epsilon, epsilon / 8, epsilon / 10**6)

    def cost(self, part: Fraction) -> Amount:
        if self.delta_for == "questions":
            return Amount(part, None, part / 10**6)
        return Amount(None, part / 8) if self.delta_for else Amount(part)

    @property
    def state(self) -> tuple[Any, ...]:
        sums = {who: sum_of(costs, self.whole) for who, costs in self.charges.items()}
        return self.whole, *sorted(self.shares.items()), self.direct, *sorted(sums.items(), key=str)

    def step(self, kind: str, who: str | None, epsilon: Fraction | None) -> None:
        getattr(self, f"_{kind}")(who, epsilon)

    def _open(self, who: str, epsilon: Fraction) -> None:
        if who not in self.shares:
            share = new_budget(
                "d", who, "add_remove", self.total(epsilon), delta_for=self.delta_for
            )
            self.whole = with_share(self.whole, share)
            self.shares[who] = share

    def _charge(self, who: str | None, epsilon: Fraction) -> None:
        cost = self.cost(epsilon)
        share = None if who is None else self.shares[who].charged(cost)
        if who is None or self.whole.shares == "oversubscribed":
            self.whole = self.whole.charged(cost)
        if share is not None:
            self.shares[str(who)] = share
        else:
            self.direct += cost
        self.charges.setdefault(who, []).append(cost)

    def _extend(self, who: str, epsilon: Fraction) -> None:
        self._change(who, self.shares[who].extended(self.total(epsilon)))

    def _shrink(self, who: str, epsilon: Fraction | None) -> None:
        share = self.shares[who]
        self._change(who, close(share) if epsilon is None else shrink(share, self.total(epsilon)))

    def _change(self, who: str, after: Budget) -> None:
        self.whole = with_changed_share(self.whole, self.shares[who], after)
        self.shares[who] = after

    def _rule(self, who: None, epsilon: None) -> None:
        other: ShareRule = "reserved" if self.whole.shares == "oversubscribed" else "oversubscribed"
        self.whole = with_rule(self.whole, self.shares.values(), self.direct, other)

    def check(self) -> None:
        """All charges fit the total, those of each share its own, and sums are what they say."""
        every = [cost for costs in self.charges.values() for cost in costs]
        assert within(every, self.whole.counted_total)
        for who, share in self.shares.items():
            assert within(self.charges.get(who, []), share.counted_total)
            assert share.spent == sum_of(self.charges.get(who, []), share)
        if self.whole.shares == "reserved":
            paid = [*self.charges.get(None, []), *(s.counted_total for s in self.shares.values())]
        else:
            paid = every
        assert self.whole.spent == sum_of(paid, self.whole)
        assert within([self.whole.spent], self.whole.counted_total)


def numbers(amount: Amount) -> list[Fraction]:
    return [amount.epsilon or Fraction(0), amount.rho or Fraction(0), amount.delta]


def within(costs: list[Amount], total: Amount) -> bool:
    sums = [sum(column, Fraction(0)) for column in zip(*map(numbers, costs), strict=True)]
    return all(s <= t for s, t in zip(sums or [Fraction(0)] * 3, numbers(total), strict=True))


def sum_of(costs: list[Amount], budget: Budget) -> Amount:
    so_far = new_budget("d", None, "add_remove", budget.total, delta_for=budget.delta_for).spent
    for cost in costs:
        so_far += cost
    return so_far


@pytest.mark.parametrize("delta_for", ["questions", None, "composition"])
@pytest.mark.one_in(3)
def test_all_sequences_of_events_keep_the_promise(delta_for: DeltaFor | None) -> None:
    """Every state that 13 events lead to, in any order and number; a step that is refused changes nothing."""
    states, ahead = {Model(delta_for).state: Model(delta_for)}, [Model(delta_for)]
    while ahead:
        model = ahead.pop()
        for step in STEPS:
            after = deepcopy(model)
            try:
                after.step(*step)
            except (DiscreetError, KeyError):
                assert after.state == model.state
            after.check()
            if after.state not in states:
                states[after.state] = after
                ahead.append(after)
    assert len(states) > 100


def test_what_an_analyst_is_told_depends_on_the_own_share_alone() -> None:
    """All orders of what others do: quotes, charges and refusals of one analyst are the same."""
    others: list[Step] = [("charge", None, HALF), ("charge", "b", HALF), ("shrink", "b", None)]
    alone = told_beside([None] * 3)
    assert len(alone) == 4
    assert alone[0][0] == Amount(HALF)
    for acts in product([*others, None], repeat=3):
        assert told_beside(acts) == alone


def told_beside(acts: Iterable[Step | None]) -> list[Any]:
    """Return what an analyst is told who asks after each act of others, until the share is spent."""
    model = Model()
    model.step("open", "a", HALF)
    model.step("open", "b", HALF)
    told: list[Any] = []
    for act in acts:
        if act is not None:
            with suppress(DiscreetError):
                model.step(*act)
        share = model.shares["a"]
        told.append((share.remaining, share.fits(model.cost(Fraction(1, 4)))))
        try:
            model.shares["a"] = share.charged(model.cost(Fraction(1, 4)))
        except Exhausted as refused:
            told.append((str(refused), refused.remaining))
    return told


def test_a_renewal_opens_shares_anew() -> None:
    columns = {"age": {"type": "integer", "minimum": 0, "maximum": 120}}
    people = Dataset([{"age": 31}], columns, name="people")
    ledger = Ledger()
    ledger.open(people, epsilon=2)
    ledger.open(people, analyst="a", epsilon=1)
    with pytest.raises(Exhausted):
        ledger.renew(people, "2027", shares={"a": {"epsilon": 1}, "b": {"epsilon": 2}})
    with pytest.raises(InvalidArgument, match="a share is epsilon, rho, or"):
        ledger.renew(people, "2027", shares={"a": {"mu": 1}})
    assert len(ledger.history()) == 3
    renewed = ledger.renew(people, "2027", shares={"a": {"epsilon": 1}, "b": {"epsilon": "1/2"}})
    assert (renewed.spent, renewed.dataset) == (Amount(Fraction(3, 2)), "people 2027")
    assert ledger.session(people, "b").quoted([bill("1/2")]).fits
    assert ledger.verify().events == len(ledger.history())


def test_shares_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    opening = ["ledger", "open", "budget.db", "--dataset", "adult", "--epsilon"]
    assert run([*opening, "1"]) == 0
    assert run([*opening, "1", "--analyst", "a"]) == 0
    assert run([*opening, "1", "--analyst", "b"]) == 4
    assert "a share is paid for when it is opened" in " ".join(capsys.readouterr().err.split())
    shrinking = ["ledger", "shrink", "budget.db", "--dataset", "adult", "--analyst", "a"]
    assert run([*shrinking, "--epsilon", "1/2"]) == 0
    assert run(shrinking) == 0
    monkeypatch.setenv("COLUMNS", "200")
    assert run([*opening, "1", "--oversubscribed"]) == 0
    assert "oversubscribed" in capsys.readouterr().out
    assert run(["ledger", "verify", "budget.db"]) == 0
    assert "adult: oversubscribed" in " ".join(capsys.readouterr().out.split())
    assert run([*opening, "1", "--no-oversubscribed"]) == 0
    assert (
        run(
            [
                "ledger",
                "open",
                "budget.db",
                "--dataset",
                "keys",
                "--epsilon",
                "1",
                "--delta",
                "1e-6",
            ]
        )
        == 2
    )
    assert "--delta-for questions" in capsys.readouterr().err


def test_an_owner_is_told_at_the_start_of_a_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("starlette", reason="the extra server is not installed")
    monkeypatch.chdir(tmp_path)
    Ledger("budget.db").open("crowded", epsilon=1, oversubscribed=True)
    (tmp_path / "discreet.toml").write_text(
        'ledger = "budget.db"\n[datasets.crowded]\nsource = "a.csv"\n'
        'columns.age = { type = "integer", minimum = 0, maximum = 9 }\n'
    )
    served: list[object] = []
    monkeypatch.setattr("discreet.service.http.serving.serve", lambda *given: served.append(given))
    assert run(["serve"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "note: crowded: oversubscribed. Questions are tested against" in told
    assert len(served) == 1
    assert Ledger("budget.db").notes() == Ledger("budget.db").verify().notes


# What a second reading of the proof brought to light.

KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "epsilon": ({"epsilon": 3}, {"epsilon": 1}),
    "rho": ({"rho": 3}, {"rho": 1}),
    "questions": ({"epsilon": 3, "delta": "1e-3", "delta_for": "questions"}, {"epsilon": 1, "delta": "1e-4"}),
    "composition": ({"epsilon": 3, "delta": "1e-3", "delta_for": "composition"}, {"epsilon": 1, "delta": "1e-4"}),
}  # fmt: skip
SHAPES: list[dict[str, Any]] = [
    {"epsilon": "1/2"}, {"rho": "1/2"}, {"epsilon": "1/2", "delta": "1e-5"}, {"epsilon": 1000}, {"rho": 1000},
    {"epsilon": 1000, "delta": "1e-2"},
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", ["shrink", "extend"])
@pytest.mark.parametrize("shape", range(len(SHAPES)))
@pytest.mark.one_in(5)
def test_a_total_of_other_units_is_refused_and_none_is_lost(
    kind: str, change: str, shape: int
) -> None:
    """A share in ε and δ could shrink to a ρ, which closed no sum, and then grow unpaid."""
    whole, share = KINDS[kind]
    ledger = Ledger()
    ledger.open("d", **whole)
    ledger.open("d", analyst="a", **share)
    with suppress(InvalidArgument, Exhausted):
        getattr(ledger, change)("d", analyst="a", **SHAPES[shape])
    paid, of_share = ledger.budgets()
    assert {*SHAPES[shape]} == {*share} - {"delta_for"} or len(ledger.history()) == 2
    assert paid.is_within
    assert paid.spent == of_share.counted_total
    assert ledger.verify().events == len(ledger.history())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("oversubscribed", [True, False])
def test_closing_ends_in_a_ledger_that_verifies(kind: str, oversubscribed: bool) -> None:
    whole, share = KINDS[kind]
    ledger = Ledger()
    ledger.open("d", **whole, oversubscribed=oversubscribed)
    ledger.open("d", analyst="a", **share)
    small: Any = ZCDP(Fraction(1, 50), "add_remove") if kind in {"rho", "composition"} else None
    for analyst in (None, "a"):
        ledger.session("d", analyst).buy(bill("1/8", guarantee=small), answering(0))
    ledger.shrink("d", analyst="a")
    with pytest.raises(InvalidArgument, match="nothing is left"):
        ledger.shrink("d", analyst="a")
    with pytest.raises(Exhausted):
        ledger.session("d", "a").buy(bill("1/8", guarantee=small), untouched)
    assert ledger.verify().events == len(ledger.history())


@pytest.mark.parametrize("costs", ['[{"epsilon":"0"}]', "[]"])
def test_a_ledger_that_does_not_verify_is_not_recounted(tmp_path: Path, costs: str) -> None:
    path = tmp_path / "budget.db"
    ledger = Ledger(path)
    ledger.open("d", epsilon=1)
    for _ in range(2):
        ledger.session("d").buy(bill("1/3"), answering(0))
    tampered(
        path,
        'UPDATE discreet_events SET body = replace(body, \'"costs":[{"epsilon":"1/3"}]\', '
        f"'\"costs\":{costs}') WHERE number = 2",
    )
    before = path.read_bytes()
    with pytest.raises(LedgerCorrupt):
        Ledger(path).open("d", epsilon=1, oversubscribed=True)
    assert path.read_bytes() == before


def test_a_renewal_takes_no_budget_of_another_dataset() -> None:
    columns = {"age": {"type": "integer", "minimum": 0, "maximum": 120}}
    people, other = (
        Dataset([{"age": 31}], columns, name=name) for name in ("people", "people 2027")
    )
    ledger = Ledger()
    for dataset in (people, other):
        ledger.open(dataset, epsilon=2)
    with pytest.raises(InvalidArgument, match="there is a budget named people 2027 already"):
        ledger.renew(people, "2027", shares={"ann": {"epsilon": 1}})
    assert len(ledger.budgets()) == 2


FORGED = {"epsilon": "50", "kind": "pure_dp", "neighbors": "add_remove"}
TOO_MUCH = {"delta": "1/1000000", "epsilon": "1", "rho": "100"}


@pytest.mark.parametrize(
    ("terms", "body"),
    [
        ({"epsilon": 1}, {"guarantee": FORGED}),
        ({"epsilon": 1, "delta": "1e-6", "delta_for": "composition"}, {"total": TOO_MUCH}),
        ({"epsilon": 1}, {"shares": None}),
        ({"epsilon": 1}, {}),
    ],
)
def test_events_that_say_less_than_they_cost_do_not_verify(
    terms: dict[str, Any], body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Replay, "_compare", lambda *_: None)  # what a forger adds up
    ledger = Ledger()
    ledger.open("d", **terms)
    ledger.session("d").buy(bill("1/100"), answering(0))
    if not body:
        follow_all(ledger, body)
        return
    with pytest.raises(LedgerCorrupt):
        follow_all(ledger, body)


def follow_all(ledger: Ledger, body: dict[str, Any]) -> None:
    """Replay the events of a ledger with some fields of their bodies replaced, as who computes hashes anew can."""
    replay = Replay()
    for event in ledger.history():
        plain = {key: body.get(key, value) for key, value in event.body.items()}
        known = {key: value for key, value in plain.items() if value is not None}
        replay.follow(replace(event, body=known))
