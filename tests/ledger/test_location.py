"""Where a ledger may be: files for their owner, names that files can have, and passwords that are never told."""

import os
import stat
from pathlib import Path

import pytest

from discreet.errors import InvalidArgument, LedgerUnwritable
from discreet.ledger import Ledger


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_a_ledger_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Ledger(tmp_path / "budget.db").open("adult", epsilon=1)
    finally:
        os.umask(before)
    assert {mode_of(path) for path in tmp_path.iterdir()} == {0o600}
    (tmp_path / "budget.db").chmod(0o640)  # the owner lets a group read it
    Ledger(tmp_path / "budget.db").open("adult", epsilon=1)
    assert mode_of(tmp_path / "budget.db") == 0o640


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "budget\0.db"])
def test_names_that_no_file_can_have(name: str) -> None:
    with pytest.raises(InvalidArgument):
        Ledger(name)


@pytest.mark.parametrize(
    "query", ["password=secret", "sslpassword=secret", "password=x&password=secret"]
)
def test_a_password_in_a_query_is_never_told(query: str) -> None:
    with pytest.raises(LedgerUnwritable) as failed:
        Ledger(f"postgresql://me@/db?host=/nowhere&{query}")
    assert "secret" not in str(failed.value)
    assert "password=hidden" in str(failed.value)
    assert "/nowhere" in str(failed.value).replace("%2F", "/")


@pytest.mark.parametrize(
    "where",
    ["postgresql:/me:secret@host/db", "postgres:me:secret@host", "postgresql+psycopg:/x:secret@h"],
)
def test_a_url_with_a_slash_too_few_is_not_quoted_as_a_path(where: str) -> None:
    with pytest.raises(InvalidArgument, match="It has the form") as refused:
        Ledger(where)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("where", ["postgresql", "sqlite.db", "postgresql-budget.db"])
def test_files_may_be_named_like_databases(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Ledger(where).open("adult", epsilon=1)
    assert (tmp_path / where).is_file()
