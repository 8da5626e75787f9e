"""Keys that nobody listed: the order of answers, the words read, limits, and what is paid and stored."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import narwhals.stable.v2 as nw
import polars as pl
import pytest
from numpy.typing import NDArray

import discreet
from discreet import Ledger, compose
from discreet.errors import InvalidArgument, UnreadableData
from discreet.mechanisms.noisy_counts import calibrate_counts
from discreet.mechanisms.private_keys import PrivateKeys
from discreet.privacy import ApproxDP
from discreet.sampling.bits import SystemBits
from discreet.selection.verb_calls import bill_of
from discreet.tables.engines.key_counts import KeyClasses, TableOfKeys
from discreet.tables.verbs.keys import KeyQuestion

from ...engines import ENGINES
from ...scripted_words import on_words
from ...selection.test_payment import Unread
from .test_privacy_units import table as table_of

ASK: dict[str, Any] = {"epsilon": 1, "delta": "1e-5"}
"""Of these N is 23."""


def table(counts: dict[Any, int], unit: str = "who") -> pl.DataFrame:
    """Return a table in which values have so many rows, each of a unit of its own."""
    rows = [value for value, number in counts.items() for _ in range(number)]
    return pl.DataFrame({"page": rows, unit: [f"u{i}" for i in range(len(rows))]})


def with_counts(data: Any, column: str | None = "page", **arguments: Any) -> discreet.Release:
    """Release keys with their counts."""
    return discreet.counts(data, column, **arguments)


@pytest.mark.parametrize(
    "engine", [pytest.param(e, marks=[pytest.mark.proof] if e == "spark" else []) for e in ENGINES]
)
def test_keys_come_in_the_order_of_code_points(engine: str, tmp_path: Path) -> None:
    counts = {
        "é": 300,
        "a": 100,
        "Z": 200,
        "z": 400,
        "": 150,
        "\U0001f600": 90,
        "ｚ": 95,
        "seldom": 1,
    }
    data = ENGINES[engine](table(counts).select(pl.col("page")).to_arrow(), tmp_path)
    for _ in range(3):
        release = discreet.keys(data, "page", epsilon=1, delta="1e-9")
        expected = sorted({*counts} - {"seldom"})
        assert [key for key in release.value if key] == [key for key in expected if key]
        counted = with_counts(data, epsilon=1, delta="1e-9")
        assert [*counted.value] == [*release.value]
        assert all(abs(n - counts[key]) <= 30 for key, n in counted.value.items())
    assert release.guarantee == ApproxDP(Fraction(1), Fraction("1e-9"))
    assert release.mechanism == "private_keys"


@pytest.mark.parametrize(
    "values", [[3, 10, -2, 200], [True, False], ["2020-01-02", "0012-10-05", "1999-12-31"]]
)
def test_keys_of_other_kinds_come_in_the_order_of_values(values: Sequence[Any]) -> None:
    data = table(dict.fromkeys(values, 60))
    if isinstance(values[0], str):
        data = data.with_columns(pl.col("page").str.to_date())
    release = discreet.keys(data, "page", **ASK)
    assert release.value == sorted(data["page"].unique().to_list())
    assert {type(key) for key in release.value} == {type(data["page"][0])}


def test_floats_are_refused_by_their_type() -> None:
    data = pl.DataFrame({"page": [1.0] * 100})
    with pytest.raises(UnreadableData, match="no keys"):
        discreet.keys(data, "page", **ASK)


def test_values_without_a_column() -> None:
    assert discreet.keys(["tea"] * 60 + ["milk"] * 50 + [None], **ASK).value == ["milk", "tea"]
    with pytest.raises(InvalidArgument, match="need a table"):
        discreet.keys(["tea"], privacy_unit="who", **ASK)


def test_no_rows_and_nulls_have_no_keys() -> None:
    for values in ([], [None] * 50):
        data = pl.DataFrame({"page": pl.Series(values, dtype=pl.String)})
        assert discreet.keys(data, "page", **ASK).value == []
        assert with_counts(data, **ASK).value == {}


class Reads:
    """How many words the source of all randomness was asked for, and words in their place."""

    def __init__(self) -> None:
        self.read = 0

    def __enter__(self) -> "Reads":
        words = SystemBits.words

        def read(_: SystemBits, n: int) -> NDArray[Any]:
            self.read += n
            return words(SystemBits(), n)

        def word(_: SystemBits) -> int:
            self.read += 1
            return int(words(SystemBits(), 1)[0])

        self._patches = (
            patch.object(SystemBits, "words", read),
            patch.object(SystemBits, "word", word),
        )
        for one in self._patches:
            one.start()
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._patches:
            one.stop()


@pytest.mark.parametrize("counted", [False, True])
def test_the_words_read_are_a_function_of_the_answer(counted: bool) -> None:
    """Of an empty table as of any other, and for neighbours whose classes differ."""
    tables = [
        {},
        {"a": 1},
        {"a": 3, "b": 3},
        {"a": 4, "b": 3},
        {"a": 22},
        {"a": 23},
        {"a": 90, "b": 12, "c": 13},
    ]
    ask = with_counts if counted else discreet.keys
    for counts in tables:
        data = table(counts).select(pl.col("page").cast(pl.String))
        for _ in range(3):
            with Reads() as reads:
                answer = ask(data, "page", **ASK)
            assert reads.read == 22 + len(answer.value) * (2 if counted else 1)


def test_a_released_count_is_that_of_the_word() -> None:
    """With words of one half each: V = 1/2 of a sure key falls on M = 12, the likeliest, and so the count on n."""
    data = table({"a": 40, "b": 1000, "c": 2})

    def ask() -> discreet.Release:
        return with_counts(data, **ASK)

    assert on_words([2**63 + 12345], ask).value == {"a": 40, "b": 1000}
    least = on_words([2**64 - 2**20 + 1], ask).value  # M = N
    assert least == {"a": 40 + 12 - 23, "b": 1000 + 12 - 23}
    most = on_words(
        [1 << 20], ask
    ).value  # M = 1, and every key of which the coin falls well is released
    assert {**most, "c": 0} == {"a": 40 + 11, "b": 1000 + 11, "c": 0}


def test_a_unit_counts_once_in_a_key_and_in_few_keys() -> None:
    rows = [("zoe", page) for page in "abcdefgh"] * 500 + [(f"u{i}", "a") for i in range(200)]
    data = pl.DataFrame(rows, schema=["who", "page"], orient="row")
    for most in (1, 3):
        release = with_counts(data, privacy_unit="who", max_groups=most, epsilon=3, delta="1e-9")
        assert [*release.value] == ["a"]
        assert abs(release.value["a"] - 200) < 40
        assert release.unit == "who"
    without = discreet.keys(data, "page", epsilon=3, delta="1e-9")
    assert without.value == [*"abcdefgh"]
    some = discreet.keys(data, "page", epsilon=3, delta="1e-9", where=nw.col("page") != "a")
    assert some.value == [*"bcdefgh"]


def counts_of_keys(data: Any, **terms: Any) -> list[int]:
    """Return the counts of all keys, ascending, as the mechanism is given them."""
    sizes: list[Sequence[int]] = []
    law = PrivateKeys.law

    def note(self: PrivateKeys, numbers: Sequence[int], **others: Any) -> Any:
        sizes.append(numbers)
        return law(self, numbers, **others)

    with patch.object(PrivateKeys, "law", note):
        discreet.keys(data, "drink", epsilon=1, delta="1e-9", **terms)
    return [count for count, size in enumerate(sizes[0], start=1) for _ in range(size)]


def test_all_rows_of_one_unit_are_protected() -> None:
    """A unit with 400 rows of a key counts once in it, and a key of its own has a count of 1."""
    unit: Any = {"privacy_unit": "who"}
    assert counts_of_keys(table_of("none"), **unit) == [1, 2]
    assert counts_of_keys(table_of("many"), **unit) == [2, 2]
    assert counts_of_keys(table_of("other"), **unit) == [1, 3]
    alone = table_of("many").filter(pl.col("who") == "zoe")
    assert counts_of_keys(alone, **unit) == [1]
    assert counts_of_keys(alone) == [41]  # surely released, of which one unit has all rows


def test_the_most_keys_are_those_of_the_largest_counts_else_the_first() -> None:
    data = table({"a": 100, "b": 5000, "c": 200, "d": 3000})
    assert with_counts(data, most=2, **ASK).value.keys() == {"b", "d"}
    assert [*with_counts(data, most=2, **ASK).value] == ["b", "d"]
    assert discreet.keys(data, "page", most=2, **ASK).value == ["a", "b"]


def test_a_minimum_count() -> None:
    data = table({"a": 40, "b": 60, "c": 100})
    for _ in range(5):
        release = with_counts(data, minimum_count=61, epsilon=5, delta="1e-2")
        assert [*release.value] == ["c"]
        assert abs(release.value["c"] - 100) < 20
    assert bill_of(discreet.keys, data, "page", minimum_count=10, **ASK).worst_error.error == 21  # type: ignore[union-attr]


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_the_number_outside(neighbors: Any) -> None:
    rows = [("zoe", page) for page in "qrst"] + [(f"u{i}", "a") for i in range(300)]
    rows += [(f"u{i}", f"own {i}") for i in range(300, 1300)]
    data = pl.DataFrame(rows, schema=["who", "page"], orient="row")
    release: Any = discreet.keys(
        data,
        "page",
        epsilon=2,
        delta="1e-9",
        privacy_unit="who",
        max_groups=4,
        other="1/2",
        neighbors=neighbors,
    )
    assert release.value == ["a"]
    assert abs(release.other - 1001) < 60
    assert release.as_dict()["other"] == release.other
    assert release.guarantee.promises[0] == ApproxDP(Fraction(2), Fraction("1e-9"), neighbors)
    assert discreet.keys(data, "page", **ASK).other is None


def test_the_noise_of_the_number_outside() -> None:
    """Its eta is the part of epsilon, also where a record is replaced: one record is in it, or is not."""
    data, share = table({"a": 100, "b": 1}), Fraction(1, 5)
    for neighbors in ("add_remove", "replace_one"):
        relation_term: Any = {"neighbors": neighbors}
        with patch("discreet.tables.verbs.keys.calibrate_counts", wraps=calibrate_counts) as made:
            discreet.keys(data, "page", epsilon=2, delta="1e-9", other="1/10", **relation_term)
        [call] = made.call_args_list
        moved, relation, parameter = call.args
        assert (parameter.value / moved, relation) == (share, neighbors)


@pytest.mark.parametrize("most_keys", [1, 2])
def test_the_number_outside_moves_by_one(most_keys: int) -> None:
    """Of all tables of three units and two keys, given any released keys, and all their neighbours."""
    own = [(), ("a",), ("b",), ("a", "b")]
    released = [[], ["a"], ["b"], ["a", "b"]]
    outside: dict[tuple[int, ...], list[int]] = {}
    for kinds in product(range(len(own)), repeat=3):
        rows = [(f"u{i}", page) for i, kind in enumerate(kinds) for page in own[kind]]
        data = pl.DataFrame(rows, schema={"who": pl.String, "page": pl.String}, orient="row")
        counts = TableOfKeys(data, "page", "who", most_keys, keeps_pairs=True).open()
        outside[kinds] = [counts.units_outside(keys) for keys in released]
    moves = {"add_remove": 0, "replace_one": 0}
    for one, other in combinations(outside, 2):
        changed = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
        if len(changed) == 1:
            relation = "add_remove" if 0 in changed[0] else "replace_one"
            apart = [abs(a - b) for a, b in zip(outside[one], outside[other], strict=True)]
            moves[relation] = max(moves[relation], *apart)
    assert moves == {"add_remove": 1, "replace_one": 1}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"delta": 0}, "delta must be a probability"), ({"delta": 1}, "delta must be a probability"),
    ({"delta": "1e-101"}, "delta must be a probability"), ({"delta": -1}, "delta"), ({"epsilon": 0}, "epsilon"),
    ({"epsilon": None}, "how much privacy"), ({"epsilon": "1e-7", "delta": "1e-9"}, "at most 131,072 are served"),
    ({"most": 0}, "most must be"), ({"minimum_count": 0}, "minimum_count must be"),
    ({"minimum_count": 10**6}, "minimum_count must be"), ({"other": 0}, "other must be"),
    ({"other": 1}, "other must be"),
    ({"max_groups": 2}, "privacy_unit"), ({"max_groups": 1001, "privacy_unit": "who"}, "max_groups must be"),
    ({"neighbors": "others"}, "neighbors"), ({"request": "r"}, "ledger"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "words"), WRONG)
def test_public_arguments_are_refused_before_data_are_read(
    wrong: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        discreet.keys(Unread(), "page", **{**ASK, **wrong})


@pytest.mark.parametrize(
    "name", ["rho", "scale", "size", "mechanism", "by", "groups", "max_contributions"]
)
def test_other_terms_are_refused(name: str) -> None:
    with pytest.raises((TypeError, InvalidArgument), match=name):
        discreet.keys(Unread(), "page", **{**ASK, name: 1})


def test_what_is_said_before_paying() -> None:
    bill = bill_of(discreet.keys, Unread(), "page", **ASK)
    assert (
        str(bill.worst_error)
        == "a key of fewer than 12 records is answered with a probability below one half"
    )
    assert bill.query == "values of page that nobody listed, at most 1000 values"
    other = bill_of(
        discreet.keys,
        Unread(),
        "page",
        privacy_unit="who",
        max_groups=3,
        minimum_count=5,
        where=nw.col("n") > 1,
        **ASK,
    )
    assert other.query.startswith(
        "values of page that nobody listed, at most 1000 values, each of at least 5 records, "
        "at most 3 values of each who, where "
    )
    assert other.digest != bill.digest


def test_a_ledger_stores_the_keys(tmp_path: Path) -> None:
    data = table({"tea": 80, "=cmd|calc": 90, "\u202egnp": 70, "none": 1})
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("visits", epsilon=3, delta="1e-6", delta_for="questions")
    session = ledger.session("visits")
    first = session.keys(data, "page", epsilon=1, delta="1e-9", other="1/10", request="monday")
    again = (
        Ledger(tmp_path / "budget.db")
        .session("visits")
        .keys(data, "page", epsilon=1, delta="1e-9", other="1/10", request="monday")
    )
    assert first.value == again.value == sorted(["tea", "=cmd|calc", "\u202egnp"])
    assert (first.other, first.charged, again.charged) == (again.other, True, False)
    with pytest.raises(discreet.errors.RequestConflict):
        session.keys(data, "page", epsilon=1, delta="2e-9", other="1/10", request="monday")
    quote = session.quote(discreet.keys, Unread(), "page", **ASK)
    assert "a key of fewer than 12 records is answered with a probability below one half" in str(
        quote
    )


def test_noise_is_fresh_for_every_release() -> None:
    data = table({str(i): 1000 + i for i in range(200)})
    some, others = (with_counts(data, **ASK).value for _ in range(2))
    assert some != others
    differences = {some[key] - others[key] for key in some}
    assert len(differences) > 3


def test_a_table_that_changed_fails_after_the_payment_without_a_number(tmp_path: Path) -> None:
    data = table({"secret": 80})
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("visits", epsilon=3, delta="1e-6", delta_for="questions")
    fetch = KeyClasses._fetch
    with (
        patch.object(KeyClasses, "_fetch", lambda self, drawn, most: fetch(self, drawn, most)[:-1]),
        pytest.raises(UnreadableData) as failure,
    ):
        ledger.session("visits").keys(data, "page", epsilon=1, delta="1e-9")
    assert not any(letter.isdigit() for letter in str(failure.value))
    assert "secret" not in str(failure.value)
    assert ledger.budgets()[0].spent.epsilon == 1


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("part", ["1/10", "9/10"])
def test_keys_and_the_number_outside_cost_together_what_is_charged(
    part: str, neighbors: Any
) -> None:
    """The noise outside is not paid for twice: from the noise itself, and from the share of each key."""
    drawn: list[Any] = []

    def record(question: Any, counts: Any, classes: Any, bits: Any) -> Any:
        drawn.append(question.mechanism)
        return draw(question, counts, classes, bits)

    def calibrated(steps: int, relation: Any, parameter: Any) -> Any:
        drawn.append(calibrate(steps, relation, parameter))
        return drawn[-1]

    draw, calibrate = KeyQuestion.draw, calibrate_counts
    with (
        patch.object(KeyQuestion, "draw", record),
        patch("discreet.tables.verbs.keys.calibrate_counts", calibrated),
    ):
        release: Any = discreet.keys(
            ["a"] * 90, epsilon=3, delta="1e-6", other=part, neighbors=neighbors
        )
    mechanism, noise = drawn
    assert mechanism.epsilon + noise.guarantee.pure == 3
    whole, parts = release.guarantee.promises
    assert whole == ApproxDP(Fraction(3), mechanism.delta, neighbors)
    assert parts == compose(mechanism.guarantee, noise.guarantee)
    assert mechanism.share.epsilon * mechanism.changes <= mechanism.epsilon
