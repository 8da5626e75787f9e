"""Counts below 0, and means: programs get the noisy numbers, readers 0 and a sentence, in every place alike."""

import datetime as dt
import json
import re
import statistics
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from discreet import Release, plots, report
from discreet.cli import run
from discreet.cli.answer_output import show_release
from discreet.privacy.guarantees import PureDP
from discreet.selection.question_sentences import sentence_of
from discreet.selection.releases import json_value
from discreet.selection.shown_answers import floor_counts, note_of_counts, number_with_size
from discreet.service.asking.wire import read_release, write_release
from discreet.service.pages.answer_layout import layout_of

PURE = PureDP(Fraction(1), "add_remove")
TABLE = pl.DataFrame({"city": ["Bern"] * 3, "x": [1.5, 2.5, 3.5]})
MANY = range(400)
LOW: dict[str, Any] = {"epsilon": "1/100"}

ASKED: dict[str, Callable[[], Release]] = {
    "counts": lambda: discreet.counts(TABLE, "city", candidates=["Bern", *"abcdefghij"], **LOW),
    "counts by": lambda: discreet.counts(
        TABLE, "x", candidates=[*MANY], by="city", groups=["Bern", "Genf"], epsilon="1/100"
    ),
    "count by": lambda: discreet.count(TABLE, by="city", groups=[*map(str, MANY)], **LOW),
    "top_k": lambda: discreet.top_k(
        TABLE, "city", k=11, candidates=["Bern", *"abcdefghij"], method="counts", **LOW
    ),
    "mean by": lambda: discreet.mean(
        TABLE, "x", minimum=0, maximum=5, by="city", groups=[*map(str, MANY)], **LOW
    ),
}  # fmt: skip


def numbers_in(value: Any) -> list[int]:
    if isinstance(value, dict):
        return [n for one in value.values() for n in numbers_in(one)]
    if isinstance(value, list):
        return [n for one in value for n in numbers_in(one)]
    return [value] if type(value) is int else []


def counts_of(release: Release) -> list[int]:
    return numbers_in(release.value if release.counts is None else release.counts)


def test_sums_of_many_small_counts_are_right_on_average() -> None:
    """Cut at 0, 2,000 people in 50 of 5,000 cells were 27,144 at epsilon = 0.1."""
    data = [n % 50 for n in range(2000)]
    totals = [
        sum(discreet.counts(data, candidates=range(5000), epsilon="1/10").value.values())
        for _ in range(3)
    ]
    assert abs(statistics.mean(totals) - 2000) < 6 * (5000 / 3) ** 0.5 * 14.2
    assert sum(discreet.count([], epsilon="1/100").value < 0 for _ in range(60)) > 5


@pytest.mark.parametrize("name", ASKED)
def test_programs_get_noisy_counts_and_readers_zero_and_a_sentence(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    release = ASKED[name]()
    below = sum(number < 0 for number in counts_of(release))
    assert below  # but with a probability below 2**-10
    said = str(note_of_counts(counts_of(release)))
    assert f"took {below:,} count" in said
    travelled = read_release(json.loads(json.dumps(write_release(release))))
    assert counts_of(travelled) == counts_of(release)
    assert travelled.notes == release.notes
    show_release(release, {}, as_json=False)
    printed = capsys.readouterr()
    assert said in printed.err
    page = report(release, tmp_path / "page.html").read_text(encoding="utf-8")
    for text in (printed.out, str(release).partition(" [")[0], release._repr_html_(), page):
        words = re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL)
        assert not re.search(r"(?<!\S)-\d", words)
    for text in (str(release), release._repr_html_(), page):
        assert said in text
    show_release(release, {}, as_json=True)
    plain = json.loads(capsys.readouterr().out)
    assert any(n < 0 for part in ("value", "counts") for n in _all_numbers(plain.get(part)))


def _all_numbers(plain: Any) -> list[int]:
    if isinstance(plain, dict):
        return [n for one in plain.values() for n in _all_numbers(one)]
    if isinstance(plain, list):
        return [n for one in plain for n in _all_numbers(one)]
    return [plain] if type(plain) is int else []


def test_the_number_outside_keys_may_be_below_zero_too() -> None:
    answers = [
        discreet.keys(["a"] * 5000, delta="1e-6", other="1/100", epsilon=1) for _ in range(30)
    ]
    low = [one for one in answers if one.other < 0]
    assert low
    for one in low:
        assert one.as_dict()["other"] == one.other
        assert "other 0" in str(one)
        assert "took 1 count below 0: it is shown as 0" in str(one)


