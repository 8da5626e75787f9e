"""Charts of reports: what is drawn are the numbers, and all of it is inside the picture and readable."""

import itertools
import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import pytest

import discreet
from discreet import Grid
from discreet.study.planning.distribution import Distribution
from discreet.study.reports.charts import _WIDTH, draw_budget, draw_curve, draw_law, draw_losses

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "</text><script>alert(1)</script>"
START = datetime(2026, 11, 23, 9, 30, tzinfo=UTC)


def parse(chart: str) -> ElementTree.Element:
    return ElementTree.fromstring(chart)


def shapes(chart: str, kind: str) -> list[dict[str, str]]:
    return [dict(e.items()) for e in parse(chart).iter() if e.get("class") == kind]


def titles(chart: str) -> list[str]:
    return [str(title.text) for title in parse(chart).iter(f"{SVG}title")]


def texts(chart: str) -> list[str]:
    return [str(text.text) for text in parse(chart).iter(f"{SVG}text")]


def votes() -> Distribution:
    names = {"tea": 3, EVIL: 1, "茶" * 30: 2}
    return discreet.distribution(names, sensitivity=1, monotonic=True, epsilon=1)


def ages(step: Any, epsilon: Any = 1) -> Distribution:
    people = {"age": [40, 41] * 50}
    grid = Grid(15, 80, step)
    return discreet.distribution(discreet.median, people, "age", candidates=grid, epsilon=epsilon)


def spread() -> Distribution:
    grid = Grid(15, 80, "1/10")
    return discreet.distribution(discreet.median, [*range(20, 60)], candidates=grid, epsilon=1)


def budget(apart: timedelta) -> str:
    points = [(START + i * apart, Fraction(i, 2), Fraction(3)) for i in range(4)]
    return draw_budget(points, "ε")


CHARTS = {
    "names": draw_law(votes().series(), "drink"),
    "stems": draw_law(ages(1).series(), "age"),
    "steps": draw_law(spread().series(), "age"),
    "losses": draw_losses([0.5, -2, float("inf"), float("-inf")], 1),
    "curve": draw_curve(
        [(0.01 * i, 5 / i) for i in range(1, 80)],
        name="exponential",
        abscissa="ε",
        ordinate="error",
        at=0.2,
    ),
    "budget": budget(timedelta(days=9)),
    "one moment": budget(timedelta()),
}


@pytest.mark.parametrize("name", CHARTS)
def test_everything_is_inside_and_has_words(name: str) -> None:
    root = parse(CHARTS[name])
    width, height = map(int, root.attrib["viewBox"].split()[2:])
    assert width == _WIDTH
    assert root.get("role") == "img"
    assert len(root.attrib["aria-label"]) > 5
    for element in root.iter():
        for key, value in element.items():
            end = {"x": width, "x1": width, "x2": width, "cx": width,
                   "y": height, "y1": height, "y2": height, "cy": height}.get(key)  # fmt: skip
            assert end is None or 0 <= float(value) <= end, (element.tag, key, value)
        places = [pair.split(",") for pair in element.get("points", "").split()]
        assert all(0 <= float(x) <= width and 0 <= float(y) <= height for x, y in places)
    assert titles(CHARTS[name])


@pytest.mark.parametrize("name", CHARTS)
def test_nothing_is_loaded_and_nothing_runs(name: str) -> None:
    chart = CHARTS[name]
    assert "<script" not in chart
    assert not re.search(r"href|url\(|@import", chart)
    assert "prefers-color-scheme: dark" in chart
    assert not re.search("nan|inf", chart)


def test_bars_are_as_long_as_the_probabilities() -> None:
    law = votes()
    lengths = [float(bar["width"]) for bar in shapes(CHARTS["names"], "bar")]
    chances = [*law.pmf().values()]
    for length, chance in zip(lengths, chances, strict=True):
        assert length / lengths[0] == pytest.approx(chance / chances[0], abs=1e-3)
    assert titles(CHARTS["names"])[0] == f"tea: {law.pmf()['tea']:.4g}"
    assert "contains private data: do not publish" in texts(CHARTS["names"])


def test_few_candidates_are_stems_and_many_are_steps() -> None:
    few = shapes(CHARTS["stems"], "stem")
    assert len(few) == len(shapes(CHARTS["stems"], "dot")) >= 11
    assert "41: 0.5" in titles(CHARTS["stems"])
    assert texts(CHARTS["stems"])[-1] == "age"
    assert not shapes(CHARTS["stems"], "line")
    (line,) = shapes(CHARTS["steps"], "line")
    corners = [tuple(map(float, pair.split(","))) for pair in line["points"].split()]
    for (x, y), (next_x, next_y) in itertools.pairwise(corners):
        assert x == next_x or y == next_y, "no line slopes"


def test_losses_that_are_infinite_say_so_and_the_claim_is_dashed() -> None:
    assert texts(CHARTS["losses"]).count("∞") == 2
    assert len(shapes(CHARTS["losses"], "claim")) == 2
    assert titles(CHARTS["losses"])[1] == "1: -2"


def test_a_short_budget_says_which_day_it_was() -> None:
    short = texts(budget(timedelta(seconds=20)))
    assert "time of day, from 2026-11-23 on (UTC)" in short
    assert {"09:30:00", "09:30:30", "09:31:00"} <= {*short}
    assert {"2026-11-23", "2026-12-20"} <= {*texts(CHARTS["budget"])}
    spent = titles(CHARTS["budget"])
    assert f"{START + timedelta(days=9)}: ε = 0.5 spent" in spent


def test_names_in_markup_are_text() -> None:
    assert f"{EVIL[:24]}" in "".join(texts(CHARTS["names"]))
