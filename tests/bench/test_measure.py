"""The figures of the source: one that grows is reported, and a circle is found."""

from pathlib import Path

import pytest
from bench.measure import (
    BENCH,
    SOURCE,
    Fact,
    File,
    circles,
    facts,
    grown,
    length,
    lowered,
    of_bench,
    read,
)

FACTS = [Fact("names", "3", 3.0), Fact("length", "41", 41, 40), Fact("files", "7")]


def files(**texts: str) -> list[File]:
    """Return modules of a package."""
    return [File(Path(f"{name}.py"), text, Path()) for name, text in texts.items()]


@pytest.mark.parametrize(
    ("kept", "reported"),
    [
        ({"names": 3, "length": 41}, []),
        ({"names": 4, "length": 50}, []),
        ({"names": 2.99, "length": 41}, ["names: 3.00, and may be 2.99"]),
        ({"names": 3, "length": 38}, ["length: 41.00, and may be 38.00"]),
        ({"names": 3}, ["length: 41.00, and may be 40.00"]),
        ({"length": 41}, []),
    ],
)
def test_a_figure_that_grows_is_reported(kept: dict[str, float], reported: list[str]) -> None:
    assert grown(FACTS, kept) == reported


def test_figures_are_lowered_and_never_raised() -> None:
    assert lowered(FACTS, {"names": 2, "length": 50, "gone": 1}) == {"names": 2, "length": 41}
    assert lowered([Fact("share", "0.1", 0.101), Fact("circle", "0", 0)], {}) == {
        "share": 0.11, "circle": 0,
    }  # fmt: skip


def test_a_participle_raises_a_figure_and_a_term_of_the_field_does_not() -> None:
    def figures(name: str) -> dict[str, float]:
        text = f'"""A module."""\n\n\ndef count({name}: int) -> int:\n    """Return it."""\n    return {name}\n'
        more = f"def twice() -> int:\n    return {name}.{name}\n"
        measured = facts([File(SOURCE / "count.py", text + more)])
        return {fact.name: fact.value for fact in measured if fact.value is not None}

    before = figures("rows")
    assert (
        grown([Fact(name, "", value) for name, value in figures("bounded").items()], before) == []
    )
    worse = grown([Fact(name, "", value) for name, value in figures("found").items()], before)
    assert [line.partition(":")[0] for line in worse] == [
        "participles as names, per 1,000 lines", "of them of the first list",
    ]  # fmt: skip


def test_a_circle_is_found_wherever_the_import_stands() -> None:
    one = "def load():\n    from .two import name\n"
    assert set(circles(files(one=one, two="from .three import name", three="from . import one"))) == {
        "one", "two", "three",
    }  # fmt: skip
    assert circles(files(one=one, two="from .three import name", three="import one")) == []


def test_the_length_of_a_function_is_without_its_docstring() -> None:
    [file] = files(one='def load():\n    """Return.\n\n    More.\n    """\n    return 1\n')
    assert length(file.functions[0]) == 2


def test_the_benchmarks_are_measured_too() -> None:
    longest, circle = of_bench(read(BENCH))
    assert longest.value is not None
    assert 10 < longest.value <= 40
    assert circle.value == 0
    text = "def long():\n" + "    pass\n" * 41
    long, circle = of_bench(files(one=text + "from . import two\n", two="from . import one\n"))
    assert [fact.value for fact in (long, circle)] == [42, 3]
    assert len(grown([long, circle], {})) == 2