def test_sums_may_be_below_zero_and_are_shown_so(capsys: pytest.CaptureFixture[str]) -> None:
    for value in (-5, {"Bern": -5, "Genf": 3}):
        release = Release(
            value, PURE, "geometric", query=sentence_of({"verb": "sum", "column": "x"})
        )
        assert release.notes == []
        assert release.shown is release
        assert "-5" in str(release)
        assert "-5" in release._repr_html_()
        show_release(release, {}, as_json=False)
        assert "-5" in capsys.readouterr().out


def test_a_release_as_it_is_shown_is_the_same_otherwise() -> None:
    release = Release(
        {"a": -1, "b": 2}, PURE, "geometric", query=sentence_of({"verb": "counts", "column": "x"})
    )
    assert release.shown.value == {"a": 0, "b": 2}
    assert release.value == {"a": -1, "b": 2}
    assert repr(release).startswith("Release({'a': -1, 'b': 2}")
    assert release.count_table() is not None
    assert "-1" not in str(release.count_table())
    assert floor_counts({"a": [-1, None, 3]}) == {"a": [0, None, 3]}


def test_a_page_of_the_service_shows_zero() -> None:
    release = Release(
        {"a": -1, "b": 2}, PURE, "geometric", query=sentence_of({"verb": "counts", "column": "x"})
    )
    rows = layout_of(release.shown.value, is_histogram=True, query=release.query).counts
    assert [(row.name, row.count, row.bar) for row in rows] == [("a", "0", 0), ("b", "2", 100)]


def test_a_picture_draws_zero_and_says_so() -> None:
    pytest.importorskip("matplotlib")
    figure = plots.counts({"a": -7, "b": 5})
    axes: Any = figure.axes[0]
    assert sorted(bar.get_width() for bar in axes.patches) == [0, 5]
    assert axes.get_xlabel() == "count (drawn as 0 if below it)"
    assert plots.counts({"a": 7, "b": 5}).axes[0].get_xlabel() == "count"


