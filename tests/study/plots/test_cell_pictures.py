"""Pictures of cells show each count in its place, whatever its values are called."""

from typing import Any

import pytest

pytest.importorskip("matplotlib", reason="the extra plots is not installed")

from discreet import plots
from discreet.base.messages import using_language
from discreet.errors import InvalidArgument
from discreet.study.plots.cell_pictures import are_cells


def shades(figure: Any) -> dict[tuple[int, int], float]:
    """Return how opaque the squares are, by row and column."""
    [axes] = figure.axes
    return {
        (int(one.get_y() + 0.5), int(one.get_x() + 0.5)): one.get_alpha() for one in axes.patches
    }


def test_values_that_look_alike_are_rows_of_their_own() -> None:
    long = "x" * 100
    figure = plots.counts({(1, long + "a"): 1, ("1", long + "b"): 2, ("2", long + "a"): 4})
    assert shades(figure) == {
        (0, 0): pytest.approx(0.55 / 4), (1, 1): pytest.approx(0.55 / 2), (2, 0): pytest.approx(0.55),
    }  # fmt: skip
    [axes] = figure.axes
    assert [one.get_text() for one in axes.get_yticklabels()] == ["1", "'1'", "'2'"]


def test_every_mark_has_a_title_and_nothing_acts() -> None:
    hostile = "</svg><script>alert(1)</script>\u202e"
    figure = plots.counts({(hostile, "$x$"): 1234, ("b", "c"): -5}, names=[hostile, "n"])
    svg = figure.to_svg()
    assert "<script" not in svg
    assert "\u202e" not in svg
    assert "b, c: 0" in svg
    assert "1,234" in svg
    assert "count (drawn as 0 if below it): the strongest colour is 1,234" in svg
    assert "opacity: 0.55" in svg  # over the colour that a dark page replaces


def test_many_values_are_cut_to_the_first_ones() -> None:
    figure = plots.counts({(row, column): 1 for row in range(50) for column in range(50)})
    assert len(shades(figure)) == 40 * 40
    assert not figure.axes[0].texts  # no room for numbers
    panels = plots.counts({(i, j, k): 1 for i in range(8) for j in range(8) for k in range(50)})
    assert len(panels.axes) == 36
    assert {len(axes.patches) for axes in panels.axes} == {40}


def test_cells_without_a_count_stay_empty() -> None:
    figure = plots.counts({("a", "x"): 0, ("b", "y"): 0})
    assert shades(figure) == {(0, 0): 0, (1, 1): 0}


@pytest.mark.parametrize(
    ("keys", "is_of_cells"),
    [
        ([("a", "b")], True), ([("a", "b", "c")], True), (["ab"], False), ([("a",)], False),
        ([("a", "b"), "ab"], False), ([("a", "b"), ("a", "b", "c")], False), ([(1, 2, 3, 4)], False), ([], False),
    ],
)  # fmt: skip
def test_which_keys_are_cells(keys: list[Any], is_of_cells: bool) -> None:
    assert are_cells(dict.fromkeys(keys, 1)) == is_of_cells


def test_no_error_quotes_a_value() -> None:
    with pytest.raises(InvalidArgument) as refused:
        plots.counts({("SECRET", "b"): "SECRET"})  # type: ignore[dict-item]
    assert "SECRET" not in str(refused.value)


def test_the_title_is_in_the_language_of_the_reader() -> None:
    with using_language("zh"):
        [axes] = plots.counts({("a", "b"): 3}).axes
    assert axes.get_title() == "计数：颜色最深处为 3"
