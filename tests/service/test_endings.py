"""The information in failures: counted exactly, and told to the owner."""

from itertools import combinations
from pathlib import Path

import pytest

import discreet
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.endings import declared_endings, pattern_bits

from .test_connect import TEXT, write_files

DECLARED = (
    TEXT.replace("[datasets.people]\n", "[datasets.people]\nmax_failures = 3\n")
    .replace('max_epsilon = "1/4"', 'max_epsilon = "1/4"\nmin_epsilon = "1/50"')
)  # fmt: skip


@pytest.mark.parametrize(
    ("questions", "failures", "bits"),
    [(1000, 1, 10), (1000, 3, 28), (1, 1, 1), (7, 1, 3), (8, 1, 4), (5, 9, 5), (10**30, 1, 100)],
)
def test_patterns_are_counted_in_bits_rounded_up(questions: int, failures: int, bits: int) -> None:
    assert pattern_bits(questions, failures) == bits


def test_the_count_is_that_of_all_patterns() -> None:
    for questions in range(1, 9):
        for failures in range(1, 10):
            patterns = sum(
                1 for size in range(failures + 1) for _ in combinations(range(questions), size)
            )
            bits = pattern_bits(questions, failures)
            assert 2 ** (bits - 1) < patterns <= 2**bits


def test_every_analyst_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    Path("discreet.toml").write_text(DECLARED)
    found = {(one.analyst, one.dataset): one for one in declared_endings(configuration())}
    ann, bob = found["ann", "people"], found["bob", "rivals"]
    assert (ann.questions, ann.failures, ann.bits) == (500, 3, 25)
    assert (bob.questions, bob.failures, bob.bits) == (1000, 1, 10)
    assert str(ann) == (
        "ann about people: 500 questions at most, and 3 failures; which of them fail tells up to 25 bits about the "
        "data, each time that it is opened"
    )
    assert "1,000 questions at most, and 1 failure;" in str(bob)
    open_described(configuration(), "people", "eve") if ("eve", "people") in found else None
    discreet.connect(analyst="ann").quote("typical-age")
