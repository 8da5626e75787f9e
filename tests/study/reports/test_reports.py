"""Reports: one file, public, escaped, self-contained; and what they say is true."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import discreet
from discreet import Grid, Ledger, audit
from discreet.base.numbers import rounded_up
from discreet.cli import run
from discreet.errors import InvalidArgument, ReportUnwritable, UnknownBudget

EVIL = "<script>alert('x')</script>&\"<img src=http://x>"
VOTES = {"tea": 310_007, "coffee": 322_009, EVIL: 245_003}
VOID = {"meta", "img"}


class Reader(HTMLParser):
    """Reads a page, and notes what a browser would do with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


def read(path: Path) -> Reader:
    return Reader(path.read_text(encoding="utf-8"))


def vote(**terms: Any) -> discreet.Release:
    return discreet.select(VOTES, sensitivity=1, monotonic=True, **{"epsilon": 1, **terms})


def budget() -> Ledger:
    ledger = Ledger()
    ledger.open("<b>votes", epsilon=3)
    ledger.open("<b>votes", analyst="<i>bo", epsilon=2)
    ledger.session("<b>votes", "<i>bo").select(VOTES, sensitivity=1, epsilon="1/3")
    ledger.extend("<b>votes", epsilon=4)
    ledger.session("<b>votes").select(VOTES, sensitivity=1, epsilon="1/2")
    return ledger


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of every kind, by name."""
    ledger, file = budget(), tmp_path_factory.mktemp("reports") / "page.html"
    subjects: dict[str, tuple[Any, dict[str, Any]]] = {
        "release": (vote(), {}),
        "several": (vote(size=300), {}),
        "rho": (vote(epsilon=None, rho="1/2", mechanism="permute_and_flip"), {}),
        "paid": (vote(), {"ledger": ledger, "dataset": "<b>votes"}),
        "noise": (discreet.geometric(3, sensitivity=1, epsilon=1), {}),
        "exact": (audit.exact([1, 0, 0], [0, 1, 0], sensitivity=1, epsilon=2), {}),
        "false": (audit.laws([1, 0], [0, 1], epsilon=1), {}),
        "long": (audit.exact([0] * 50, [1] + [0] * 49, sensitivity=1, epsilon=2), {}),
        "samples": (audit.samples([EVIL] * 50, ["b"] * 50), {}),
        "ledger": (ledger, {"dataset": "<b>votes"}),
    }
    found = {}
    for name, (subject, given) in subjects.items():
        found[name] = file.with_name(f"{name}.html")
        assert discreet.report(subject, found[name], **given) == found[name]
    return found


def test_pages_are_whole_loaded_from_nowhere_and_run_nothing(pages: dict[str, Path]) -> None:
    for name, path in pages.items():
        page = read(path)
        assert page.tags[:2] == ["html", "head"], name
        assert page.tags.count("h1") == page.tags.count("main") == 1
        assert not {"script", "link", "iframe", "object", "a", "b", "i", "img"} & set(page.tags)
        for attribute, value in page.attributes:
            assert not attribute.startswith("on")
            assert attribute not in {"href", "srcset", "src"}
            assert "://" not in value or attribute.startswith("xmlns")
            assert not re.search(r"url\((?!#)", value)
            assert attribute != "xlink:href" or value.startswith("#")
        raw = path.read_text(encoding="utf-8")
        style = raw[raw.index("<style>") : raw.index("</style>")]
        assert "url(" not in style
        assert "@import" not in style
        assert "prefers-color-scheme: dark" in style
        assert "@media print" in style


def test_pictures_are_inside_and_say_what_they_show(pages: dict[str, Path]) -> None:
    pictures = {name: read(path).tags.count("svg") for name, path in pages.items()}
    assert pictures == {
        "release": 1, "several": 0, "rho": 1, "paid": 1, "noise": 0, "exact": 1, "false": 1,
        "long": 0, "samples": 0, "ledger": 1,
    }  # fmt: skip
    for path in pages.values():
        page = read(path)
        said = [value for name, value in page.attributes if name == "aria-label"]
        assert len(said) == page.tags.count("svg")
        assert all(len(text) > 10 for text in said)
        assert page.tags.count("title") > page.tags.count("svg"), "marks have titles"


def test_markup_in_candidates_and_names_is_text(tmp_path: Path, pages: dict[str, Path]) -> None:
    release = discreet.select({EVIL: 10**6, "tea": 0}, sensitivity=1, epsilon=1)
    page = read(discreet.report(release, tmp_path / "r.html"))
    assert page.text.count(EVIL) == 2
    page = read(pages["ledger"])
    assert "The privacy budget of <b>votes" in page.text
    assert "<i>bo" in page.text


def test_nothing_private_is_told(pages: dict[str, Path]) -> None:
    for path in pages.values():
        raw = path.read_text(encoding="utf-8")
        for score in VOTES.values():
            assert str(score) not in raw
            assert f"{score:,}" not in raw


def test_the_law_is_shown_only_when_asked_for_by_name(tmp_path: Path) -> None:
    law = discreet.distribution(VOTES, sensitivity=1, monotonic=True, epsilon=1)
    page = read(discreet.report(vote(), tmp_path / "r.html", private_law=law))
    assert page.text.count("Do not publish it") == 1
    assert page.tags.count("svg") == 2
    assert "Do not publish" not in read(discreet.report(vote(), tmp_path / "r.html")).text


def test_a_release_is_told_in_order(tmp_path: Path) -> None:
    ledger = Ledger()
    ledger.open("ages", epsilon=2)
    data = [3, 4, 4, 7, 9]
    release = ledger.session("ages").median(data, candidates=Grid(0, 20), epsilon="1/4")
    page = read(discreet.report(release, tmp_path / "r.html", ledger=ledger, dataset="ages"))
    heads = ["What was asked", "What is promised", "What it cost", "How good", "How exact",
             "What remains", "Written"]  # fmt: skip
    assert [page.text.index(head) for head in heads] == sorted(page.text.index(h) for h in heads)
    assert "median of numbers" in page.text
    assert "at most 1.29 times" in page.text
    assert "56.3 % sure" in page.text
    assert "ε = 1.75" in page.text
    error = rounded_up(discreet.worst_error(21, spread=1, epsilon="1/4"), 4)
    assert f"on average at most {error} steps behind the best one" in page.text
    assert discreet.__version__ in page.text


def test_preferred_candidates_have_no_worst_error() -> None:
    preferred = discreet.mechanisms.Exponential(base_measure=[1, 2, 3])
    assert vote().candidates == 3
    assert vote(mechanism=preferred).candidates is None


def test_an_audit_is_told_both_ways(pages: dict[str, Path]) -> None:
    assert "holds for this pair of datasets. That is a proof" in read(pages["exact"]).text
    false = read(pages["false"])
    assert ("class", "bad") in false.attributes
    assert "is false: this pair" in false.text
    assert "infinite" in false.text


def test_a_budget_is_told_exactly(pages: dict[str, Path]) -> None:
    text = read(pages["ledger"]).text
    assert "Spent ε = 2.5 of ε = 4; remaining ε = 1.5." in text
    assert "Of what was spent, ε = 2 are shares of analysts" in text
    assert "ε = 5/3" in text  # what is left to the analyst
    assert text.count("select, 3 candidates") == 2
    assert budget().verify().events == 7
    assert "Head" in text


def test_budgets_of_every_kind(tmp_path: Path) -> None:
    both = {"epsilon": 1, "delta": "1e-6"}
    for terms in (
        {"rho": "1/2"},
        {**both, "delta_for": "questions"},
        {**both, "delta_for": "composition"},
    ):
        ledger = Ledger()
        ledger.open("a", **terms)
        told = read(discreet.report(ledger, tmp_path / "r.html", dataset="a")).text
        assert "none" in told
        assert "refuses more, unless its owner extends the budget. Then the larger total" in told
        assert "All answers, unless it is extended" in told
        ledger.session("a").select([1, 2], sensitivity=1, epsilon="1/10")
        page = read(discreet.report(ledger, tmp_path / "r.html", dataset="a"))
        assert page.tags.count("svg") == 1


def test_a_question_costs_what_the_dataset_paid(tmp_path: Path) -> None:
    ledger = Ledger()
    ledger.open("a", epsilon=1)
    ledger.open("a", analyst="bo", epsilon=1)
    ledger.session("a", "bo").select([1, 2], sensitivity=1, epsilon="1/10")
    text = read(discreet.report(ledger, tmp_path / "r.html", dataset="a")).text
    asked = text[text.index("What was asked") : text.index("That nothing was edited")]
    assert "ε = 1/10" in asked
    assert "ρ" not in asked


def test_a_budget_names_whom_it_protects(tmp_path: Path) -> None:
    ledger = Ledger()
    ledger.open("a", epsilon=1)
    ledger.open("b", epsilon=1, privacy_unit="<person>")
    told = {
        name: read(discreet.report(ledger, tmp_path / "r.html", dataset=name)).text for name in "ab"
    }
    assert "One record is one row." in told["a"]
    assert "One record is all rows of one <person>." in told["b"]


def test_pictures_need_no_matplotlib(tmp_path: Path) -> None:
    law = discreet.distribution(VOTES, sensitivity=1, monotonic=True, epsilon=1)
    with mock.patch.dict(sys.modules, {"matplotlib": None}):
        page = read(discreet.report(vote(), tmp_path / "r.html", private_law=law))
    assert page.tags.count("svg") == 2
    assert "No picture" not in page.text
    assert "The expected error on the worst of all data" in page.text


def test_what_cannot_be_reported_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    with pytest.raises(InvalidArgument, match=r"ends in \.html"):
        discreet.report(vote(), tmp_path / "r.txt")
    with pytest.raises(ReportUnwritable, match="no such folder"):
        discreet.report(vote(), tmp_path / "no" / "r.html")
    with pytest.raises(InvalidArgument, match="a release, an audit or a ledger, got a list"):
        discreet.report([1, 2], file)
    with pytest.raises(InvalidArgument, match="give dataset too"):
        discreet.report(Ledger(), file)
    with pytest.raises(UnknownBudget, match="no budget was opened"):
        discreet.report(Ledger(), file, dataset="a")
    with pytest.raises(InvalidArgument, match="dataset goes with a release"):
        discreet.report(audit.laws([1], [1], epsilon=1), file, dataset="a")
    assert not file.exists()
    file.mkdir()
    with pytest.raises(ReportUnwritable, match="cannot be written"):
        discreet.report(vote(), file)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "r.html")
    pair = [
        "audit",
        "exact",
        "--scores",
        "0,1",
        "--neighbor",
        "1,1",
        "--epsilon",
        "1",
        "--report",
        out,
    ]
    assert run([*pair, "--sensitivity", "1"]) == 0
    assert run([*pair, "--sensitivity", "1/3"]) == 1
    assert capsys.readouterr().err == 2 * f"wrote {out}\n"
    assert "is false" in read(Path(out)).text
    where = str(tmp_path / "budget.db")
    assert run(["ledger", "open", where, "--dataset", "a", "--epsilon", "1"]) == 0
    assert run(["ledger", "show", where, "--dataset", "a", "--report", out]) == 0
    assert "Spent ε = 0 of ε = 1" in read(Path(out)).text
    assert run(["ledger", "show", where, "--dataset", "b", "--report", out]) == 2
    assert "no budget was opened" in capsys.readouterr().err


def test_a_release_with_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, where, out = tmp_path / "t.csv", str(tmp_path / "b.db"), str(tmp_path / "r.html")
    table.write_text("drink\n" + "tea\n" * 90 + "milk\n")
    mode = ["mode", str(table), "drink", "--candidates", "tea,milk", "--epsilon", "1"]
    assert run([*mode, "--report", out]) == 0
    assert "most common value of drink, 2 candidates" in read(Path(out)).text
    assert run(["ledger", "open", where, "--dataset", "a", "--epsilon", "3"]) == 0
    paid = [*mode, "--ledger", where, "--dataset", "a", "--report"]
    assert run([*paid, out]) == 0
    assert "remaining" in read(Path(out)).text
    capsys.readouterr()
    unwritable = str(tmp_path / "no" / "r.html")
    for code, *more in ((7, unwritable), (2, "r.txt"), (2, out, "--dry-run")):
        assert run([*paid, *map(str, more)]) == code
        assert capsys.readouterr().out == ""
    assert len([e for e in Ledger(where).history() if e.kind == "charged"]) == 1


def test_what_was_declared_otherwise_stands_between_the_answers(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(
        "who,age\n" + "".join(f"p{i},{i}\n" for i in range(40, 70))
    )

    def described(maximum: int) -> discreet.Dataset:
        age = {"type": "integer", "minimum": 0, "maximum": maximum}
        return discreet.Dataset(
            tmp_path / "people.csv", name="people", privacy_unit="who", max_contributions=1,
            columns={"who": {"type": "string"}, "age": age},
        )  # fmt: skip

    ledger = Ledger()
    ledger.open(described(60), epsilon=2)
    ledger.session(described(60)).median(described(60), "age", epsilon=1)
    ledger.describe(described(80))
    ledger.session(described(80)).median(described(80), "age", epsilon=1)
    page = read(discreet.report(ledger, tmp_path / "r.html", dataset="people")).text
    places = [page.index(words) for words in (
        "median of age, 0 to 60 by 1, one row of each who",
        "described in another way: age: integer 0 to 60 → age: integer 0 to 80",
        "median of age, 0 to 80 by 1, one row of each who",
    )]  # fmt: skip
    assert places == sorted(places)
    assert "add/remove one who" in page
    assert "add/remove one record" not in page
