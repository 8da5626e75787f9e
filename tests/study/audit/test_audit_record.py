"""The record of an audit: written, read, repeated, and refused when it was altered."""

import enum
import json
import math
import stat
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from discreet import audit
from discreet.cli.audit_command import load_function
from discreet.errors import DiscreetError, InvalidArgument, UnreadableFile
from discreet.study.audit.audit_record import compare_with_record, read_record

from .test_mechanism import honest, response


def total(records: list[int]) -> int:
    return sum(records)


def written(folder: Path, **terms: Any) -> Path:
    path = folder / "record.txt"
    audit.write_record(
        audit.mechanism(response, [0, 1], range(3), **{"epsilon": "1.0987", **terms}), path
    )
    return path


def test_the_first_line_says_what_was_seen(tmp_path: Path) -> None:
    record = written(tmp_path)
    assert record.read_text().splitlines()[0] == (
        "no counterexample among 6 pairs, which is not a proof."
    )
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    private = written(tmp_path, private=True)
    assert private.read_text().splitlines()[0].endswith("PRIVATE: made from records of people.")
    wrong = written(tmp_path, epsilon=1)
    assert (
        wrong.read_text().splitlines()[0] == "a counterexample among 6 pairs: the claim is false."
    )


def test_a_record_is_repeated_from_what_it_says(tmp_path: Path) -> None:
    record = written(tmp_path, neighbors="replace_one", delta="0.1", epsilon=1)
    body = read_record(record)
    assert body["universe"] == [0, 1]
    assert body["claim"] == {
        "epsilon": "1", "delta": "1/10", "neighbors": "replace_one", "draws": 0, "confidence": "1",
    }  # fmt: skip
    again = audit.repeat(record, response)
    assert compare_with_record(record, again) == []
    assert again.claim.delta == Fraction(1, 10)


def test_another_outcome_and_another_program_are_said(tmp_path: Path) -> None:
    record = written(tmp_path)

    def worse(records: list[int]) -> dict[str, Fraction]:
        return {"odd": Fraction(sum(records) % 2), "even": Fraction(1 - sum(records) % 2)}

    another = "the program is another one than that of the record"
    assert compare_with_record(record, audit.repeat(record, worse)) == [
        another,
        "the record has another outcome",
    ]

    def better(records: list[int]) -> dict[str, Fraction]:
        return {"odd": Fraction(1, 2), "even": Fraction(1, 2)}

    [_, change] = compare_with_record(record, audit.repeat(record, better))
    assert "1.098612289" in change
    (tmp_path / "copy.py").write_text(
        (Path(__file__).parent / "test_mechanism.py").read_text() + "# other"
    )
    copy = load_function(f"{tmp_path / 'copy.py'}:response")
    assert compare_with_record(record, audit.repeat(record, copy)) == [another]


def test_draws_are_repeated_with_their_number(tmp_path: Path) -> None:
    path = tmp_path / "record.txt"
    audit.write_record(
        audit.mechanism(total, [0, 1], range(2), epsilon=1, draws=5, confidence="0.9"), path
    )
    again = audit.repeat(path, total)
    assert (again.claim.draws, again.claim.confidence) == (5, Fraction(9, 10))
    assert compare_with_record(path, again) == []


def test_an_altered_record_is_refused(tmp_path: Path) -> None:
    record = written(tmp_path)
    text = record.read_text()
    for old, new in (
        ('"pairs": 6', '"pairs": 7'),
        ('"holds": true', '"holds": false'),
        ("{", "["),
        ("hash", "h"),
    ):
        record.write_text(text.replace(old, new))
        with pytest.raises(UnreadableFile):
            read_record(record)
    with pytest.raises(UnreadableFile):
        read_record(tmp_path / "none")
    head, _, body = text.partition("\n")
    newer = {**json.loads(body), "format": 2}
    record.write_text(f"{head}\n{json.dumps(newer)}")
    with pytest.raises(UnreadableFile):
        read_record(record)


