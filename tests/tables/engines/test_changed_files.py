"""A text file that another program writes while an answer reads it: a second pass is refused and costs nothing."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import UnreadableFile
from discreet.tables.engines.column import Source

LINES = b"a,u\n1,x\n2,y\n"


def append(file: Path) -> None:
    with file.open("ab") as out:
        out.write(b"2,z\n")


def rewrite(file: Path) -> None:
    """Write other records of the same size in place."""
    before = file.stat()
    file.write_bytes(b"a,u\n2,x\n1,y\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


def put_in_place(file: Path) -> None:
    """Put another file of the same size and time in place."""
    before = file.stat()
    other = file.with_name("other")
    other.write_bytes(b"a,u\n2,x\n1,y\n")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(file)


CHANGES: dict[str, Callable[[Path], None]] = {
    "appended": append,
    "rewritten": rewrite,
    "put in place": put_in_place,
    "deleted": Path.unlink,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl"])
def test_a_second_pass_is_over_the_same_file_or_refused(
    name: str, change: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    content = b'{"a": 1}\n{"a": 2}\n' if name.endswith("l") else LINES
    file.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    source = Source(file, "a")
    assert source.tally(["1", "2"]) == source.tally(["1", "2"]) == [[1, 1]]
    CHANGES[change](file)
    with pytest.raises(UnreadableFile) as refused:
        source.tally(["2", "1"])
    assert "another program changed it while it was read" in str(refused.value)


@pytest.mark.parametrize("change", ["appended", "put in place"])
def test_what_is_refused_so_costs_nothing(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, tally = tmp_path / "t.csv", Source.tally
    file.write_bytes(LINES)

    def changing(source: Source, candidates: Any) -> Any:
        source.table.type()
        CHANGES[change](file)
        return tally(source, candidates)

    ledger = discreet.Ledger(tmp_path / "b.db")
    ledger.open("people", epsilon=1)
    session = ledger.session("people")
    with monkeypatch.context() as patch:
        patch.setattr(Source, "tally", changing)
        with pytest.raises(UnreadableFile):
            session.counts(file, "a", candidates=["1", "2"], epsilon=1)
    assert ledger.budgets()[0].spent.epsilon == 0
    assert session.counts(file, "a", candidates=["1", "2"], epsilon=1).charged