@pytest.mark.parametrize(
    ("mean", "count", "words"),
    [
        (Decimal("41.06"), 4000, "41.06, from about 4,000 numbers"),
        (7, 1, "7, from about 1 number"),
        (dt.date(2024, 5, 1), 500, "2024-05-01, from about 500 dates"),
        (dt.date(2024, 5, 1), 1, "2024-05-01, from about 1 date"),
        (dt.datetime(2024, 5, 1, 6), 500, "2024-05-01 06:00:00, from about 500 times"),
        (None, 0, "no answer: 0 numbers were found (with noise)"),
        (None, -12, "no answer: 0 numbers were found (with noise)"),
    ],
)
def test_a_mean_says_how_many_numbers_it_is_from(
    mean: Any, count: int, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """`41.059387 (4000)` and `None (0)` said nothing about their second number."""
    assert number_with_size(mean, count) == words
    alone = Release(
        mean, PURE, "geometric", query=sentence_of({"verb": "mean", "column": "x"}), counts=count
    )
    grouped = Release(
        {"Bern": mean},
        PURE,
        "geometric",
        query=sentence_of({"verb": "mean", "column": "x"}),
        counts={"Bern": count},
    )
    for release, line in ((alone, words), (grouped, f"Bern: {words}")):
        show_release(release, {}, as_json=False)
        assert capsys.readouterr().out == line + "\n"
        assert words in release._repr_html_()
        page = report(release, tmp_path / "page.html").read_text(encoding="utf-8")
        assert words in page
        assert release.as_dict()["value"] is not words
    assert words in str(alone)
    assert layout_of(mean, count, query=alone.query).one == words
    [(_, laid)] = layout_of({"Bern": mean}, {"Bern": count}, query=alone.query).groups
    assert laid.one == words


@pytest.mark.filterwarnings("ignore::UserWarning")  # of a large epsilon
def test_the_mean_of_texts_says_that_no_number_was_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("x\n" + "Bern\n" * 50, encoding="utf-8")
    ask = ["mean", str(tmp_path / "t.csv"), "x", "--minimum", "0", "--maximum", "9"]
    assert run([*ask, "--epsilon", "1000"]) == 0
    assert capsys.readouterr().out == "no answer: 0 numbers were found (with noise)\n"
    assert run([*ask, "--epsilon", "1000", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert (plain["value"], plain["counts"]) == (None, 0)
    assert run(["--language", "zh", *ask, "--epsilon", "1000"]) == 0
    assert "没有答案" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:no bounds")
@pytest.mark.parametrize(
    "ask",
    [
        lambda: discreet.median([1234567] * 20000, epsilon=5),
        lambda: discreet.quantile([1234567] * 20000, alpha="1/10", epsilon=5),
        lambda: discreet.quantiles([1234567] * 20000, alphas=["1/4", "1/2"], epsilon=5),
        lambda: discreet.median(TABLE, "x", by="city", groups=["Bern"], epsilon=5),
        lambda: discreet.median([1234567] * 20000, candidates=discreet.Decimals(5), epsilon=5),
        lambda: discreet.bounds([1234567] * 20000, candidates=discreet.Decimals(2), epsilon=5),
    ],
)
def test_an_answer_to_few_digits_says_so(
    ask: Callable[[], Release], capsys: pytest.CaptureFixture[str]
) -> None:
    """The median of 1,234,567 alone is 1,230,000 without bounds, as exact as it looks."""
    release = ask()
    said = f"to {release.digits} digits"
    assert release.digits in (2, 3, 5)
    for text in (release.promise, str(release), repr(release), release._repr_html_()):
        assert said in text
    assert release.as_dict()["digits"] == release.digits
    show_release(release, {}, as_json=False)
    assert said in capsys.readouterr().err
    assert read_release(json.loads(json.dumps(write_release(release)))).promise == release.promise


def test_an_answer_among_named_candidates_says_nothing_of_digits() -> None:
    release = discreet.median([1, 2, 3], candidates=discreet.Grid(0, 5), epsilon=5)
    assert release.digits is None
    assert "digits" not in release.promise
    assert "digits" not in release.as_dict()


DAY = dt.date(2024, 2, 29)
ALIKE: list[tuple[list[Any], list[str]]] = [
    ([1, "1"], ["integer", "text"]),
    ([DAY, "2024-02-29"], ["date", "text"]),
    ([True, "True"], ["truth", "text"]),
    ([Decimal("1.5"), "1.5"], ["decimal", "text"]),
]
"""Keys that differ, and have one text."""

BY_KEY: dict[str, Callable[[list[Any]], Release]] = {
    "listed": lambda keys: discreet.counts(
        _objects(keys * 500), "x", candidates=keys, epsilon=9
    ),
    "private": lambda keys: discreet.counts(_objects(keys * 500), "x", delta="1e-8", epsilon=9),
    "by": lambda keys: discreet.mean(
        _objects(keys * 500), "y", minimum=0, maximum=9, by="x", groups=keys, epsilon=9
    ),
    "private groups": lambda keys: discreet.mean(
        _objects(keys * 500), "y", minimum=0, maximum=9, by="x", groups="private", epsilon=9, delta="1e-8",
    ),
}  # fmt: skip


def _objects(keys: list[Any]) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"x": pandas.Series(keys, dtype=object), "y": [1.0] * len(keys)})


@pytest.mark.parametrize("way", BY_KEY)
@pytest.mark.parametrize(("keys", "kinds"), ALIKE)
def test_json_keeps_keys_apart_that_have_one_text(
    way: str, keys: list[Any], kinds: list[str], tmp_path: Path
) -> None:
    """{1: 100, "1": 200} was {"1": 200}: a released number that was paid for was gone."""
    if "private" in way and True in keys:
        return  # truths among objects are no private keys
    release = BY_KEY[way](keys)
    assert len(release.value) == len(keys)
    plain: Any = json.loads(json.dumps(release.as_dict()))
    for part, answers in (("value", release.value), ("counts", release.counts)):
        if answers is not None:
            written = {one["type"]: one["value"] for one in plain[part]}
            assert {*written} == {*kinds}
            for key, kind in zip(keys, kinds, strict=True):
                assert written[kind] == answers[key] or written[kind] == str(answers[key])
    page = report(release, tmp_path / "page.html").read_text(encoding="utf-8")
    assert page
    if release.counts is None:
        assert str(release.count_table()).count("'") == 2  # the text is in quotes


def test_keys_of_different_texts_are_an_object() -> None:
    for keys in (["a", "b"], [1, 2], [1, "b"], [Decimal("0.5"), 1]):
        answers = dict.fromkeys(keys, 3)
        assert json_value(answers) == {str(key): 3 for key in keys}
    nested = json_value({"Bern": {1: 5, "1": 6}, "Genf": {1: 7, 2: 8}})
    assert nested == {
        "Bern": [
            {"key": 1, "type": "integer", "value": 5},
            {"key": "1", "type": "text", "value": 6},
        ],
        "Genf": {"1": 7, "2": 8},
    }
