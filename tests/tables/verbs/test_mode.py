"""mode: the counts of the candidates, what is ignored, and what candidates may be."""

import os
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import discreet
from discreet.errors import InvalidCandidates, MissingColumn
from discreet.privacy import BoundedRange, NoGuarantee
from discreet.privacy.sensitivity import Neighbors

ADULT = Path(__file__).parents[4] / "shared" / "data" / "adult.csv"
EXAMPLE = Path(__file__).parents[3] / "examples" / "marital_status.csv"
STATUS = ["Married-civ-spouse", "Never-married", "Divorced", "Separated", "Widowed",
          "Married-spouse-absent", "Married-AF-spouse"]  # fmt: skip
PUBLISHED = [14976, 10683, 4443, 1025, 993, 418, 23]


def test_a_file_is_read_in_a_forked_process_too() -> None:
    discreet.mode(EXAMPLE, "marital_status", candidates=STATUS, epsilon=1)
    pid = os.fork()
    if pid == 0:
        answer = discreet.mode(EXAMPLE, "marital_status", candidates=STATUS, epsilon=1).value
        os._exit(0 if answer == "Married-civ-spouse" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def frame(rows: list[Any]) -> Any:
    return pl.DataFrame({"status": rows})


def test_mode_of_the_example() -> None:
    release = discreet.mode(EXAMPLE, "marital_status", candidates=STATUS, epsilon=1)
    assert release.value == "Married-civ-spouse"
    assert release.guarantee == BoundedRange(Fraction(1), "add_remove")


def test_the_example_has_the_published_counts() -> None:
    rows = EXAMPLE.read_text().splitlines()
    assert rows[0] == "marital_status"
    assert [rows[1:].count(status) for status in STATUS] == PUBLISHED
    assert len(rows) == 1 + sum(PUBLISHED)


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult census is not here")
def test_mode_of_the_adult_census() -> None:
    assert (
        discreet.mode(ADULT, "marital_status", candidates=STATUS, epsilon=1).value
        == "Married-civ-spouse"
    )
    assert (
        discreet.mode(pl.read_csv(ADULT), "sex", candidates=["Male", "Female"], epsilon=1).value
        == "Male"
    )


def test_values_that_are_no_candidates_are_ignored() -> None:
    data = frame(["a"] * 200 + ["b"] * 100 + ["c"] + [None] * 300)
    assert discreet.mode(data, "status", candidates=["b", "c", "d"], epsilon=1).value == "b"


def test_candidates_missing_from_the_data_count_zero() -> None:
    drawn = discreet.simulate(
        discreet.mode, frame([]).cast(pl.String), "status", candidates=["x", "y"], epsilon=1, size=200
    )  # fmt: skip
    assert set(drawn.values) == {"x", "y"}


def test_candidates_must_be_named_or_declared() -> None:
    declared = frame(["a"] * 90).cast(pl.Enum(["a", "b"]))
    assert discreet.mode(declared, "status", epsilon=1).value == "a"
    undeclared = pd.DataFrame({"status": pd.Categorical(["a", "a"])})
    for data in (frame(["a"]), undeclared, EXAMPLE):
        column = "marital_status" if data is EXAMPLE else "status"
        with pytest.raises(InvalidCandidates, match=r"declares none\. Give the possible answers"):
            discreet.mode(data, column, epsilon=1)
    with pytest.raises(InvalidCandidates, match="the type of the data declares none"):
        discreet.mode(["a", "b"], epsilon=1)
    with pytest.raises(
        InvalidCandidates, match="with the data, of type Int64: give one of the kind number"
    ):
        discreet.mode(np.array([1, 2]), candidates=["1"], epsilon=1)


def test_candidates_from_the_data_have_no_guarantee() -> None:
    data = frame(["a"] * 90 + ["b"])
    release = discreet.mode(data, "status", unsafe_candidates_from_data=True, epsilon=1)
    assert release.value == "a"
    assert release.guarantee == NoGuarantee("the candidates were taken from the data", "add_remove")
    with pytest.raises(InvalidCandidates, match="not both"):
        discreet.mode(data, "status", candidates=["a"], unsafe_candidates_from_data=True, epsilon=1)


def test_replaced_records_cost_twice() -> None:
    """The same epsilon buys half the eta: the spread of counts is 2 where a record is replaced."""
    relations: list[tuple[Neighbors, int]] = [("add_remove", 1), ("replace_one", 2)]
    law = {
        neighbors: discreet.distribution([0, 1], spread=spread, epsilon=1).pmf()[1]
        for neighbors, spread in relations
    }
    data = frame(["b"])
    for neighbors, expected in law.items():
        asked = partial(discreet.simulate, discreet.mode, data, "status", candidates=["a", "b"])
        drawn = asked(epsilon=1, size=20_000, neighbors=neighbors).values
        assert abs(list(drawn).count("b") / 20_000 - expected) < 0.03


def test_a_missing_column_is_named() -> None:
    with pytest.raises(MissingColumn, match="status"):
        discreet.mode(frame(["a"]), "state", candidates=["a"], epsilon=1)
