"""No cell of the data is in what a question says or leaves behind, whatever is wrong with it or the data."""

import io
import logging
import shlex
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.cli import run
from discreet.errors import UnreadableFile
from discreet.tables.engines import csv_files

from . import canary_matrix as matrix
from .canary_matrix import (
    FAULTS,
    OF_FILES,
    OF_TABLES,
    QUESTIONS,
    VERBS,
    WAYS,
    leak_of,
    left_in,
    made,
)

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with all that is written beside the data."""
    written = tmp_path / "written"
    for name in ("state", "temporary"):
        (written / name).mkdir(parents=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(written / "state"))
    monkeypatch.setattr(tempfile, "tempdir", str(written / "temporary"))
    monkeypatch.chdir(written)
    return written


def _one(verb: str, question: str, way: str, fault: str, folder: Path, number: int) -> None:
    folder.mkdir(parents=True)
    leak = leak_of(VERBS[verb], question, made(way, fault, folder), number)
    assert leak is None, f"{verb}, {question}, {way}, {fault}: {leak}"


def _cells(way: str, fault: str, folder: Path, places: Path, *, most: int) -> None:
    """Ask every verb about data, so many questions of each."""
    folder.mkdir()
    data, turn = made(way, fault, folder), WAYS.index((way, fault))
    for i, (name, verb) in enumerate(VERBS.items()):
        for j in range(most):
            question = QUESTIONS[(turn + i + j) % len(QUESTIONS)]
            leak = leak_of(verb, question, data, 31 * turn + 7 * i + j)
            assert leak is None, f"{name}, {question}: {leak}"
    assert not left_in(places)


_ONE_IN = 6
"""Of the faults of a way of giving files, so many are in every run, other ones of each way. The rest are proofs."""


def _in_a_run(way: str, fault: str) -> Any:
    """Return the case, as a proof if it is not in every run."""
    is_first = way in OF_TABLES or ([*OF_FILES].index(way) + FAULTS.index(fault)) % _ONE_IN == 0
    return pytest.param(
        way, fault, id=f"{way} | {fault}", marks=[] if is_first else pytest.mark.proof
    )


@pytest.mark.matrix
@pytest.mark.parametrize(("way", "fault"), [_in_a_run(*one) for one in WAYS])
def test_nothing_holds_a_cell(way: str, fault: str, tmp_path: Path, places: Path) -> None:
    """With one question a verb, which goes round."""
    _cells(way, fault, tmp_path / "data", places, most=1)


@pytest.mark.proof
@pytest.mark.parametrize(("way", "fault"), [pytest.param(*one, id=" | ".join(one)) for one in WAYS])
def test_nothing_holds_a_cell_in_all(way: str, fault: str, tmp_path: Path, places: Path) -> None:
    _cells(way, fault, tmp_path / "data", places, most=len(QUESTIONS))


_EACH = 3
"""Cells of a verb in every run."""
_DIAGONAL = [
    (verb, QUESTIONS[(5 * i + j) % len(QUESTIONS)], *WAYS[(83 * j + 97 * i) % len(WAYS)])
    for i, verb in enumerate(VERBS)
    for j in range(_EACH)
]


@pytest.mark.parametrize("verb", VERBS)
def test_the_diagonal_holds_no_cell(verb: str, tmp_path: Path, places: Path) -> None:
    mine = [one for one in _DIAGONAL if one[0] == verb]
    for number, (_, question, way, fault) in enumerate(mine):
        _one(verb, question, way, fault, tmp_path / f"data{number}", number)
    assert not left_in(places)


_COMMANDS = [
    "count FILE",
    "count FILE city --where \"age = 'old'\"",
    "counts FILE city --candidates Bern,Basel",
    "counts FILE city --delta 1e-9 --other 1/10",
    "counts FILE nam --candidates Bern,Basel",
    "keys FILE city --delta 1e-9",
    "sum FILE age --minimum 0 --maximum 100",
    "mean FILE agee --minimum 0 --maximum 100",
    "median FILE age --lo 0 --hi 100",
    "median FILE age --lo 0 --hi 100 --by gg --groups x",
    "quantiles FILE age --alphas 0.2,0.8 --lo 0 --hi 100",
    "best-price FILE age --hi 100",
    "bounds FILE age --privacy-unit whom",
    "mode FILE city --candidates Bern,Basel --json",
    "top-k FILE city --k 1 --method peeling --candidates Bern,Basel",
    "profile FILE --delta 1e-9",
    "profile FILE --delta 1e-9 --json",
    "check people",
    "check people --not-private",
    "median people age",
    "sql 'SELECT city, count(*) FROM people GROUP BY city'",
    "ledger show budget.db",
    "describe FILE",
    "describe FILE --header",
]
_ROUTES = ["path", "folder", "pattern", "standard input", "described with names"]
_DESCRIPTION = """
ledger = "budget.db"
[datasets.people]
source = "{source}"
{form}
budget = {{ epsilon = "1000", delta = "1e-3", delta_for = "questions" }}
columns.city = {{ type = "string", enum = ["Bern", "Basel"] }}
columns.age = {{ type = "integer", minimum = 0, maximum = 100 }}
"""


def _source(route: str, fault: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a command is given for FILE, where a described dataset is beside."""
    way = {"described with names": "names", "standard input": "path"}.get(route, route)
    folder.mkdir()
    data = made(way, fault, folder)
    form = f"csv.names = {matrix.NAMES}" if way == "names" else ""
    source = next(str(one) for one in folder.iterdir() if one.is_file())
    Path("discreet.toml").write_text(_DESCRIPTION.format(source=source, form=form))
    if route == "standard input":
        content = io.BytesIO(Path(source).read_bytes())
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(content))
        return "-"
    return "people" if way == "names" else str(data)


