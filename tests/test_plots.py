"""Pictures: what is drawn are the numbers of the law, and a file comes out."""

import datetime
import functools
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree

import pytest

import discreet
from discreet import Grid, plots
from discreet.errors import InvalidArgument, MissingPackage
from discreet.study.planning.distribution import Distribution

VOTES = {"tea": 310, "coffee": 322, "water": 245}
AGES = [3, 4, 4, 7, 9, 9, 9, 12]
TERMS: dict[str, Any] = {"sensitivity": 1, "monotonic": True}
GRID = Grid(0, 20, "1/4")


def votes(epsilon: Any = "1/10") -> Distribution:
    return discreet.distribution(VOTES, epsilon=epsilon, **TERMS)


def ages() -> Distribution:
    return discreet.distribution(discreet.median, AGES, candidates=GRID, epsilon=1)


def only(figure: Any) -> Any:
    (axes,) = figure.axes
    return axes


@functools.cache
def figures() -> dict[str, Any]:
    start = datetime.datetime(2025, 3, 1)
    points = [(start + datetime.timedelta(days=k), k / 4, 2) for k in range(5)]
    drawn = discreet.simulate(VOTES, epsilon="1/10", size=50, **TERMS)
    return {
        "list": votes().plot(answer="tea", draws=drawn),
        "grid": ages().plot(
            answer=7, draws=discreet.simulate(discreet.median, AGES, candidates=GRID, epsilon=1)
        ),
        "scores": votes().plot_scores(),
        "scores of a grid": ages().plot_scores(label="age in years"),
        "laws": plots.laws([votes(e).series() for e in ("1/100", "1/10")]),
        "laws on a grid": plots.laws([ages().series()] * 7),
        "draws": drawn.plot(),
        "no end": discreet.distribution(discreet.geometric, 3, sensitivity=1, epsilon=1).plot(),
        "curve": discreet.compare(VOTES, epsilons=["1/10", 1], **TERMS).plot(),
        "budget": plots.budget(points),
        "losses": plots.losses([0.5, -2, float("inf"), float("-inf")], 1),
        "lines": plots.lines({"a": ([1, 10_000], [3, 4])}, x="how many", y="how high", at=10),
        "histograms": plots.histograms({"a": [1, 2, 2], "b": [2, 3]}, bins=2),
        "one number": plots.histograms({"a": [1, 1]}),
        "budget by number": plots.budget([(1, 0, 1), (2, "1", 1)], unit="ρ"),
    }


