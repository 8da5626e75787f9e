"""quote tells a price and an error without a ledger, and reads no private data."""

import json
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet.cli import run
from discreet.errors import InvalidArgument
from discreet.study.planning.price import quote

from ...selection.test_payment import Unread

TERMS: dict[str, Any] = {"candidates": ["a", "b"], "epsilon": 1}


def test_a_price_reads_no_data() -> None:
    price = quote(discreet.counts, Unread(), **TERMS)
    assert price.guarantee == discreet.privacy.PureDP(Fraction(1), "add_remove")
    assert price.worst_error == discreet.counts(["a"], **TERMS).error
    assert str(price) in repr(price)
    assert "costs ε = 1 (add/remove one record), geometric mechanism. Nothing was charged" in str(
        price
    )
    assert str(price.worst_error) in price._repr_html_()
    assert json.loads(json.dumps(price.as_dict()))["worst_error"]["error"] == "5"


def test_a_price_of_several_questions_names_each() -> None:
    columns = {"age": {"type": "integer", "minimum": 0, "maximum": 120}}
    people = discreet.Dataset({"age": []}, name="people", columns=columns)
    head = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2)"
    price = quote(discreet.sql, people, f"{head} COUNT(*) AS n, AVG(age) AS a FROM people")
    assert [part.name for part in price.parts] == ["n", "a"]
    assert "\n  n: " in str(price)
    assert len(price.as_dict()["parts"]) == 2  # type: ignore[arg-type]


def test_a_ledger_has_its_own_quote(tmp_path: Any) -> None:
    ledger = discreet.Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=1)
    with pytest.raises(InvalidArgument, match=r"call session\.quote"):
        quote(discreet.counts, ["a"], **TERMS, ledger=ledger.session("people"))


def test_a_dry_run_needs_no_ledger(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n1\n2\n", encoding="utf-8")
    command = ["count", str(path), "--epsilon", "1", "--dry-run"]
    assert run(command) == 0
    assert "Nothing was charged; worst error:" in capsys.readouterr().out
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["epsilon"] == "1"
