"""The commands of the ledger, and releases that it pays for."""

import json
from pathlib import Path

import pytest

from discreet.cli import run

STATUSES = "Divorced,Widowed"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder with a table in it, where commands run."""
    monkeypatch.chdir(tmp_path)
    Path("m.csv").write_text("status\nDivorced\nDivorced\nWidowed\n", encoding="utf-8")
    return tmp_path


def command(words: str) -> int:
    return run(words.split())


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def mode(more: str) -> int:
    return command(f"mode m.csv status --candidates {STATUSES} {more}")


PAID = "--epsilon 1/2 --ledger budget.db --dataset people"


@pytest.mark.usefixtures("here")
def test_a_budget_from_opening_to_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("ledger open budget.db --dataset people --epsilon 1") == 0
    assert "people ε = 1 ε = 0 ε = 1 protected: one row (add_remove)" in said(capsys)
    assert mode(f"{PAID} --dry-run") == 0
    assert said(capsys) == (
        "costs ε = 0.5 of people: spent ε = 0, remaining ε = 1; would leave ε = 0.5; "
        "worst error: in 95 of 100 answers the answer has at most 5 records fewer than the most common one"
    )
    assert mode(f"{PAID} --request monday") == 0
    first, paid = capsys.readouterr()
    assert mode(f"{PAID} --request monday") == 0
    again, free = capsys.readouterr()
    assert again == first
    assert free == f"{paid}free: this request was charged before, and nothing was charged now\n"
    assert mode(f"{PAID} --request monday --json") == 0
    assert json.loads(capsys.readouterr().out)["charged"] is False
    assert mode(PAID) == 0
    assert mode(PAID) == 4
    assert "remaining ε = 0" in capsys.readouterr().err
    assert command("ledger show budget.db --json") == 0
    [budget] = json.loads(capsys.readouterr().out)
    assert budget["remaining"] == {"epsilon": "0"}


@pytest.mark.usefixtures("here")
def test_what_happened_can_be_seen_checked_and_exported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command("ledger open budget.db --dataset people --epsilon 1")
    command("ledger open budget.db --dataset people --analyst a --epsilon 1/2")
    mode(f"{PAID} --analyst a --request monday")
    capsys.readouterr()
    assert command("ledger history budget.db --dataset people") == 0
    told = said(capsys)
    assert "3 20" in told
    assert "answered people / a most common value of status, ε = 0.5 2 candidates (monday)" in told
    assert "4 20" not in told, "one row a release"
    assert command("ledger history budget.db --json") == 0
    assert [event["kind"] for event in json.loads(capsys.readouterr().out)] == [
        "opened", "opened", "charged", "answered"]  # fmt: skip
    assert command("ledger verify budget.db --json") == 0
    head = json.loads(capsys.readouterr().out)["head"]
    assert command(f"ledger verify budget.db --head {head}") == 0
    assert command(f"ledger verify budget.db --head {head[::-1]}") == 5
    assert command("ledger history budget.db --export events.csv") == 0
    assert Path("events.csv").read_text(encoding="utf-8").count("\n") == 5


@pytest.mark.usefixtures("here")
def test_tables_fit_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two budgets with shares and units of privacy; a made-up id is eight characters of it."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("people", "contributions"):
        command(f"ledger open budget.db --dataset {name} --epsilon 100 --privacy-unit status")
    share = "--dataset people --analyst team-a --epsilon 1/3 --privacy-unit status"
    command(f"ledger open budget.db {share}")
    mode("--epsilon 1/4 --ledger budget.db --dataset people --privacy-unit status --analyst team-a")
    capsys.readouterr()
    for words in ("history", "history --dataset people", "show"):
        assert command(f"ledger {words} budget.db") == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= 80
        rows = [
            line for line in lines if line[:1].isdigit() or line.startswith(("people", "contr"))
        ]
        assert len(rows) == (4 if "history" in words else 3) - ("people" in words)
    assert lines[-1] == "protected: all rows of one status (add_remove)"


@pytest.mark.usefixtures("here")
def test_a_short_cost_stands_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("people", "contributions"):
        total = "--epsilon 3 --delta 1e-5 --delta-for questions"
        command(f"ledger open budget.db --dataset {name} {total}")
    charge = "--description x --epsilon 1/3 --delta 1e-6 --request a"
    assert command(f"ledger charge budget.db --dataset people {charge}") == 0
    capsys.readouterr()
    assert command("ledger history budget.db") == 0
    assert "ε = 1/3, δ = 0.000001" in capsys.readouterr().out


@pytest.mark.usefixtures("here")
def test_a_budget_without_a_description_is_extended_and_the_error_says_how(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command("ledger open budget.db --dataset people --epsilon 1")
    for words, name in (("--dataset people --period 2027", "people"), ("--period 2027", "NAME")):
        capsys.readouterr()
        assert command(f"ledger renew budget.db {words}") == 2
        fix = f"discreet ledger extend budget.db --dataset {name} --epsilon NEW_TOTAL"
        assert fix in capsys.readouterr().err
    assert command("ledger extend budget.db --dataset people --epsilon 2") == 0


@pytest.mark.usefixtures("here")
def test_a_picture_of_the_budget() -> None:
    pytest.importorskip("matplotlib")
    command("ledger open budget.db --dataset people --epsilon 1")
    mode(PAID)
    assert command("ledger history budget.db --dataset people --plot spent.png") == 0
    assert Path("spent.png").stat().st_size > 1000
    assert command("ledger history budget.db --plot spent.png") == 2
    assert command("ledger history budget.db --dataset people --plot spent.txt") == 2


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("--epsilon 1 --dataset people", "--dataset goes with --ledger"),
        ("--epsilon 1 --request one", "--request goes with --ledger"),
        ("--epsilon 1 --ledger budget.db", "give --dataset too"),
        ("--epsilon 1 --ledger nope.db --dataset people", "there is no ledger at nope.db"),
    ],
)
def test_options_that_do_not_fit(
    more: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mode(more) == 2
    assert message in capsys.readouterr().err
    assert not Path("nope.db").exists()


@pytest.mark.usefixtures("here")
def test_what_was_spent_whenever_one_stops(capsys: pytest.CaptureFixture[str]) -> None:
    command("ledger open budget.db --dataset people --epsilon 1")
    mode(PAID)
    capsys.readouterr()
    assert command("ledger spent budget.db --dataset people") == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("1 answer: ε = 0.5 in all")
    assert told[1] == "ε ≤ 0.499828, δ = 0.000001, whenever one stops (add/remove one record)"
    assert command("ledger spent budget.db --dataset people --delta 0 --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["epsilon"], found["answers"]) == ("1/2", 1)
    assert found["at_delta"]["epsilon"] == "1/2"
    assert found["privacy_unit"] is None
    command("ledger open budget.db --dataset visits --epsilon 1 --privacy-unit person")
    capsys.readouterr()
    assert command("ledger spent budget.db --dataset visits") == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.endswith("one person)") for line in told] == [True, True]
    assert command("ledger spent budget.db --dataset visits --json") == 0
    assert json.loads(capsys.readouterr().out)["privacy_unit"] == "person"
    assert command("ledger spent budget.db --dataset nobody") == 2


@pytest.mark.usefixtures("here")
def test_a_budget_can_be_extended(capsys: pytest.CaptureFixture[str]) -> None:
    command("ledger open budget.db --dataset people --epsilon 1/2")
    mode(PAID)
    assert command("ledger open budget.db --dataset people --epsilon 1") == 2
    assert "extend it" in capsys.readouterr().err
    assert command("ledger extend budget.db --dataset people --epsilon 1") == 0
    assert "people ε = 1 ε = 0.5 ε = 0.5" in said(capsys)
    assert mode(PAID) == 0
    assert command("ledger extend budget.db --dataset people --epsilon 1/2") == 2
    assert command("ledger extend budget.db --dataset nobody --epsilon 1/2") == 2
    assert command("ledger extend nope.db --dataset people --epsilon 1/2") == 2
    assert not Path("nope.db").exists()


@pytest.mark.usefixtures("here")
def test_the_budgets_of_one_dataset(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("people", "bids"):
        command(f"ledger open budget.db --dataset {name} --epsilon 1")
    capsys.readouterr()
    assert command("ledger show budget.db --dataset bids") == 0
    told = said(capsys)
    assert "bids" in told
    assert "people" not in told
    assert command("ledger show budget.db --dataset bid") == 2
    assert "no budget was opened for the dataset 'bid'. There are bids, people" in (
        capsys.readouterr().err
    )


@pytest.mark.usefixtures("here")
def test_shares_above_the_budget_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    opened = "ledger open budget.db --dataset people"
    command(f"{opened} --epsilon 2")
    command(f"{opened} --analyst ana --epsilon 2")
    assert capsys.readouterr().err == ""
    assert command(f"{opened} --analyst bob --epsilon 1/9") == 4
    assert "the budget of people cannot pay" in " ".join(capsys.readouterr().err.split())
    assert command("ledger extend budget.db --dataset people --analyst ana --epsilon 10") == 4
    command("ledger open budget.db --dataset bids --rho 1")
    capsys.readouterr()
    assert command("ledger open budget.db --dataset bids --analyst ana --epsilon 2") == 2
    assert "so a share of it is too, got epsilon" in " ".join(capsys.readouterr().err.split())


@pytest.mark.usefixtures("here")
def test_one_cost_is_shown_where_dataset_and_analyst_are_charged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command("ledger open budget.db --dataset people --epsilon 1 --oversubscribed")
    command("ledger open budget.db --dataset people --analyst a --epsilon 1")
    command("ledger open budget.db --dataset people --analyst b --epsilon 1")
    mode("--epsilon 1/3 --ledger budget.db --dataset people --analyst a")
    mode("--epsilon 1/3 --ledger budget.db --dataset people --analyst b")
    capsys.readouterr()
    assert command("ledger history budget.db") == 0
    told = said(capsys)
    assert told.count("ε = 1/3") == 2
    assert "ε = 1/3 and ε" not in told


@pytest.mark.usefixtures("here")
def test_the_ledger_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISCREET_LEDGER", "budget.db")
    assert command("ledger open --dataset people --epsilon 1") == 0
    assert mode("--epsilon 1/2") == 2  # never uncharged because a name is missing
    assert "give --dataset too" in capsys.readouterr().err
    monkeypatch.setenv("DISCREET_DATASET", "people")
    assert mode("--epsilon 1/2") == 0
    assert mode("--epsilon 1") == 4
    for asked in ("show", "history", "spent", "verify"):
        assert command(f"ledger {asked}") == 0, asked
    capsys.readouterr()
    assert command("ledger show --json") == 0
    assert json.loads(capsys.readouterr().out)[0]["remaining"] == {"epsilon": "1/2"}
    monkeypatch.delenv("DISCREET_LEDGER")
    assert mode("--epsilon 1/2") == 2
    assert "--dataset goes with --ledger" in capsys.readouterr().err


@pytest.mark.usefixtures("here")
def test_where_nothing_was_closed_nothing_is_opened_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command("ledger open budget.db --dataset people --epsilon 1") == 0
    said(capsys)
    assert command("ledger reopen budget.db --dataset people") == 0
    assert capsys.readouterr().out == ""
