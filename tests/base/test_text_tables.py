"""Tables: aligned in print, escaped in HTML; and everything public shows itself in a notebook."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import Grid, Ledger
from discreet.base.escapes import visible_text
from discreet.base.text_tables import Listing, TextTable, fact_table, listing
from discreet.errors import InvalidArgument

EVIL = "<script>alert('x')</script>&\"<img src=http://x onerror=y>"
ALLOWED = {"table", "caption", "thead", "tbody", "tr", "th", "td"}


class Reader(HTMLParser):
    """Reads HTML as a browser would, and keeps what it is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.attributes: set[tuple[str, str | None]] = set()
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        self.attributes |= {*attrs}
        if tag in {"td", "th", "caption"}:
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in {"td", "th", "caption"}:
            self.cells[-1] += data


def read(text: str) -> Reader:
    page = Reader(text)
    assert page.tags <= ALLOWED
    assert {name for name, _ in page.attributes} <= {"scope", "style"}
    assert {value for name, value in page.attributes if name == "style"} <= {"text-align: left"}
    return page


PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=40)


@given(st.lists(st.tuples(PLAIN, PLAIN), min_size=1, max_size=5), PLAIN)
def test_html_holds_the_texts_and_nothing_else(rows: list[tuple[str, str]], caption: str) -> None:
    page = read(TextTable((), tuple(rows), caption).html())
    texts = ([caption] if caption else []) + [cell for row in rows for cell in row]
    assert page.cells == [visible_text(text) for text in texts]


def test_hostile_texts_are_texts() -> None:
    page = read(TextTable((EVIL, "b"), ((EVIL, EVIL),), EVIL).html())
    assert page.cells == [EVIL, EVIL, "b", EVIL, EVIL]


def test_tables_are_aligned_in_print() -> None:
    table = TextTable(("name", "n"), (("tea", "310"), ("coffee", "22")), "votes")
    assert str(table) == repr(table) == "votes\nname    n\ntea     310\ncoffee  22"
    assert str(TextTable((), ())) == ""
    assert str(fact_table("a", {"b": 1, "c": None, "d": ""})) == "a\nb  1"


def test_long_texts_and_long_lists_are_cut() -> None:
    (cell,) = read(TextTable((), (("x" * 10_000,),)).html()).cells
    assert len(cell) == 500
    events = _history(120)
    page = read(Listing(events)._repr_html_())
    assert page.cells[0] == "the last 100 of 122"
    assert read(listing([]).html()).cells == ["none"]


def _history(n: int) -> Any:
    ledger = Ledger()
    ledger.open("a", epsilon=n)
    ledger.open("a", analyst="b", epsilon=n)
    event = ledger.history()[0]
    return [event] * (n + 2)


VOTES = {"tea": 310, EVIL: 322}
TERMS: dict[str, Any] = {"sensitivity": 1, "epsilon": "1/2"}


def shown() -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """Yield everything that shows itself, with texts that it must hold."""
    ledger = Ledger()
    ledger.open("<b>people", epsilon=3)
    ledger.open("<b>people", analyst="<i>bo", epsilon=2)
    session = ledger.session("<b>people", "<i>bo")
    release = session.select([1, 2], candidates=["tea", EVIL], **TERMS, request="<r>")
    yield (
        "release",
        release,
        (release.value, "ε = 0.5 (add/remove one record), exponential mechanism"),
    )
    groups = discreet.Release({"<g>": "a", "h": "b"}, release.guarantee, "exponential")
    yield "groups", groups, ("<g>", "a", "h", "b")
    yield "ledger", ledger, ("<b>people / <i>bo", "ε = 1", "Ledger in memory")
    yield "budgets", ledger.budgets(), ("<b>people", "ε = 1", "add/remove one record")
    yield "budget", ledger.budgets()[0], ("<b>people", "ε = 3")
    yield "session", session, ("<b>people / <i>bo", "ε = 2")
    yield "history", ledger.history(), ("opened", "charged", "<r>", "select, 2 candidates")
    yield "event", ledger.history()[2], ("charged", "ε = 1/2")
    yield "quote", session.quote(discreet.select, [1, 2], **TERMS), ("ε = 0.5", "ε = 1.5", "ε = 1")
    yield "spent", ledger.spent("<b>people"), ("1 answer",)
    charge = session.charge(release.guarantee, description="<d>", request="<q>")
    yield "charge", charge, ("<d>", "<q>", "yes: make the release now", "not recorded yet")
    batch = discreet.Batch().add("<q>", discreet.median, [1], candidates=Grid(0, 9), epsilon=1)
    yield "batch", batch, ("<q>", "ε = 1, bounded range (add/remove one record)")
    kinds: list[Any] = [release.guarantee, discreet.privacy.ZCDP("1/2", "replace_one")]  # type: ignore[arg-type]
    for guarantee in (*kinds, discreet.compose(kinds[0], kinds[0])):
        yield "guarantee", guarantee, (str(guarantee),)
    node = discreet.connect(datasets={"<d>": [1, 2]})
    node.open_budget("<d>", epsilon=1)
    node.allow("<d>", "<m>", discreet.median, candidates=Grid(0, 9), epsilon="1/9")
    node.open_budget("<d>", analyst="<i>bo", epsilon="1/2")
    yield "node", node, ("<d>: what may be asked", "<m>", "ε = 1")
    analyst = node.for_analyst("<i>bo")
    yield "analyst", analyst, ("<d>, as <i>bo: what may be asked", "<m>", "ε = 0.5")
    yield "questions", analyst.questions(), ("<m>", "as the budget lasts")
    yield "question", analyst.questions()[0], ("<m>", "in words")
    yield "comparison", discreet.compare(VOTES, sensitivity=1), ("exponential", "ε = 0.1")


@pytest.mark.parametrize("thing", [*shown()], ids=lambda thing: thing[0])
def test_everything_public_shows_itself(thing: tuple[str, Any, tuple[str, ...]]) -> None:
    _, value, texts = thing
    page = read(value._repr_html_())
    for text in texts:
        assert text in page.cells
    assert len(repr(value)) < 1200
    if thing[0] not in {"guarantee", "charge"}:  # which are their own arguments
        assert "Fraction(" not in repr(value)
    assert " object at 0x" not in repr(value)


def test_what_is_private_shows_itself_only_when_asked_for() -> None:
    law = discreet.distribution(VOTES, **TERMS)
    for private in (law, discreet.simulate(VOTES, **TERMS)):
        assert not hasattr(private, "_repr_html_")
    table = law.table(1)
    assert read(table._repr_html_()).cells[0] == "contains private data: do not publish"
    assert EVIL in str(table)
    assert len(table.rows) == 1
    assert len(law.table().rows) == 2


def test_what_cannot_be_read_is_named_all_the_same(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("a", epsilon=1)
    session = ledger.session("a")
    assert repr(session) == "Session('a': ε = 1 of ε = 1 left)"
    (tmp_path / "budget.db").write_bytes(b"no database")
    assert repr(session) == "Session('a')"
    assert repr(ledger) == f"Ledger({tmp_path / 'budget.db'})"
    with pytest.raises(discreet.errors.LedgerError):
        ledger._repr_html_()


def test_a_batch_without_a_price_shows_its_names() -> None:
    batch = discreet.Batch().add("age", discreet.median, [1], candidates=Grid(0, 9))
    assert batch._repr_html_() is None
    with pytest.raises(InvalidArgument, match="how much privacy"):
        str(batch)
    assert repr(batch) == "Batch(age)"
