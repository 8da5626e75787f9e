"""Every error of the tree is raised, and none of them tells anything private."""

import errno
import logging
import pickle
import sqlite3
import sys
import warnings
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sqlalchemy import event

import discreet
from discreet import errors
from discreet.mechanisms.testing import ScriptedBits
from discreet.service.asking.tokens import Tokens
from discreet.tables.engines.engine_errors import needing, quietly

from .ledgers import bill

# The data below are made of these; no message may hold them.
SECRET_TEXT, SECRET_NUMBER = "Xylophagous", 271828182
SECRETS = (SECRET_TEXT, str(SECRET_NUMBER), str(-SECRET_NUMBER))


def one(scores: Any, **terms: Any) -> Any:
    return discreet.select(scores, **{"sensitivity": 1, "epsilon": 1, **terms})


def mode(data: Any, column: str = "c", candidates: Any = ("a", "b"), **terms: Any) -> Any:
    return discreet.mode(data, column, candidates=candidates, **{"epsilon": 1, **terms})


class Failing(list[Any]):
    """A list that raises what it holds."""

    def __iter__(self) -> Any:
        raise RuntimeError(SECRET_TEXT)


PRIVATE_SCORES = [SECRET_NUMBER, -SECRET_NUMBER]
FRAMES = [pl.DataFrame({"c": [SECRET_TEXT]}), pd.DataFrame({"c": [SECRET_TEXT]})]
CASES: list[tuple[type[errors.DiscreetError], Callable[[Path], Any]]] = [
    (errors.InvalidArgument, lambda _: one(PRIVATE_SCORES, sensitivity=None)),
    (errors.InvalidArgument, lambda _: one(PRIVATE_SCORES, epsilon=None)),
    (errors.InvalidArgument, lambda _: one(PRIVATE_SCORES, rho=1)),
    (errors.InvalidNumber, lambda _: one(PRIVATE_SCORES, epsilon=0)),
    (errors.InvalidNumber, lambda _: one(PRIVATE_SCORES, sensitivity=-1)),
    (errors.InvalidNumber, lambda _: one(PRIVATE_SCORES, size=0)),
    (errors.InvalidCandidates, lambda _: one(PRIVATE_SCORES, candidates=["a", "a"])),
    (errors.InvalidCandidates, lambda _: one({"a": SECRET_NUMBER}, candidates=["a"])),
    (errors.InvalidDescription, lambda _: discreet.Dataset([SECRET_TEXT], {"c": {"typ": "string"}})),
    (errors.UnknownName, lambda _: one(PRIVATE_SCORES, mechanism="none")),
    (errors.UnreadableArgument, lambda _: one(PRIVATE_SCORES, candidates=Failing())),
    (errors.UnreadableArgument, lambda _: one(Failing())),
    (errors.InvalidScores, lambda _: one(PRIVATE_SCORES, candidates=["a"])),
    (errors.InvalidScores, lambda _: one([*PRIVATE_SCORES, float("nan")])),
    (errors.InvalidScores, lambda _: one(np.array([SECRET_NUMBER, np.inf]))),
    (errors.InvalidScores, lambda _: one([*PRIVATE_SCORES, SECRET_TEXT])),
    (errors.InvalidScores, lambda _: one([*PRIVATE_SCORES, None])),
    (errors.InvalidScores, lambda _: one(np.array([[SECRET_NUMBER]]))),
    (errors.InvalidScores, lambda _: one(SECRET_TEXT)),
    (errors.Unanswerable, lambda _: unanswerable()),
    (errors.NotAllowed, lambda path: Tokens(path / "discreet.tokens").find(SECRET_TEXT)),
    (errors.InvalidScores, lambda _: one(SECRET_NUMBER)),
    *[(errors.MissingColumn, lambda _, data=data: mode(data, "d")) for data in FRAMES],
    *[(errors.InvalidCandidates, lambda _, data=data: mode(data, candidates=None)) for data in FRAMES],
    (errors.InvalidCandidates, lambda _: mode(FRAMES[0], candidates=[1, 2])),
    (errors.UnreadableData, lambda _: mode([SECRET_TEXT])),
    (errors.DataUnavailable, lambda _: quietly(locked, errors.UnreadableData("unreadable"))),
    (errors.NotCountable, lambda _: mode(pl.DataFrame({"c": [[SECRET_TEXT]]}))),
    (errors.UnreadableFile, lambda path: mode(path / "missing.csv")),
    (errors.UnreadableFile, lambda path: mode(write(path / "a.doc", f"c\n{SECRET_TEXT}\n"))),
    (errors.UnreadableFile, lambda path: mode(write(path / "a.parquet", f"c\n{SECRET_TEXT}\n"))),
    (errors.UnreadableFile, lambda path: mode(write(path / "a.csv", f"\0\1{SECRET_TEXT}"))),
    (errors.MissingColumn, lambda path: mode(write(path / "b.csv", f"d\n{SECRET_TEXT}\n"))),
    (errors.MissingPackage, lambda _: needing("a_package_that_is_not_there", "spark")),
    (errors.MissingPackage, lambda _: drawn_without_matplotlib()),
    (errors.Exhausted, lambda _: exhausted()),
    (errors.Exhausted, lambda path: ledger(path).buy(bill(2), secretive)),
    (errors.LedgerError, lambda _: pickle.dumps(discreet.Ledger())),
    (errors.UnknownBudget, lambda _: discreet.Ledger().session("adult")),
    (errors.RequestConflict, lambda path: conflicting(ledger(path))),
    (errors.LedgerBusy, lambda path: broken(path, "BEGIN EXCLUSIVE")),
    (errors.LedgerCorrupt, lambda path: broken(path, "UPDATE discreet_account SET head = ''")),
    (errors.LedgerTooNew, lambda path: broken(path, "UPDATE discreet_account SET version = 99")),
    (errors.LedgerUnwritable, lambda path: discreet.Ledger(path / "nowhere" / "budget.db")),
    (errors.LedgerUnwritable, lambda path: full(path)),
    (errors.ReportUnwritable, lambda path: discreet.report(discreet.Ledger(), path / "no" / "a.html")),
    (errors.MissingPackage, lambda _: missing_package()),
    (errors.OutOfBits, lambda _: ScriptedBits("").word()),
]  # fmt: skip


