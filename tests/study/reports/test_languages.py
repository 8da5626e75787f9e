"""Reports in other languages: the same in every number, with no sentence of the wrong language."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import Ledger, audit
from discreet.base.messages import translate, using_language
from discreet.cli import run
from discreet.errors import InvalidArgument
from discreet.privacy.guarantees import NoGuarantee, PureDP

from .test_reports import Reader, read

ONE = Fraction(1)
HAN = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
VOTES = {"茶": 310, "咖啡": 412, "水": 45}

LATIN = {
    "UTC", "discreet", "python", "flint", "numpy", "Python", "exponential", "permute_and_flip",
    "gaussian", "geometric", "e",
    "Audit", "The", "draw", "and", "why", "it", "is", "exact", "Mechanisms",  # names of pages
}  # fmt: skip
"""The only words in Latin letters of a Chinese report, beside the question, which is shown as it was recorded."""

FOOTER = re.compile(r"Written .* by .*|由 .* 写于 .*")


def subjects() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return what to report in all languages, with names in Chinese."""
    ledger = Ledger()
    ledger.open("投票", epsilon=3)
    ledger.open("投票", analyst="小王", epsilon=2)
    ledger.session("投票", "小王").select(VOTES, sensitivity=1, epsilon="1/3")
    ledger.extend("投票", epsilon=4)
    ledger.session("投票").select(VOTES, sensitivity=1, epsilon="1/2")
    failing, empty = Ledger(), Ledger()
    failing.open("投票", epsilon=1, delta="1e-6", delta_for="questions", privacy_unit="人")
    empty.open("投票", rho="1/2", neighbors="replace_one")
    vote: dict[str, Any] = {"sensitivity": 1, "monotonic": True}
    numbered = dict(enumerate(VOTES.values()))
    whole = discreet.distribution(numbered, **vote, epsilon=1)
    return {
        "release": (discreet.select(numbered, **vote, epsilon=1), {"private_law": whole}),
        "several": (discreet.select(VOTES, **vote, epsilon=1, size=300), {}),
        "rho": (discreet.select(VOTES, **vote, rho="1/2", mechanism="permute_and_flip"), {}),
        "huge": (discreet.select(VOTES, spread=1, epsilon=40, neighbors="replace_one"), {}),
        "paid": (discreet.select(VOTES, **vote, epsilon=1), {"ledger": ledger, "dataset": "投票"}),
        "noise": (discreet.geometric(3, sensitivity=1, epsilon=1), {}),
        "exact": (audit.exact([1, 0, 0], [0, 1, 0], sensitivity=1, epsilon=2), {}),
        "false": (audit.laws([1, 0], [0, 1], epsilon=1), {}),
        "samples": (audit.samples(["a"] * 50, ["b"] * 50), {}),
        "time": (audit.timing(len, "茶", "水", repeats=5), {}),
        **{f"ledger {i}": (book, {"dataset": "投票"}) for i, book in enumerate((ledger, failing, empty))},
    }  # fmt: skip


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Path]]:
    """Return the pages of all subjects in both languages."""
    folder, found = tmp_path_factory.mktemp("reports"), subjects()
    return {
        lang: {
            name: discreet.report(subject, folder / f"{lang} {name}.html", **given, lang=lang)
            for name, (subject, given) in found.items()
        }
        for lang in ("en", "zh")
    }


def texts(page: Reader) -> str:
    """Return all that is to be read in a page, and what is read out of its pictures."""
    said = [value for name, value in page.attributes if name == "aria-label"]
    return "\n".join([page.text, *said])


def test_no_english_is_left_in_a_chinese_report(pages: dict[str, dict[str, Path]]) -> None:
    for name, path in pages["zh"].items():
        page = read(path)
        text = re.sub("[0-9a-f]{64}", "", texts(page)).replace(discreet.__version__, "")
        words = set(re.findall(r"[A-Za-zé_]{2,}|\be\b", text))
        assert words <= LATIN, f"{name}: {words - LATIN}"
        assert ("lang", "zh-Hans") in page.attributes


def test_no_chinese_is_in_an_english_report(pages: dict[str, dict[str, Path]]) -> None:
    names = "投票|小王|茶|咖啡|水|人"
    for path in pages["en"].values():
        assert not HAN.search(re.sub(names, "", texts(read(path))))


def test_both_tell_the_same_numbers(pages: dict[str, dict[str, Path]]) -> None:
    for name, path in pages["en"].items():
        told = [
            set(re.findall(r"\d[\d.,/]*\d|\d", FOOTER.sub("", read(each).text)))
            for each in (path, pages["zh"][name])
        ]
        assert told[0] <= told[1], f"{name}: {told[0] - told[1]}"


