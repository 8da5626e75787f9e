"""Releases made elsewhere: charged before they are made, once, and as exactly as our own."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import compose
from discreet.cli import run
from discreet.errors import Exhausted, InvalidArgument, LedgerCorrupt, RequestConflict
from discreet.ledger import Ledger, Session
from discreet.ledger.events import BUDGET_EVENTS
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    DiscreteGaussianDP,
    GaussianDP,
    GeometricDP,
    LogisticDP,
    LossDP,
    NoGuarantee,
    Odometer,
    PureDP,
    RenyiDP,
    ReplacedSumsDP,
    SummedRange,
)
from discreet.privacy.contract import Guarantee
from discreet.privacy.pld import LossDistribution

from ..ledgers import answering, bill, untouched
from .test_verification import rechained

HALF = PureDP(Fraction(1, 2), "add_remove")
MEAN: dict[str, Any] = {"description": "mean age by OpenDP", "request": "mean"}


def opened(where: Any = None, **terms: Any) -> Ledger:
    ledger = Ledger(where)
    ledger.open("adult", **(terms or {"epsilon": 1}))
    return ledger


def session_of(where: Any = None) -> Session:
    return opened(where).session("adult")


def test_a_release_made_elsewhere_is_charged_once(where: str) -> None:
    session = session_of(where)
    charge = session.charge(HALF, **MEAN)
    assert charge.is_new
    assert (charge.request, charge.event, charge.is_done) == ("mean", 2, False)
    again = Ledger(where).session("adult").charge(HALF, **MEAN)
    assert not again.is_new
    assert (again.event, again.at, again.guarantee) == (2, charge.at, HALF)
    assert session.charge(HALF, description="another", request="b").is_new
    with pytest.raises(Exhausted):
        session.charge(HALF, description="another", request="c")
    ledger = Ledger(where)
    assert ledger.budgets()[0].remaining.epsilon == 0
    assert [event.kind for event in ledger.history()] == ["opened", *["charged_outside"] * 2]
    assert ledger.history()[1].body == {
        "description": "mean age by OpenDP", "guarantee": HALF.as_dict(), "costs": [{"epsilon": "1/2"}],
        "after": [{"neighbors": "add_remove", "privacy_unit": None, "total": {"epsilon": "1"},
                   "spent": {"epsilon": "1/2"}, "shares": "reserved"}],
    }  # fmt: skip
    assert ledger.spent("adult") == Odometer("add_remove", ((HALF, 2),))
    assert ledger.verify().events == 3


def test_after_a_crash_the_owner_knows_what_is_known(where: str) -> None:
    """The process died after the charge, or after the release: the ledger says which, if it was told."""
    session = session_of(where)
    assert "make the release now, once" in str(session.charge(HALF, **MEAN))
    again = Ledger(where).session("adult").charge(HALF, **MEAN)
    told = str(again)
    at = again.at[:19].replace("T", " ")
    assert f"charged already, at {at} UTC: ε = 0.5" in told
    assert "The process that charged it may be making it right now." in told
    assert "Only if all of it was lost, make it once" in told
    made = session.charge(HALF, **MEAN).done("means.json")
    assert (made.is_done, made.note, made.is_new) == (True, "means.json", False)
    assert made.done("means.json") == session.done("mean", "means.json") == made
    for note in ("elsewhere", "made"):
        with pytest.raises(
            RequestConflict, match=r"'mean' was noted as made: means\.json. Charge a second"
        ):
            made.done(note)
        with pytest.raises(RequestConflict, match="a second release under another request"):
            session.done("mean", note)
    again = Ledger(where).session("adult").charge(HALF, **MEAN)
    assert (again.note, again.is_new) == ("means.json", False)
    assert "(means.json): do not make it again" in str(again)
    assert Ledger(where).verify().events == 3


def test_a_charge_that_was_noted_as_made_does_not_ask_for_a_release() -> None:
    new = session_of().charge(HALF, **MEAN)
    made = new.done("means.json")
    assert (made.is_new, made.is_done, new.is_new) == (False, True, True)
    assert "do not make it again" in str(made)
    assert "make the release now" not in str(made)
    assert made.as_dict()["is_new"] is False


def test_a_charge_needs_a_name() -> None:
    session = session_of()
    with pytest.raises(TypeError, match="request"):
        session.charge(HALF, description="mean")  # type: ignore[call-arg]
    with pytest.raises(InvalidArgument, match="request must be a printable name"):
        session.charge(HALF, description="mean", request=None)  # type: ignore[arg-type]


def test_each_payer_pays_for_a_request_of_its_own() -> None:
    ledger = opened()
    for analyst in ("a", "b"):
        ledger.open("adult", analyst=analyst, epsilon="1/3")
    payers = [ledger.session("adult", analyst) for analyst in (None, "a", "b")]
    third = PureDP(Fraction(1, 3), "add_remove")
    assert [payer.charge(third, **MEAN).is_new for payer in payers * 2] == [True] * 3 + [False] * 3
    assert ledger.budgets()[0].remaining.epsilon == 0


def test_of_many_at_once_one_makes_the_release(tmp_path: Path) -> None:
    session_of(tmp_path / "budget.db")

    def ask(_: int) -> bool:
        return Ledger(tmp_path / "budget.db").session("adult").charge(HALF, **MEAN).is_new

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(ask, range(8))) == 1
    assert Ledger(tmp_path / "budget.db").budgets()[0].spent.epsilon == Fraction(1, 2)


def test_a_charge_is_no_truth_value() -> None:
    charge = session_of().charge(HALF, **MEAN)
    with pytest.raises(InvalidArgument, match=r"ask charge\.is_new"):
        bool(charge)
    assert "Payer" not in repr(charge)


@pytest.mark.parametrize(
    "changed",
    [
        {"description": "mean wage"},
        {"guarantee": PureDP(Fraction(1, 3), "add_remove")},
        {"guarantee": discreet.privacy.BoundedRange(Fraction(1, 2), "add_remove")},
    ],
)
def test_another_release_under_the_same_name_is_refused(changed: dict[str, Any]) -> None:
    session = session_of()
    session.charge(HALF, **MEAN)
    with pytest.raises(RequestConflict, match="'mean' was another question"):
        session.charge(**{"guarantee": HALF, **MEAN, **changed})
    with pytest.raises(RequestConflict, match="was charged for a release made elsewhere"):
        session.buy(bill("1/2", "mean"), untouched)
    session.buy(bill("1/4", "ours"), answering(1))
    with pytest.raises(RequestConflict, match="'ours' was another question"):
        session.charge(HALF, description="x", request="ours")
    with pytest.raises(RequestConflict, match="no release made elsewhere was charged"):
        session.done("ours")


def test_every_kind_of_guarantee_is_charged_as_for_our_own() -> None:
    ledger = opened(rho=2, neighbors="replace_one")
    session = ledger.session("adult")
    session.charge(ZCDP(Fraction(1, 16), "add_remove"), description="Gaussian mean", request="a")
    assert session.charge(HALF, description="Laplace vector", request="b").is_new
    both = compose(ZCDP(Fraction(1, 100), "add_remove"), HALF)
    session.charge(both, description="a trained model", request="c")
    spent = [h.under("replace_one").rho for h in (ZCDP(Fraction(1, 16), "add_remove"), HALF, both)]
    assert ledger.budgets()[0].spent.rho == sum(r for r in spent if r is not None)
    assert ledger.spent("adult").rho == ledger.budgets()[0].spent.rho
    deltas = opened(epsilon=1, delta="1e-6", delta_for="questions")
    keys = ApproxDP(Fraction(1, 2), Fraction(1, 10**7), "add_remove")
    deltas.session("adult").charge(keys, description="keys", request="keys")
    assert deltas.budgets()[0].spent.delta == Fraction(1, 10**7)
    assert deltas.verify().events == 2


LOSSES = LossDistribution.gaussian(1, "1/16")
KINDS: list[Guarantee] = [
    DiscreteGaussianDP(Fraction(64), 2, 1, "add_remove"),
    ReplacedSumsDP(Fraction(64), 2, 0, 2, 3, "add_remove"),
    GaussianDP(Fraction(1, 8), "add_remove"),
    GeometricDP(Fraction(1, 8), 7, "add_remove"),
    LogisticDP(Fraction(1, 4), "add_remove"),
    SummedRange(Fraction(1, 4), "add_remove"),
    RenyiDP({2: "0.01", 16: "0.1"}, "add_remove"),
    LossDP(LOSSES, "add_remove"),
    compose(GaussianDP(Fraction(1, 8), "add_remove"), LossDP(LOSSES, "add_remove")),
]


@pytest.mark.parametrize("guarantee", KINDS, ids=lambda g: g.kind)
def test_what_others_account_with_is_counted_where_it_can_be(guarantee: Guarantee) -> None:
    """By sums as far as there is one, by the odometer in any case; else refused, with the reason."""
    ledger = opened(epsilon=100, delta="1e-3", delta_for="composition")
    try:
        ledger.session("adult").charge(guarantee, **MEAN)
    except InvalidArgument as refused:
        assert "this release" in str(refused)  # noqa: PT017
        assert guarantee.rho is None
    else:
        again = ledger.session("adult").charge(guarantee, **MEAN)
        assert (again.is_new, again.guarantee) == (False, guarantee)
        assert ledger.verify().events == 2
        assert ledger.spent("adult").parts == ((guarantee, 1),)
    spent = Odometer("add_remove", ((guarantee, 3),)).approx("1e-3")
    least = guarantee.repeated(3).approx(spent.delta)
    assert least.epsilon <= spent.epsilon < 3 * least.epsilon + 1


def test_shares_and_privacy_units_count() -> None:
    ledger = Ledger()
    ledger.open("visits", epsilon=1, privacy_unit="person")
    ledger.open("visits", analyst="a", epsilon="1/2", privacy_unit="person")
    session = ledger.session("visits", "a")
    with pytest.raises(InvalidArgument, match="protects all rows of one person"):
        session.charge(HALF, **MEAN)
    charge = session.charge(HALF, **MEAN, privacy_unit="person")
    assert (charge.is_new, charge.as_dict()["privacy_unit"]) == (True, "person")
    assert "(add/remove one person), for mean age" in str(charge)
    assert [budget.spent.epsilon for budget in ledger.budgets()] == [Fraction(1, 2)] * 2
    assert len(ledger.history()[-1].body["costs"]) == 1  # the whole paid when the share was opened
    with pytest.raises(Exhausted, match="the budget of visits / a cannot pay"):
        session.charge(HALF, description="again", request="2", privacy_unit="person")
    with pytest.raises(RequestConflict):
        session.charge(HALF, **MEAN)
    assert ledger.session("visits").charge(HALF, **MEAN, privacy_unit="person").is_new
    assert ledger.verify().events == 4
    assert "(add/remove one person)" in str(ledger.spent("visits"))
    assert ledger.spent("visits", "a") == Odometer("add_remove", ((HALF, 1),), "person")


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"guarantee": "1/2"}, "a charge takes a guarantee that can be written down"),
        ({"guarantee": None}, "a charge takes a guarantee"),
        ({"guarantee": NoGuarantee("?", "add_remove")}, "counts epsilon, and this release"),
        ({"guarantee": ZCDP(Fraction(1), "add_remove")}, "counts epsilon, and this release"),
        ({"guarantee": PureDP(Fraction(1), "replace_one")}, "Ask the mechanism with"),
        ({"description": ""}, "description must be a printable name"),
        ({"description": "a\nb"}, "description must be a printable name"),
        ({"request": 3}, "request must be a printable name"),
        ({"privacy_unit": 3}, "privacy_unit must be the name of a column"),
        ({"privacy_unit": "person"}, "protects one row"),
    ],
)  # fmt: skip
def test_what_cannot_be_charged(terms: dict[str, Any], message: str) -> None:
    ledger = opened()
    with pytest.raises(InvalidArgument, match=message):
        ledger.session("adult").charge(**{"guarantee": HALF, **MEAN, **terms})
    assert len(ledger.history()) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda events: events[1].__setitem__(6, events[1][6].replace('"1/2"}]', '"1/3"}]')),
        lambda events: events[1].__setitem__(6, events[1][6].replace("pure_dp", "poor_dp")),
        lambda events: events[2].__setitem__(6, '{"note":3}'),
        lambda events: events[2].__setitem__(5, "other"),
        lambda events: events[2].__setitem__(2, "answered"),
        lambda events: events[1].__setitem__(2, "charged"),
    ],
)  # fmt: skip
def test_charges_are_verified(tmp_path: Path, change: Callable[[list[list[Any]]], None]) -> None:
    session = session_of(tmp_path / "budget.db")
    session.charge(HALF, **MEAN).done("means.json")
    rechained(tmp_path / "budget.db", change)
    with pytest.raises(LedgerCorrupt):
        Ledger(tmp_path / "budget.db").verify()


def test_the_docs_name_every_kind_of_event() -> None:
    docs = Path(__file__).parents[1].parent / "docs" / "how-to" / "ledger.md"
    chain = docs.read_text(encoding="utf-8").split("## The chain")[1].split("## ")[0]
    for kind in (*BUDGET_EVENTS, "answered", "released_outside"):
        assert f"`{kind}`" in chain


def test_charges_are_reported_and_exported(tmp_path: Path) -> None:
    session = session_of(tmp_path / "budget.db")
    session.charge(HALF, **MEAN).done("means.json")
    ledger = Ledger(tmp_path / "budget.db")
    ledger.export(tmp_path / "events.json")
    kinds = [event["kind"] for event in json.loads((tmp_path / "events.json").read_text())]
    assert kinds == ["opened", "charged_outside", "released_outside"]
    told = discreet.report(ledger, tmp_path / "r.html", dataset="adult").read_text(encoding="utf-8")
    assert "mean age by OpenDP" in told
    assert "made elsewhere" in told


def test_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    words = "ledger open budget.db --dataset adult --epsilon 1"
    run(words.split())
    capsys.readouterr()
    asked = ["ledger", "charge", "budget.db", "--dataset", "adult", "--description", "mean age"]
    assert run([*asked, "--epsilon", "1/2", "--request", "m"]) == 0
    assert "make the release now, once" in capsys.readouterr().out
    assert run([*asked, "--epsilon", "1/2", "--request", "m"]) == 1
    assert "charged already" in capsys.readouterr().out
    words = "ledger done budget.db --dataset adult --request m --note means.json"
    assert run(words.split()) == 0
    told = capsys.readouterr().out
    assert "do not make it again" in told
    assert run(words.split()) == 0  # once more, and nothing is noted
    assert run(words.replace("means", "others").split()) == 2
    assert "a second release under another request" in capsys.readouterr().err
    assert run([*asked, "--epsilon", "1/2", "--request", "m", "--json"]) == 1
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (found["is_new"], found["note"], found["event"]) == (False, "means.json", 2)
    assert run([*asked, "--epsilon", "1/8"]) == 2
    assert "--request" in capsys.readouterr().err
    asked += ["--request", "n"]
    assert run([*asked, "--epsilon", "1/8"]) == 0
    asked[-1] = "o"
    assert run([*asked, "--rho", "1/1000"]) == 2  # it counts no rho
    assert run([*asked, "--mu", "1/1000"]) == 2
    for terms in (["--rho", "1", "--delta", "1e-6"], ["--rho", "1", "--mu", "1"], []):
        capsys.readouterr()
        assert run([*asked, *terms]) == 2
        assert "what does the release promise?" in capsys.readouterr().err
    assert run(["ledger", "done", "budget.db", "--dataset", "adult", "--request", "x"]) == 2
    capsys.readouterr()
    assert run(["ledger", "history", "budget.db"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "released outside mean age (m): means.json ε = 0.5" in told
    assert "charged outside" in told
    assert "all of adult" in told