def test_the_first_line_is_held_to_what_is_below(tmp_path: Path) -> None:
    """It is what people read, and no hash is over it."""
    record = written(tmp_path, epsilon=1)
    head, _, body = record.read_text().partition("\n")
    for line in ("no counterexample among 6 pairs, which is not a proof.", head + " ", ""):
        record.write_text(f"{line}\n{body}")
        with pytest.raises(UnreadableFile):
            audit.repeat(record, response)


def forged(record: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Alter a record, with the hash that belongs to it."""
    head, _, rest = record.read_text().partition("\n")
    body = json.loads(rest)
    del body["hash"]
    change(body)
    body["hash"] = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    record.write_text(f"{head}\n{json.dumps(body)}")


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.pop("claim"),
        lambda body: body.update(claim=None),
        lambda body: body["claim"].pop("epsilon"),
        lambda body: body["claim"].update(draws="5"),
        lambda body: body["claim"].update(epsilon="many"),
        lambda body: body.update(program=None),
        lambda body: body["program"].pop("digest"),
        lambda body: body.update(private="no"),
        lambda body: body.update(pairs="6"),
        lambda body: body.update(universe="abc"),
        lambda body: body.update(sizes=[10**9, 10**9 + 1]),
        lambda body: body.update(sizes=["a"]),
    ],
)
def test_a_forged_record_is_refused_in_our_words(
    tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    """A hash is no signature: who alters a record can make another one."""
    record = written(tmp_path)
    forged(record, change)
    with pytest.raises(DiscreetError):
        audit.repeat(record, response)


@pytest.mark.parametrize("rest", ["[" * 100_000, '{"a": ' + "9" * 6000 + "}", "[1]", "null", ""])
def test_what_is_no_record_is_refused(tmp_path: Path, rest: str) -> None:
    record = tmp_path / "record.txt"
    record.write_text(f"no counterexample among 6 pairs, which is not a proof.\n{rest}")
    with pytest.raises(UnreadableFile):
        audit.repeat(record, response)


class Weekday(enum.IntEnum):
    MONDAY = 1


@pytest.mark.parametrize(
    "odd",
    [math.nan, math.inf, "\ud800", Weekday.MONDAY, 10**5000, (1, 2), b"a", {"a": 1}],
    ids=lambda odd: type(odd).__name__,
)
def test_a_record_holds_only_what_comes_back_as_it_was(tmp_path: Path, odd: Any) -> None:
    result = audit.mechanism(lambda _: {0: 1}, [odd, 1.5], range(2), epsilon=1)
    with pytest.raises(InvalidArgument, match=f"got one of type {type(odd).__name__}"):
        audit.write_record(result, tmp_path / "record.txt")
    assert not (tmp_path / "record.txt").exists()


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    universe = [0, -(10**30), 0.1, 1e300, "a\nb", "木", "", True, None]
    path = tmp_path / "record.txt"
    audit.write_record(audit.mechanism(lambda _: {0: 1}, universe, range(2), epsilon=1), path)
    assert read_record(path)["universe"] == universe
    assert [type(each) for each in read_record(path)["universe"]] == [*map(type, universe)]


def test_a_program_without_a_file_is_not_taken_for_the_same(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec("def typed(records):\n    return {0: 1}", names)  # as in a terminal
    path = tmp_path / "record.txt"
    audit.write_record(audit.mechanism(names["typed"], [0], range(2), epsilon=1), path)
    (words,) = compare_with_record(path, audit.repeat(path, names["typed"]))
    assert "no hash of the program is known" in words


def test_what_cannot_be_repeated_is_not_written(tmp_path: Path) -> None:
    result = audit.mechanism(lambda _: {0: 1}, [object()], range(2), epsilon=1)
    with pytest.raises(InvalidArgument, match="can hold finite numbers"):
        audit.write_record(result, tmp_path / "record.txt")
    with pytest.raises(UnreadableFile):
        audit.write_record(
            audit.mechanism(honest, [0], range(2), epsilon=1), tmp_path / "no" / "record.txt"
        )