@pytest.mark.parametrize(("guarantee", "said"), [
    (PureDP(ONE, "add_remove"), "ε = 1（增删一条记录）"),
    (discreet.privacy.BoundedRange(ONE / 2, "replace_one"), "ε = 0.5，有界极差（替换一条记录）"),
    (discreet.privacy.ApproxDP(ONE, ONE / 1000, "add_remove"), "ε = 1，δ = 0.001（增删一条记录）"),
    (discreet.privacy.ZCDP(ONE / 2, "add_remove"), "ρ = 0.5，零集中差分隐私（增删一条记录）"),
    (discreet.privacy.GaussianDP(ONE, "add_remove"), "μ = 1，相当于高斯噪声（增删一条记录）"),
    (
        discreet.compose([discreet.privacy.BoundedRange(ONE)] * 3),
        "ε = 3（合计），来自 3 × (ε = 1，有界极差)（增删一条记录）",
    ),
    (NoGuarantee("the candidates were taken from the data"), "没有隐私保证：候选取自数据"),
])  # fmt: skip
def test_guarantees_are_written_in_chinese(guarantee: Any, said: str) -> None:
    with using_language("zh"):
        assert translate(guarantee) == said
    assert translate(guarantee) == str(guarantee)


def test_audits_are_written_in_chinese() -> None:
    def longest(records: list[int], limits: list[int]) -> list[int]:
        return [min(limit, max(records, default=0)) for limit in limits]

    def failing(records: list[int], limits: list[int]) -> list[int]:
        raise ValueError

    over: tuple[Any, ...] = ([5, 10], range(13), range(3))
    found = [
        audit.sensitivity(longest, *over, sensitivity=10, monotonic=True),
        audit.sensitivity(longest, *over, sensitivity=5),
        audit.sensitivity(longest, *over, spread=1),
        audit.sensitivity(failing, *over, sensitivity=10),
    ]
    assert [one.holds for one in found] == [True, False, False, False]
    for one in found:
        with using_language("zh"):
            said = translate(one).partition("the score function failed")[0]  # errors are in English
        assert not re.search("[A-Za-z]", said), said


def test_candidates_in_pictures_stay_as_they_are() -> None:
    names = ("time", "spent", "output", "budget", "probability", "candidate", "公布")
    scores = dict.fromkeys(names, 1)
    law = discreet.distribution(scores, sensitivity=1, epsilon=1)
    with using_language("zh"):
        drawn = law.plot().to_svg()
    for name in names:
        assert f">{name}</text>" in drawn
    assert ">概率</text>" in drawn
    assert ">候选</text>" in drawn
    assert ">概率</text>" not in law.plot().to_svg()


def test_other_languages_are_refused(tmp_path: Path) -> None:
    for wrong in ("fr", None, ["zh"]):
        with pytest.raises(InvalidArgument, match="lang must be one of en, zh"):
            discreet.report(Ledger(), tmp_path / "r.html", dataset="a", lang=wrong)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, where, out = tmp_path / "t.csv", str(tmp_path / "b.db"), str(tmp_path / "r.html")
    table.write_text("drink\n" + "tea\n" * 90 + "milk\n", encoding="utf-8")
    mode = ["mode", str(table), "drink", "--candidates", "tea,milk", "--epsilon", "1"]
    assert run([*mode, "--report", out, "--lang", "zh"]) == 0
    assert "问了什么" in read(Path(out)).text
    assert run(["ledger", "open", where, "--dataset", "a", "--epsilon", "1"]) == 0
    assert run(["ledger", "show", where, "--dataset", "a", "--report", out, "--lang", "zh"]) == 0
    assert "a 的隐私预算" in read(Path(out)).text
    pair = ["--scores", "0,1", "--neighbor", "1,1", "--sensitivity", "1", "--epsilon", "1"]
    assert run(["audit", "exact", *pair, "--report", out, "--lang", "zh"]) == 0
    assert "这是证明，不是测试" in read(Path(out)).text
    capsys.readouterr()
    paid = [*mode, "--ledger", where, "--dataset", "a"]
    assert run([*paid, "--lang", "zh"]) == 2
    assert "--report too" in capsys.readouterr().err
    assert run([*paid, "--report", out, "--lang", "fr"]) == 2
    assert capsys.readouterr().out == ""
    assert "opened" in {event.kind for event in Ledger(where).history()}
    assert "charged" not in {event.kind for event in Ledger(where).history()}