@pytest.mark.parametrize("name", figures())
@pytest.mark.one_in(3)
def test_a_picture_can_be_saved_and_read(name: str, tmp_path: Path) -> None:
    figure = figures()[name]
    for suffix, first in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        file = tmp_path / f"picture{suffix}"
        figure.savefig(file)
        assert file.read_bytes().startswith(first)
        assert len(file.read_bytes()) > 3000
    axes = only(figure)
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert figure.get_facecolor() == axes.get_facecolor() == (1, 1, 1, 1)
    sizes = [text.get_fontsize() for text in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    assert min(sizes) >= 12


def test_pyplot_and_its_settings_are_left_alone() -> None:
    program = """
import sys
import matplotlib
import discreet
before = matplotlib.rcParams.copy()
discreet.distribution([1, 2], sensitivity=1, epsilon=1).plot()
assert "matplotlib.pyplot" not in sys.modules
assert matplotlib.rcParams.copy() == before
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_bars_are_as_long_as_the_probabilities() -> None:
    law = votes()
    axes = only(law.plot(answer="tea"))
    lengths = [bar.get_width() for bar in axes.patches]
    assert lengths == [law.pmf()["coffee"], law.pmf()["water"], law.pmf()["tea"]]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == list(VOTES)
    assert axes.patches[0].get_hatch() != axes.patches[2].get_hatch()
    drawn = discreet.simulate(VOTES, epsilon="1/10", size=500, **TERMS)
    axes = only(law.plot(draws=drawn))
    assert list(axes.lines[0].get_xdata()) == [drawn.frequencies().get(name, 0) for name in VOTES]
    axes = only(drawn.plot())
    drawn_shares = [drawn.frequencies().get(name, 0) for name in VOTES]
    assert [bar.get_width() for bar in axes.patches] == sorted(drawn_shares, reverse=True)
    axes = only(law.plot_scores())
    assert [bar.get_width() for bar in axes.patches] == list(VOTES.values())


def test_a_line_goes_through_the_probabilities_and_the_scores() -> None:
    law = ages()
    axes = only(law.plot(answer=7))
    xs, ys = axes.lines[0].get_data()
    assert list(xs) == sorted(xs)
    assert set(xs) >= {0, 3, 4, 7, 9, 12, 20}
    for x, y in zip(xs, ys, strict=True):
        assert y == law.pmf()[law.candidates[int(x * 4)]]
    assert list(axes.lines[1].get_xdata()) == [7, 7]
    low, high = axes.get_xlim()
    assert float(law.cdf(low)) < 1 / 1000
    assert float(law.cdf(high)) > 999 / 1000
    axes = only(law.plot_scores())
    for x, y in zip(*axes.lines[0].get_data(), strict=True):
        assert y == min(
            len(AGES) - 2 * sum(a < x for a in AGES), 2 * sum(a <= x for a in AGES) - len(AGES)
        )


def test_a_histogram_is_in_the_unit_of_the_law() -> None:
    question: dict[str, Any] = {"candidates": Grid(0, 20, "1/40"), "epsilon": 4}
    drawn = discreet.simulate(discreet.median, AGES, **question, size=400)
    axes = only(discreet.distribution(discreet.median, AGES, **question).plot(draws=drawn))
    seen = sum(bar.get_height() * bar.get_width() * 40 for bar in axes.patches)
    inside = [v for v in drawn.values if axes.patches[0].get_x() <= v]
    assert abs(seen - len(inside) / 400) < 1e-9


def test_prices_slope_in_the_picture_as_in_the_law() -> None:
    law = discreet.distribution(
        discreet.best_price, [1, 1, 1, 3], candidates=Grid(0, "3.5", "0.001"), epsilon=5
    )
    series = law.series()
    assert len(series.x) < 100
    for x, score in zip(series.x, series.scores, strict=True):
        assert abs(score - x * (4 * (x <= 1) or (x <= 3))) < 1e-9
    for x, chance in zip(series.x, series.chances, strict=True):
        assert chance == float(law.probability(str(x)))


def test_long_lists_of_text_are_drawn_by_place() -> None:
    names = {f"name {i}": i % 7 for i in range(60)}
    law = discreet.distribution(names, epsilon=1, **TERMS)
    drawn = discreet.simulate(names, epsilon=1, size=30, **TERMS)
    axes = only(law.plot(answer="name 6", draws=drawn))
    assert list(axes.lines[-1].get_xdata()) == [6, 6]
    assert len(drawn.plot().axes[0].patches) <= 40


def test_a_curve_and_a_budget_are_what_was_given() -> None:
    table = discreet.compare(VOTES, epsilons=["1/10", 1], **TERMS)
    axes = only(table.plot())
    for line, column in zip(axes.lines, zip(*table.errors, strict=True), strict=True):
        assert list(line.get_xdata()) == [0.1, 1]
        assert list(line.get_ydata()) == list(map(float, column))
    assert len({line.get_marker() for line in axes.lines}) == 2
    assert {line.get_linestyle() for line in axes.lines} == {"None"}, "few points are not joined"
    axes = only(plots.budget([(1, 0, 3), (2, "0.5", 3)]))
    spent, whole = axes.lines
    assert list(spent.get_ydata()) == [0, 0.5]
    assert list(whole.get_ydata()) == [3, 3]


def test_losses_are_as_long_as_they_are_and_infinite_ones_say_so() -> None:
    axes = only(plots.losses([0.5, -2.0, float("inf"), float("-inf")], 1.0))
    assert [bar.get_width() for bar in axes.patches[:4]] == [0.5, -2, 2.5, -2.5]
    assert [text.get_text().strip() for text in axes.texts] == ["∞", "∞"]
    assert sorted(line.get_xdata()[0] for line in axes.lines) == [-1, 0, 1]
    assert len(only(plots.losses([0.5], 1.0)).texts) == 0


def test_outlines_are_as_high_as_the_shares() -> None:
    axes = only(plots.histograms({"a": [0, 0, 0, 4], "b": [0, 4]}, bins=2))
    first, second = (dict(patch.get_xy().tolist()) for patch in axes.patches)
    assert (max(first.values()), max(second.values())) == (0.75, 0.5)
    styles = {patch.get_linestyle() for patch in axes.patches}
    assert len(styles) == 2


def test_lines_mark_a_place_and_name_large_numbers() -> None:
    axes = only(plots.lines({"a": ([0.5, 20_000], [3, 4])}, x="how many", y="how high", at=10))
    line, mark = axes.lines
    assert list(line.get_ydata()) == [3, 4]
    assert list(mark.get_xdata()) == [10, 10]
    ticks = ["1", "10", "100", "1,000", "10,000"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ticks
    axes = only(plots.lines({"a": ([0.08841, 0.1768, 8.841], [3, 4, 5])}, x="x", y="y"))
    ticks = ["0.1", "0.2", "0.5", "1", "2", "5"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ticks


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="same candidates"):
        plots.laws([votes().series(), ages().series()])
    with pytest.raises(InvalidArgument, match="same candidates"):
        plots.laws([])
    for several in ({}, {"a": [1], "b": []}):
        with pytest.raises(InvalidArgument, match="several must hold draws"):
            plots.histograms(several)
    with pytest.raises(InvalidArgument, match="points must not be empty"):
        plots.budget([])


def test_a_missing_matplotlib_is_named() -> None:
    hidden = mock.patch.dict(sys.modules, {"matplotlib": None})
    with hidden, pytest.raises(MissingPackage, match=r'pip install "discreet\[plots\]"'):
        votes().plot()


def test_series_and_laws_tell_nothing_in_their_repr() -> None:
    assert "310" not in repr(votes().series())


SVG = "{http://www.w3.org/2000/svg}"


def titles(figure: Any) -> list[str]:
    found = ElementTree.fromstring(figure.to_svg()).iter(f"{SVG}title")
    return [str(title.text) for title in found]


def test_every_mark_of_a_page_says_what_it_shows() -> None:
    law, drawn = votes(), discreet.simulate(VOTES, epsilon="1/10", size=50, **TERMS)
    said = titles(law.plot(answer="tea", draws=drawn))
    assert [text.partition(":")[0] for text in said] == ["coffee", "water", "tea", *VOTES]
    assert f"tea: {float(law.probability('tea')):.4g}" in said
    numbers = discreet.distribution({1: 0, 2: 3}, sensitivity=1, epsilon=1)
    assert [text.partition(":")[0] for text in titles(numbers.plot())] == ["1", "2"]
    assert titles(plots.lines({"a": ([1, 2], [3, 4])}, x="x", y="y")) == ["a, 1: 3", "a, 2: 4"]
    assert titles(plots.budget([(1, 0, 1), (2, "0.5", 1)], unit="ρ"))[1] == "2: ρ = 0.5 spent"
    assert titles(plots.losses([0.5], 1, labels=["<b>"])) == ["<b>: 0.5"]
    assert titles(plots.histograms({"a": [1, 2]})) == ["a, 2 draws"]


def test_a_page_can_hold_several_pictures() -> None:
    """No file is referred to, no name is given twice, and nothing of the page is changed."""
    for name, figure in figures().items():
        text = figure.to_svg()
        root = ElementTree.fromstring(text)
        assert root.get("role") == "img"
        assert root.get("aria-label")
        assert "<script" not in text
        assert "<?xml" not in text
        assert "prefers-color-scheme: dark" in text
        refers = [value for e in root.iter() for key, value in e.items() if key.endswith("href")]
        assert all(value.startswith("#") for value in refers)
        names = [e.get("id") for e in root.iter() if e.get("id")]
        assert len(names) == len({*names})
        assert all(f"#{one}" in text for one in names), name
        (style,) = root.iter(f"{SVG}style")
        selectors = [line for line in str(style.text).splitlines() if "{" in line]
        assert all(line.startswith((".discreet-figure", "@media")) for line in selectors)
    hostile = votes().plot_scores(label="</svg><script>alert(1)</script>").to_svg()
    assert "<script" not in hostile


def test_pictures_of_data_say_that_they_are_private_and_in_words_of_the_field() -> None:
    private = {"list", "grid", "scores", "scores of a grid", "laws", "laws on a grid", "draws",
               "no end", "histograms", "one number"}  # fmt: skip
    for name, figure in figures().items():
        title = only(figure).get_title()
        assert (name in private) == ("contains private data: do not publish" in title)
        words = f"{title} {only(figure).get_xlabel()} {only(figure).get_ylabel()}".split()
        assert not {"law", "laws", "spread", "stretch", "(private)"} & {*words}


def test_few_points_are_not_joined() -> None:
    few = plots.laws([discreet.distribution({1: 0, 5: 3}, sensitivity=1, epsilon=1).series()])
    assert [line.get_linestyle() for line in only(few).lines] == ["None"]
    many = [*range(1, 100)]
    (line,) = only(plots.lines({"a": (many, many)}, x="x", y="y")).lines
    assert (line.get_linestyle(), line.get_marker()) == ("-", "")


def test_few_candidates_in_view_are_stems_and_ticks_are_on_candidates() -> None:
    """Two candidates of 66 have nearly all the probability: eleven are in view, and no line says P(40.5)."""
    people = {"age": [40, 41] * 500 + [41]}
    question: dict[str, Any] = {"candidates": Grid(15, 80), "epsilon": 1}
    law = discreet.distribution(discreet.median, people, "age", **question)
    axes = only(law.plot())
    (line,) = axes.lines
    assert line.get_linestyle() == "None"
    assert list(line.get_xdata()) == list(range(35, 47))
    assert {float(tick).is_integer() for tick in axes.get_xticks()} == {True}
    assert axes.get_xlabel() == "age"
    assert only(law.plot_scores()).get_xlabel() == "age"
    drawn = discreet.simulate(discreet.median, people, "age", **question, size=9)
    assert only(drawn.plot()).get_ylabel() == "age"
    assert only(law.plot(label="years")).get_xlabel() == "years"


@pytest.mark.parametrize("end", [0, 20])
def test_eleven_candidates_are_in_view_at_the_ends_of_a_grid_too(end: int) -> None:
    law = discreet.distribution(discreet.median, [end] * 99, candidates=Grid(0, 20), epsilon=5)
    shown = [*only(law.plot()).lines[0].get_xdata()]
    assert shown == ([*range(11)] if end == 0 else [*range(10, 21)])


def test_more_candidates_are_steps_and_a_fine_slope_is_a_line() -> None:
    assert only(ages().plot()).lines[0].get_drawstyle() == "steps-mid"
    bids = {"candidates": Grid(0, "3.5", "0.001"), "epsilon": 5}
    fine = discreet.distribution(discreet.best_price, [1, 1, 1, 3], **bids)
    assert only(fine.plot()).lines[0].get_drawstyle() == "default"
    coarse = discreet.distribution(
        discreet.best_price, [1, 1, 1, 3], candidates=Grid(0, "3.5", "0.05"), epsilon=5
    )
    (line,) = only(coarse.plot()).lines
    assert line.get_drawstyle() == "steps-mid"
    assert len(line.get_xdata()) == 71, "every candidate has its own step"


def test_noise_is_called_by_its_name() -> None:
    for verb in (discreet.laplace, discreet.geometric):
        law = discreet.distribution(verb, 3, sensitivity=1, epsilon=1)
        assert f"exact distribution: {verb.__name__}, ε = 1" in only(law.plot()).get_title()


def test_candidates_that_were_never_drawn_have_a_bar_too() -> None:
    drawn = discreet.simulate({"a": 0, "b": 900}, sensitivity=1, epsilon=5, size=20)
    axes = only(drawn.plot())
    assert [bar.get_width() for bar in axes.patches] == [1, 0]


def test_a_comparison_on_data_says_that_it_is_private_and_tiny_errors_have_a_logarithmic_axis() -> (
    None
):
    table = discreet.compare(
        discreet.median, [1, 2, 3, 4, 5] * 200, candidates=Grid(0, 20), epsilons=["0.001", 1]
    )
    axes = only(table.plot())
    assert axes.get_yscale() == "log"
    assert "contains private data: do not publish" in axes.get_title()
    assert "contains private data: do not publish" in table._repr_html_()
    assert "< 1e-6" in str(table)
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert any(label.startswith("10⁻") for label in labels), labels
    assert only(discreet.compare(VOTES, epsilons=["1/10", 1], **TERMS).plot()).get_title()


def test_texts_with_dollars_are_texts() -> None:
    figure = discreet.distribution({"$5 to $9": 1, "$^{": 2}, sensitivity=1, epsilon=1).plot()
    assert "$5 to $9: " in titles(figure)[0]


def test_a_figure_is_one_of_matplotlib_and_can_be_pickled() -> None:
    figure = votes().plot()
    again = pickle.loads(pickle.dumps(figure))
    assert titles(again) == titles(figure)
    data, size = figure._repr_png_()
    assert data.startswith(b"\x89PNG")
    assert size == {"width": 768, "height": round(96 * figure.get_size_inches()[1])}


def test_chinese_candidates_are_drawn_in_a_font_that_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from matplotlib.text import Text

    from discreet.study.plots import figure as module

    monkeypatch.setattr(module, "_FONTS_WITH_HAN", ("no such font", "DejaVu Serif", "DejaVu Sans"))
    module._font_with_han.cache_clear()
    law = discreet.distribution({"茶": 3, "tea": 2}, sensitivity=1, epsilon=1)
    figure = law.plot(label="饮料")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that no font here has them
        figure.to_svg()
    module._font_with_han.cache_clear()
    fonts = {
        text.get_text(): text.get_fontfamily()
        for text in figure.findobj(Text)
        if isinstance(text, Text)
    }
    assert fonts["茶"] == fonts["饮料"] == ["sans-serif", "DejaVu Serif"]
    assert fonts["tea"] == ["sans-serif"]