def drawn_without_matplotlib() -> None:
    with mock.patch.dict(sys.modules, {"matplotlib": None}):
        discreet.distribution(PRIVATE_SCORES, sensitivity=1, epsilon=1).plot()


def exhausted() -> None:
    session = discreet.AboveThreshold(-(10**9), sensitivity=1, epsilon=1)
    while True:
        session.ask(SECRET_NUMBER)


def secretive() -> Callable[[], Any]:
    return lambda: [SECRET_NUMBER] * 100_000


def ledger(path: Path) -> discreet.Session:
    kept = discreet.Ledger(path / "budget.db")
    kept.open("adult", epsilon=1)
    return kept.session("adult")


def conflicting(session: discreet.Session) -> None:
    session.buy(bill("1/2", "r"), secretive)
    session.buy(bill("1/3", "r", digest="other"), secretive)


def broken(path: Path, statement: str) -> None:
    """Ask while the file is held, or after it was changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.ledger.store.LOCK_TIMEOUT", 0.05)
        session = ledger(path)
    with closing(sqlite3.connect(path / "budget.db", isolation_level=None)) as file:
        file.execute(statement)
        session.buy(bill(1), secretive)


def full(path: Path) -> None:
    """Store an answer on a disk that has no room for it."""
    session = ledger(path)

    def limit(connection: sqlite3.Connection, _: Any) -> None:
        connection.execute("PRAGMA max_page_count = 12")

    store = session._payer.store
    event.listen(store._engine, "connect", limit)
    assert store._file is not None
    store._file.close()  # it is opened again by the next transaction
    session.buy(bill(1), secretive)


def unanswerable() -> None:
    """Ask about data in hand, as an analyst, what they cannot answer."""
    node = discreet.connect(datasets={"d": [SECRET_TEXT]})
    node.open_budget("d", epsilon=1)
    node.allow("d", "q", discreet.select, sensitivity=1, epsilon=1)
    node.open_budget("d", analyst="a", epsilon=1)
    node.for_analyst("a").ask("q")


def missing_package() -> None:
    from discreet.privacy.pld import LossDistribution

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
        LossDistribution.pure(1, 1).to_dp_accounting()


def locked() -> None:
    raise OSError(errno.ENOSPC, SECRET_TEXT)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(("expected", "provoke"), CASES)
def test_no_error_tells_anything_private(
    expected: type[errors.DiscreetError],
    provoke: Callable[[Path], Any],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with (
        caplog.at_level(logging.DEBUG),
        warnings.catch_warnings(record=True) as warned,
        pytest.raises(expected) as caught,
    ):
        provoke(tmp_path)
    error: BaseException | None = caught.value
    assert str(error)
    told = caplog.text + "".join(map(str, warned)) + "".join(capsys.readouterr())
    while error is not None:
        told += str(error) + repr(error) + repr(vars(error)) + repr(error.args)
        error = error.__cause__ or error.__context__
    for secret in SECRETS:
        assert secret not in told


def test_every_error_of_the_tree_is_provoked() -> None:
    provoked = {expected for expected, _ in CASES}
    root = {errors.DiscreetError}
    every = {e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)}
    assert every - root == provoked


def test_errors_are_the_builtin_ones_too() -> None:
    assert issubclass(errors.InvalidArgument, ValueError)
    assert issubclass(errors.MissingColumn, KeyError)
    assert issubclass(errors.UnreadableFile, OSError)
    assert str(errors.MissingColumn("there is no column 'c'")) == "there is no column 'c'"


def test_nothing_private_is_in_a_repr() -> None:
    from discreet.mechanisms.contract import PrivacyParameter
    from discreet.privacy.sensitivity import sensitivity_of
    from discreet.sampling.vectors import read_vector
    from discreet.selection.scores.given import Given
    from discreet.tables.scores.counts import Counts

    from .columns import Counted

    vector = read_vector([float(SECRET_NUMBER), 0.0])
    calibrated = discreet.mechanisms.Exponential().calibrate(
        sensitivity_of(1, "add_remove"), PrivacyParameter("epsilon", Fraction(1))
    )
    shown = [
        vector, calibrated.law(vector), Given(PRIVATE_SCORES, 1), Counts(Counted(PRIVATE_SCORES), ["a", "b"]),
        discreet.distribution(PRIVATE_SCORES, sensitivity=1, epsilon=1),
        discreet.simulate(PRIVATE_SCORES, sensitivity=1, epsilon=1),
        discreet.compare(PRIVATE_SCORES, sensitivity=1, epsilons=[1]),
        discreet.distribution(discreet.geometric, SECRET_NUMBER, sensitivity=1, epsilon=1),
    ]  # fmt: skip
    for value in shown:
        for secret in SECRETS:
            assert secret not in repr(value)
