"""How many random words an answer takes: the same for all neighbours, and for an empty table, in each new verb."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import discreet
from discreet.mechanisms.testing import counted_work
from discreet.sampling.key_draws import WordsAhead

COMMON = {"a": 40, "b": 13, "c": 3, "d": 1, "e": 27}
DRAWN: Any = {"epsilon": 1, "delta": "1e-3"}
GROUPS: Any = {**DRAWN, "by": "page", "groups": "private"}
LISTED: Any = {"epsilon": 1, "candidates": ["a", "b", "c"]}


def table(counts: dict[str, int], *more: tuple[Any, Any, Any]) -> pl.DataFrame:
    rows = [(f"u{i}", page, i % 7) for page, n in counts.items() for i in range(n)]
    schema = {"who": pl.String, "page": pl.String, "age": pl.Int64}
    return pl.DataFrame([*rows, *more], schema=schema, orient="row")


WORLDS = {
    "a table": table(COMMON),
    "one more of a class": table({**COMMON, "d": 2}),
    "a new key": table({**COMMON, "z": 1}),
    "a sure key": table({**COMMON, "b": 14}),
    "many rare keys": table({**COMMON, **{f"k{i}": 1 for i in range(90)}}),
    "a key that is too long": table(COMMON, ("x", "y" * 300, 1)),
    "null": table(COMMON, ("x", None, 1), (None, "a", None)),
    "empty": table({}),
}

VERBS: dict[str, Callable[[Any], Any]] = {
    "keys": lambda data: discreet.keys(data, "page", **DRAWN),
    "keys of units": lambda data: discreet.keys(data, "page", privacy_unit="who", max_groups=2, **DRAWN),
    "counts of keys": lambda data: discreet.counts(data, "page", **DRAWN),
    "counts and other": lambda data: discreet.counts(data, "page", other="1/4", **DRAWN),
    "counts from five on": lambda data: discreet.counts(data, "page", minimum_count=5, **DRAWN),
    "count by groups": lambda data: discreet.count(data, **GROUPS),
    "counts by groups": lambda data: discreet.counts(data, "age", candidates=[1, 2], **GROUPS),
    "mean by groups": lambda data: discreet.mean(data, "age", minimum=0, maximum=9, **GROUPS),
    "mode by groups": lambda data: discreet.mode(data, "age", candidates=[1, 2, 3], **GROUPS),
    "top_k by keys": lambda data: discreet.top_k(data, "page", k=200, candidates="private", **DRAWN),
    "top_k by limited domain": lambda data: discreet.top_k(
        data, "page", k=3, candidates="private", privacy_unit="who", **DRAWN
    ),
    "count": lambda data: discreet.count(data, epsilon=1),
    "counts": lambda data: discreet.counts(data, "page", **LISTED),
    "top_k by counts": lambda data: discreet.top_k(data, "page", k=2, method="counts", **LISTED),
    "sum": lambda data: discreet.sum(data, "age", minimum=0, maximum=9, epsilon=1),
    "sum without bounds": lambda data: discreet.sum(data, "age", bounds_share="1/10", epsilon=1),
    "mean": lambda data: discreet.mean(data, "age", minimum=0, maximum=9, epsilon=1),
    "bounds": lambda data: discreet.bounds(data, "age", epsilon=1),
    "gap": lambda data: discreet.mode(data, "page", gap=True, **LISTED),
    "gap of flips": lambda data: discreet.mode(
        data, "page", gap=True, mechanism="permute_and_flip", **LISTED
    ),
    "gaps of rounds": lambda data: discreet.top_k(
        data, "page", k=2, gap=True, method="peeling", **LISTED
    ),
}  # fmt: skip


def words_by_length(ask: Callable[[Any], Any]) -> dict[int, set[int]]:
    """Return how many words were read, by how many keys or groups were answered."""
    words = defaultdict[int, set[int]](set)
    for world in WORLDS.values():
        for _ in range(4):
            with counted_work() as work:
                answer = ask(world).value
            words[len(answer) if isinstance(answer, dict | list) else 0].add(work.words)
    return words


@pytest.mark.parametrize("verb", VERBS)
def test_words_follow_from_the_answer(verb: str) -> None:
    """But for doubts, which come with probability below 2**-20."""
    for words in words_by_length(VERBS[verb]).values():
        assert len(words) == 1


def test_sure_keys_without_a_word_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WordsAhead, "blocks", lambda self, n: iter(()))
    words = words_by_length(VERBS["keys"])
    assert max(map(len, words.values())) > 1
