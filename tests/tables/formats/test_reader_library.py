"""The compiled reader is used only where it is that of these sources."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.tables.formats import reader_library
from discreet.tables.formats.reader_library import SOURCE_FOLDER, open_reader

needs_kernel = pytest.mark.skipif(open_reader() is None, reason="the reader is not built")


@pytest.fixture(autouse=True)
def opened_again() -> Iterator[None]:
    open_reader.cache_clear()
    yield
    open_reader.cache_clear()


@needs_kernel
def test_all_functions_are_there() -> None:
    functions = open_reader()
    assert functions is not None
    names = {"open", "form", "read", "end", "records", "take", "close", "elements", "source"}
    assert {*functions} == names


def test_a_variable_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KERNEL", "0")
    assert open_reader() is None


@pytest.mark.parametrize("how", ["absent", "no library"])
def test_without_one_there_are_no_functions(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "no library":
        (tmp_path / "_reader.so").write_bytes(b"no library")
    monkeypatch.setattr(reader_library, "SOURCE_FOLDER", str(tmp_path))
    assert open_reader() is None


@needs_kernel
def test_one_of_other_sources_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in Path(SOURCE_FOLDER).glob("*reader*"):
        if file.suffix in (".c", ".so"):
            shutil.copy(file, tmp_path)
    monkeypatch.setattr(reader_library, "SOURCE_FOLDER", str(tmp_path))
    assert open_reader() is not None
    open_reader.cache_clear()
    with (tmp_path / "reader.c").open("a") as source:
        source.write("/* of later */")
    assert open_reader() is None
