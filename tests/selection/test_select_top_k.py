"""Lists of the best by scores of the caller: what is refused, and that looking arguments up changes nothing."""

import json
import math
from decimal import Decimal
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidArgument, InvalidNumber, InvalidScores
from discreet.mechanisms.peeling.rounds import BLOCK_SIZE
from discreet.mechanisms.testing import SeededBits, counted_work
from discreet.selection.select_top_k import select_top_k

from ..scripted_words import on_words

lists_module = import_module("discreet.selection.select_top_k")


@pytest.mark.parametrize("method", ["peeling", "joint"])
def test_lists_of_candidates(method: Any) -> None:
    scores = {"tea": 300, "coffee": 600, "water": 0}
    release = select_top_k(scores, k=2, sensitivity=1, epsilon=1, method=method)
    assert release.value == ["coffee", "tea"]
    assert release.mechanism in ("peeling(exponential)", "joint_top_k(exponential)")
    several = select_top_k([0, 900], k=2, candidates=["a", "b"], sensitivity=1,
                    epsilon="1/2", size=3, method=method)  # fmt: skip
    assert several.value == [["b", "a"]] * 3
    assert several.guarantee.pure == Fraction(3, 2)
    json.dumps(several.as_dict())


@pytest.mark.parametrize("method", ["peeling", "joint"])
def test_scores_are_checked_before_a_bit_is_read(method: Any) -> None:
    for bad in ([0.0, math.nan], [math.inf, 0.0], []):
        with pytest.raises(InvalidScores), counted_work() as work:
            select_top_k(bad, k=1, sensitivity=1, epsilon=1, method=method)
        assert work.words == 0
    with pytest.raises(InvalidScores, match="one for each"):
        select_top_k([1, 2], k=1, candidates=["a"], sensitivity=1, epsilon=1, method=method)
    with pytest.raises(InvalidNumber, match="from 1 to 2"):
        select_top_k([1, 2], k=3, sensitivity=1, epsilon=1, method=method)
    with pytest.raises(InvalidScores):
        select_top_k(
            np.append(np.zeros(BLOCK_SIZE), np.nan), k=1, sensitivity=1, epsilon=1, method=method
        )


def test_scores_have_no_groups() -> None:
    with pytest.raises(TypeError, match="unexpected argument 'by'"):
        select_top_k([3, 1], k=1, sensitivity=1, epsilon=1, by="x", groups=["a"])  # type: ignore[call-overload]


@pytest.mark.parametrize("way", ["exponential", "permute_and_flip", "noisy_max"])
@pytest.mark.parametrize("parameter", [{"epsilon": "1/2"}, {"rho": 1}, {"scale": 3}])
def test_public_arguments_that_are_looked_up_change_nothing(
    way: str, parameter: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same release on the same words as by the way of all other calls."""
    scores = np.random.default_rng(4).integers(0, 30, 200)
    ask: Any = {"k": 5, "sensitivity": 1, "mechanism": way, "neighbors": "replace_one", **parameter}
    for form in (scores, scores.tolist(), scores / 4):
        releases = []
        for find in (lists_module._find_lists, lambda *_: None):
            monkeypatch.setattr(lists_module, "_find_lists", find)
            words = iter(SeededBits(7).words(100_000).tolist())
            releases.append(on_words(words, partial(select_top_k, form, **ask)))
            monkeypatch.undo()
        assert releases[0].as_dict() == releases[1].as_dict()
        assert vars(releases[0]) == vars(releases[1])


@pytest.mark.parametrize(
    "terms",
    [{"k": 0}, {"k": 4}, {"k": True}, {"k": 1.0}, {"method": "none"}, {"method": 1}, {"epsilon": 0}, {"rho": 1},
     {"mechanism": "none"}, {"sensitivity": None}, {"epsilon": Decimal("sNaN")}, {"monotonic": 1}, {"seed": None}],
)  # fmt: skip
def test_public_arguments_are_refused_in_the_same_words(
    terms: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask: Any = {"k": 2, "sensitivity": 1, "epsilon": 1, **terms}
    refusals = []
    for find in (lists_module._find_lists, lambda *_: None):
        monkeypatch.setattr(lists_module, "_find_lists", find)
        with pytest.raises((InvalidArgument, TypeError)) as refusal:
            select_top_k([3.0, 1.0, 2.0], **ask)
        refusals.append((type(refusal.value), str(refusal.value)))
        monkeypatch.undo()
    assert refusals[0] == refusals[1]
