"""An answer with what was drawn along with it reaches everybody: the release, a replay, groups, JSON, pages."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.cli.answer_output import show_release
from discreet.privacy import PureDP
from discreet.selection.answers import Answer
from discreet.selection.question import Order, Query
from discreet.service.asking import wire
from discreet.service.pages.answer_layout import layout_of
from discreet.study.reports import report

PROMISE = PureDP(Fraction(1), "add_remove")
PARTS = ("value", "counts", "gap", "other")


def _parts(release: Any) -> tuple[Any, ...]:
    return tuple(getattr(release, name) for name in PARTS)


def test_lists_and_groups_have_the_parts_that_any_answer_has() -> None:
    first, second = Answer(["tea"], [5]), Answer(["milk"], [3], Fraction(1, 2))
    assert _parts(Answer.of(7)) == (7, None, None, None)
    assert Answer.of(first) is first
    assert _parts(Answer.listed([])) == ([], None, None, None)
    assert _parts(Answer.listed([None, None])) == ([None, None], None, None, None)
    both = Answer.listed([first, second])
    assert _parts(both) == ([["tea"], ["milk"]], [[5], [3]], [None, Fraction(1, 2)], None)
    groups = Answer.grouped({"a": first, "b": second})
    assert groups.counts == {"a": [5], "b": [3]}
    assert groups.gap == {"a": None, "b": Fraction(1, 2)}
    assert groups.other is None
    assert Answer.grouped({"a": 1, "b": 2}) == Answer({"a": 1, "b": 2})


def _order(**payment: Any) -> Order:
    return Order(Query("counted"), PROMISE, "exponential", dict, **payment)


def _named(indices: Any) -> Answer:
    index, count = indices
    return Answer(["tea", "milk"][index], count, gap=Fraction(count, 2), other=9)


def _prepare(draw: Callable[[], Any]) -> Callable[[], Callable[[], Any]]:
    return lambda: draw


def test_a_stored_request_gives_all_parts_again() -> None:
    ledger = discreet.Ledger()
    ledger.open("d", epsilon=3)
    terms: dict[str, Any] = {"account": ledger.session("d"), "request": "r"}
    paid = _order(**terms).deliver(_prepare(lambda: [1, 40]), _named)
    assert _parts(paid) == ("milk", 40, 20, 9)

    def never() -> Any:
        pytest.fail("a stored request was drawn again")

    again = _order(**terms).deliver(_prepare(never), _named)
    assert _parts(again) == _parts(paid)
    assert (paid.charged, again.charged) == (True, False)


def test_an_answer_alone_has_nothing_besides() -> None:
    release = _order().deliver(_prepare(lambda: 1), lambda index: ["tea", "milk"][index])
    assert _parts(release) == ("milk", None, None, None)
    assert release.parts() == {}


def _release(value: Any, counts: Any, **parts: Any) -> discreet.Release[Any]:
    return discreet.Release(value, PROMISE, "exponential", counts=counts, **parts)


LIST = _release(["tea", "<i>"], [40, 7], gap=Fraction(5, 2), other=3)
GROUPS = _release({"a": ["tea", "milk"], "b": ["milk"]}, {"a": [4, 3], "b": [2]})
DRAWS = _release([["tea"], ["tea"]], [[4], [5]])


@pytest.mark.parametrize("release", [LIST, GROUPS, DRAWS, _release("tea", 4)])
def test_all_parts_travel(release: discreet.Release[Any]) -> None:
    assert _parts(wire.read_release(wire.write_release(release))) == _parts(release)


def test_what_is_not_released_is_not_written() -> None:
    release = _release("tea", None)
    assert wire.write_release(release).keys() >= {"value"}
    assert wire.write_release(release).keys().isdisjoint(PARTS[1:])
    assert release.as_dict().keys() == {"value", "error", "mechanism", "guarantee"}


def test_all_parts_are_shown() -> None:
    assert repr(LIST) == (
        "Release(['tea', '<i>'], counts [40, 7], gap 5/2, other 3: "
        "ε = 1 (add/remove one record), exponential mechanism)"
    )
    assert str(GROUPS).startswith(
        "{'a': ['tea', 'milk'], 'b': ['milk']}, counts {'a': [4, 3], 'b': [2]} ["
    )
    plain = LIST.as_dict()
    assert [plain[name] for name in PARTS] == [["tea", "<i>"], [40, 7], "5/2", 3]
    page = LIST._repr_html_()
    assert "<i>" not in page
    for text in ("&lt;i&gt;", ">40<", ">7<", ">5/2<", ">3<"):
        assert text in page
    assert DRAWS._repr_html_().count("[&#x27;tea&#x27;]") == 2
    rows = layout_of(LIST.value, LIST.counts).counts
    assert [(row.name, row.count) for row in rows] == [("tea", "40"), ("<i>", "7")]
    rows = layout_of(GROUPS.value, GROUPS.counts).groups[0][1].counts
    assert [(row.name, row.count) for row in rows] == [("tea", "4"), ("milk", "3")]
    assert layout_of("tea", 4).one == "tea: 4"


def test_a_report_has_the_counts(tmp_path: Path) -> None:
    for release, text in ((LIST, "tea: 40, &lt;i&gt;: 7"), (_release("tea", 4), "tea: 4")):
        page = report(release, tmp_path / "release.html").read_text(encoding="utf-8")
        assert text in page


def test_the_command_line_prints_counts_beside_the_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_release(LIST, {}, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "answer  count",
        "tea        40  ██████████████████████████████",
        "<i>         7  █████▎",
        "gap: 5/2",
        "other: 3",
    ]
    show_release(_release("tea", 4), {}, as_json=False)
    show_release(GROUPS, {}, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "tea (4)",
        "a: tea (4), milk (3)",
        "b: milk (2)",
    ]
