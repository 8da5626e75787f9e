"""Chinese is wrapped by its width, and no line begins with a mark."""

import textwrap

import pytest

from discreet.base.count_tables import text_width
from discreet.base.wide_letters import with_marks, without_marks

TEXT = (
    "发布一列中最常见的值（或与它几乎同样常见的一个）。运行“discreet help 命令”，查看 --epsilon、"
    "--delta 的帮助；越小，保护越强。Latin words between，然后是中文。"
)


@pytest.mark.parametrize("width", range(12, 80))
def test_lines_fit_and_begin_with_no_mark(width: int) -> None:
    lines = without_marks(textwrap.fill(with_marks(TEXT), width)).splitlines()
    assert max(map(text_width, lines)) <= max(width + 1, 17), "a word stays in one line"
    assert all(line[0] not in "，。；、）”" and line[-1] not in "（“" for line in lines)
    assert "".join(lines).replace(" ", "") == TEXT.replace(" ", "")


def test_marks_are_removed_and_english_has_none() -> None:
    assert without_marks(with_marks(TEXT)) == TEXT
    english = "Release the most common value of a column."
    assert with_marks(english) == english == without_marks(english)
    assert with_marks("") == without_marks("") == ""


def test_a_marked_text_is_as_long_as_it_is_wide() -> None:
    assert len(with_marks(TEXT)) == text_width(TEXT)
