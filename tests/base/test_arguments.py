"""What every door asks of names and of arguments that are read more than once."""

import csv
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet
from discreet import Batch, Grid, Ledger
from discreet.base.arguments import read_name, refuse_one_shot, settle
from discreet.errors import InvalidArgument
from discreet.privacy.sensitivity import read_unit


class Lie(str):
    """A text that says it is another."""

    __slots__ = ()
    truth = "secret"

    def __hash__(self) -> int:
        return hash(self.truth)

    def __eq__(self, other: object) -> bool:
        return other == self.truth

    def __ne__(self, other: object) -> bool:
        return other != self.truth

    def __str__(self) -> str:
        return self.truth

    __repr__ = __str__

    def __bool__(self) -> bool:
        return True

    def strip(self, *_: Any) -> "Lie":
        return self

    def isprintable(self) -> bool:
        return True


def test_a_name_is_what_it_holds() -> None:
    name = read_name(Lie("open"), "name")
    assert type(name) is str
    assert name == "open"
    assert type(read_unit(Lie("user"))) is str
    assert read_unit(Lie("user")) == "user"
    assert read_unit(None) is None


@pytest.mark.parametrize(
    "wrong", [None, 3, b"x", "", " ", " x", "x\n", "x" * 201, Lie(""), Lie(" ")]
)
def test_what_is_no_name(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match="must be a printable name"):
        read_name(wrong, "name")


ONE_SHOT: list[Callable[[], Any]] = [
    lambda: (x for x in "ab"),
    lambda: iter(["a"]),
    lambda: map(str, "ab"),
    lambda: zip("ab", "ab", strict=True),
    lambda: csv.reader(io.StringIO("a,b")),
    lambda: io.StringIO("a\nb"),
    lambda: pd.read_csv(io.StringIO("a\n1\n2"), chunksize=1),
    lambda: pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), []),
]


@pytest.mark.parametrize("made", ONE_SHOT)
def test_what_can_be_read_once_only(made: Callable[[], Any]) -> None:
    with pytest.raises(InvalidArgument, match="candidates can be read only once"):
        refuse_one_shot(made(), "candidates")
    by: Any = discreet.select_by
    questions: list[Callable[[], Batch]] = [
        lambda: Batch().add("x", discreet.mode, made(), "drink", candidates=["tea"], epsilon=1),
        lambda: Batch().add("x", discreet.mode, TABLE, "drink", candidates=made(), epsilon=1),
        lambda: Batch().add("x", discreet.mode, TABLE, "drink", candidates=made(), epsilon=1),
        lambda: Batch().add("x", partial(by, len, candidates=made()), TABLE),
        lambda: Batch().add("x", partial(partial(by, made()), TABLE), [1]),
    ]
    for question in questions:
        with pytest.raises(
            InvalidArgument, match=r"(argument \d|candidates) can be read only once"
        ):
            question()


@pytest.mark.parametrize(
    "value", [[1], (1,), {"a": 1}, range(3), np.arange(3), "a", Path("a"), None, Grid(0, 3), len]
)
def test_what_can_be_read_again(value: Any) -> None:
    refuse_one_shot(value, "candidates")


TABLE = pd.DataFrame({"drink": ["tea", "tea", "coffee"]})


def test_a_batch_has_exact_names_and_a_mapping_of_its_own() -> None:
    batch = Batch().add(Lie("open"), discreet.mode, TABLE, "drink", candidates=["tea"], epsilon=1)
    assert [(type(name), name) for name in batch.questions] == [(str, "open")]
    with pytest.raises(InvalidArgument, match="Take another name"):
        batch.add("open", discreet.mode, TABLE, "drink", candidates=["tea"], epsilon=1)
    given = dict(batch.questions)
    copied = Batch(given)
    given.clear()
    assert list(copied.questions) == ["open"]
    assert batch.split(epsilon=1, weights={Lie("open"): 2}).cost().parts
    with pytest.raises(InvalidArgument, match="must be a printable name"):
        Batch({3: batch.questions["open"]})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("value", "change"),
    [
        (["a", "b"], lambda v: v.append("c")),
        ({"a": [1]}, lambda v: v["a"].append(2)),
        (np.array([1, 2]), lambda v: v.fill(9)),
        (np.array(["a", "b"], dtype=object), lambda v: v.fill("z")),
        (pd.Series(["a", "b"]), lambda v: v.__setitem__(0, "z")),
        (Grid(0, 3), lambda v: setattr(v, "hi", 9)),
    ],
)
def test_a_settled_argument_does_not_change(value: Any, change: Callable[[Any], None]) -> None:
    kept = settle(value, "candidates")
    before = repr(kept)
    change(value)
    assert repr(kept) == before
    assert repr(value) != before


def test_settled_goes_into_partials_and_leaves_code_and_public_tables(tmp_path: Path) -> None:
    listed = [1]
    verb: Any = len
    kept = settle(partial(verb, listed, key=listed), "verb")
    listed.append(2)
    assert kept.func is len
    assert kept.args == ([1],)
    assert kept.keywords == {"key": [1]}
    (tmp_path / "names.csv").write_text("name\na\nb\n")
    table = discreet.CandidateTable(tmp_path / "names.csv", "name")
    assert settle(table, "candidates") is table
    assert settle(len, "u") is len


def test_what_cannot_be_copied_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="cannot be copied"):
        settle([(letter for letter in "ab")], "candidates")
    with pytest.raises(InvalidArgument, match="can be read only once"):
        settle(partial(list, iter("ab")), "verb")


def test_a_lying_name_pays_for_itself() -> None:
    """At every door of the ledger: opening, sessions, histories, requests, units."""
    ledger = Ledger()
    ledger.open("open", epsilon=1, privacy_unit="user")
    ledger.open("secret", epsilon=1)
    assert [event.dataset for event in ledger.history(Lie("open"))] == ["open"]
    session = ledger.session(Lie("open"))
    assert type(session.dataset) is str

    class User(Lie):
        __slots__ = ()
        truth = "user"

    with pytest.raises(InvalidArgument, match="protects"):
        session.select([1, 2], sensitivity=1, epsilon=1, privacy_unit=User("nobody"))
    session.select([1, 2], sensitivity=1, epsilon="1/2", privacy_unit="user", request=Lie("a"))
    session.select([1, 2], sensitivity=1, epsilon="1/2", privacy_unit="user", request="a")
    assert (
        session.quote(
            discreet.select, [1, 2], sensitivity=1, epsilon="1/2", privacy_unit="user"
        ).remaining.epsilon
        == 0.5
    )
    assert ledger.history()[-1].request == "a"


def test_a_report_is_about_the_name_it_holds(tmp_path: Path) -> None:
    ledger = Ledger()
    ledger.open("open", epsilon=1)
    ledger.open("secret", epsilon=1)
    written = discreet.report(ledger, tmp_path / "a.html", dataset=Lie("open")).read_text()
    assert "open" in written
    assert "secret" not in written
