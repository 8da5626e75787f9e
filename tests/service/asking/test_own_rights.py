"""The rights of a caller, as the owner declares them, and by every way to a service."""

from fractions import Fraction
from pathlib import Path

import pytest

import discreet
from discreet.errors import InvalidArgument
from discreet.selection.verb_calls import Call
from discreet.service.asking.own_rights import OwnRights

from .test_connect import TEXT, write_files


def test_rights_are_what_the_owner_declares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    more = 'max_epsilon = "1/4"\nmax_delta = "1e-8"\nwhere = ["age"]\nconfirm_above = "1/8"'
    assert 'max_epsilon = "1/4"' in TEXT
    Path("discreet.toml").write_text(TEXT.replace('max_epsilon = "1/4"', more))
    rights = discreet.connect("discreet.toml", analyst="ann").rights()
    assert rights == OwnRights(
        "ann", ("mode", "median"), Fraction(1, 4), Fraction(1, 10**8), ("age",), Fraction(1, 8)
    )
    assert "max_epsilon = 0.25" in str(rights)
    owner = discreet.connect("discreet.toml").rights()
    assert (owner.analyst, owner.where, owner.max_epsilon) == (None, None, None)


def test_rights_are_read_as_they_were_written() -> None:
    for rights in (
        OwnRights("ann", ("mode",), Fraction(1, 3), None, (), Fraction(1, 8)),
        OwnRights(None, ()),
    ):
        assert OwnRights.read(rights.as_dict()) == rights


def test_an_assistant_is_an_analyst() -> None:
    OwnRights("ann", ()).check_is_analyst()
    with pytest.raises(InvalidArgument, match="as an analyst"):
        OwnRights(None, ()).check_is_analyst()


@pytest.mark.parametrize(
    "item", ["COUNTIF({})", "AVG(CASE WHEN {} THEN 1 ELSE 0 END)", "COUNT(*) FILTER (WHERE {})"]
)
def test_conditions_inside_an_aggregate_compare_allowed_columns_alone(item: str) -> None:
    pytest.importorskip("sqlglot", reason="the extra sql is not installed")
    rights = OwnRights("ann", ("sql", "count", "mean"), where=("age",))
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) "

    def question(condition: str) -> Call:
        text = f"{clause}{item.format(condition)} FROM people"
        return Call(discreet.sql, (), {"statement": text})

    rights.check("sql", question("age > 18"))
    with pytest.raises(InvalidArgument, match="where may not compare with 'pay' here"):
        rights.check("sql", question("pay > 18"))