def _said(words: list[str]) -> str:
    """Return all that a command prints."""
    streams = sys.stdout, sys.stderr
    printed = [io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in streams]
    sys.stdout, sys.stderr = printed
    try:
        with matrix.listening() as heard:
            run(words)
    finally:
        sys.stdout, sys.stderr = streams
    for stream in printed:
        stream.flush()
    heard += [stream.buffer.getvalue().decode() for stream in printed]
    return "\n".join(heard)


def _command(
    line: str, route: str, fault: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = _source(route, fault, folder, monkeypatch)
    words = [source if word == "FILE" else word for word in shlex.split(line)]
    if words[0] in ("check", "sql") or "people" in words:
        _said(["ledger", "open", "people"])
    if words[0] not in ("ledger", "describe", "sql") and "--not-private" not in words:
        words += ["--epsilon", "1"]
    said = _said(words)
    assert not matrix.tells(said), f"{words}, {route}, {fault}: {said}"


@pytest.mark.matrix
@pytest.mark.one_in(4)
@pytest.mark.parametrize("fault", FAULTS)
def test_no_command_prints_a_cell(
    fault: str, tmp_path: Path, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i, line in enumerate(_COMMANDS):
        for route in (_ROUTES[i % 5], _ROUTES[(i + 2) % 5]):
            _command(line, route, fault, tmp_path / f"{i} {route}", monkeypatch)
            assert not left_in(places), line


@pytest.mark.parametrize("route", _ROUTES)
def test_commands_of_the_diagonal_print_no_cell(
    route: str, tmp_path: Path, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    i = _ROUTES.index(route)
    for j, line in enumerate(_COMMANDS[i::12]):
        _command(line, route, FAULTS[(9 * j + 5 * i) % len(FAULTS)], tmp_path / str(j), monkeypatch)
    assert not left_in(places)


def _first_line(*_: Any) -> Any:
    raise UnreadableFile(f"a.csv begins with {matrix.CELLS[:9]!r}")


def _with_cause(*_: Any) -> Any:
    raise UnreadableFile("a.csv cannot be read") from ValueError(matrix.CELLS)


def _noted(*_: Any) -> Any:
    error = UnreadableFile("a.csv cannot be read")
    error.add_note(matrix.CELLS)
    raise error


def _with_an_attribute(*_: Any) -> Any:
    error = UnreadableFile("a.csv cannot be read")
    error.row = matrix.CELLS  # type: ignore[attr-defined]
    raise error


def _warning(*_: Any) -> Any:
    warnings.warn(matrix.CELLS, stacklevel=1)
    raise UnreadableFile("a.csv cannot be read")


def _logging(*_: Any) -> Any:
    logging.getLogger("discreet.own").debug("row %s", matrix.CELLS)
    raise UnreadableFile("a.csv cannot be read")


@pytest.mark.parametrize(
    "leak", [_first_line, _with_cause, _noted, _with_an_attribute, _warning, _logging]
)
def test_a_leak_is_found(leak: Any) -> None:
    class Leaking:
        column = None

        def ask(self, *_: Any) -> Any:
            leak()

    verb: Any = Leaking()
    assert leak_of(verb, "right", None) is not None


def test_what_is_written_is_found(places: Path) -> None:
    assert not left_in(places)
    (places / "temporary" / "copy").write_bytes(matrix.CELLS.encode("utf-16"))
    assert left_in(places)


def test_a_table_in_a_frame_is_found() -> None:
    assert matrix.is_private(matrix.OF_TABLES["pandas"](Path()))
    assert matrix.is_private(70977003)
    assert not matrix.is_private("Bern")


def test_a_first_row_that_is_taken_for_a_header_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks like one in all files without a header, or nothing would show it."""
    read = csv_files.read_head
    monkeypatch.setattr(
        csv_files, "read_head", lambda file, form: read(file, replace(form, names=None))
    )
    data = made("names", "sound", tmp_path)
    assert leak_of(VERBS["counts"], "wrong column", data) is not None
