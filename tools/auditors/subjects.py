"""What is audited: every mechanism on a pair of neighbours, and the same with faults put in on purpose."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import discreet
from discreet.mechanisms import NoisyMax
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.first_above import FirstThreshold
from discreet.sampling.bits import SystemBits
from discreet.selection.above_threshold import AboveThreshold

Answers = list[Hashable]
Ask = Callable[..., Answers]

SCORES: dict[str, tuple[list[int], list[int]]] = {
    "a": ([-7, 0], [-6, -1]),
    "b": ([-3, 0], [-2, -1]),
    "c": ([0, 0], [1, -1]),
    "t": ([4, 0, 0], [3, 1, 1]),
    "u": ([-1490, -1491, -1491, -1491, -1491], [-1490] * 5),
}
"""Scores of sensitivity 1 on two neighbouring datasets."""

QUERIES = ([1, 1, 1], [0, 0, 2])
"""Of sensitivity 1, for the threshold 1."""

RECORDS = (["tea"] * 3 + ["milk"], ["tea"] * 3)
NUMBERS = ([1, 4, 4, 9], [1, 4, 4])
BIDS = ([1] * 20, [1] * 20 + [9])
UNEQUAL = ([6, 15, 9, 3, -4], [15, 24, 6, -2, -3])
CHANGES = [9, 9, 3, 5, 1]
"""The sensitivities of the unequal scores."""

BELOW = ([1, 1], [2, 2])
"""How many of one record, and of two, are below two thresholds."""

DRINKS: dict[str, Any] = {
    "k": 2, "candidates": ["tea", "milk", "rum"], "epsilon": 1, "method": "counts"
}  # fmt: skip
GRID = discreet.Grid(0, 9)


@dataclass(frozen=True)
class Subject:
    """A mechanism on a pair of neighbours, which is audited at a claim.

    Args:
        name: the mechanism, and the pair.
        ask: returns so many answers: `ask(0, size)` on the first of the pair, `ask(1, size)` on the second.
        draws: how many answers of each side an auditor gets for its last step.
        is_broken: whether a fault was put in on purpose.
        delta: the delta that is claimed besides an epsilon of 1.
    """

    name: str
    ask: Callable[[int, int], Answers]
    draws: int
    is_broken: bool = False
    delta: Fraction = Fraction(0)


def plain(answer: Any) -> Hashable:
    """Return an answer in what can be counted."""
    if isinstance(answer, dict):
        return tuple(sorted((str(key), plain(value)) for key, value in answer.items()))
    if isinstance(answer, list | tuple | np.ndarray):
        return tuple(map(plain, answer))
    return float(answer) if isinstance(answer, int | float | Fraction | np.number) else str(answer)


def at_once(verb: Callable[..., Any], pair: Any, side: int, size: int, **terms: Any) -> Answers:
    """Return answers of a verb that has a size."""
    return [plain(value) for value in verb(pair[side], size=size, **terms).value]


def one_by_one(verb: Callable[..., Any], pair: Any, side: int, size: int, **terms: Any) -> Answers:
    """Return answers of a verb that gives one."""
    return [plain(verb(pair[side], **terms).value) for _ in range(size)]


def with_gap(pair: Any, side: int, size: int) -> Answers:
    """Return winners with their lead."""
    terms: Any = {"sensitivity": 1, "epsilon": 1, "mechanism": "permute_and_flip", "gap": True}
    releases = (discreet.select(pair[side], **terms) for _ in range(size))
    return [(plain(release.value), plain(release.gap)) for release in releases]


def above(count: int, side: int, size: int) -> Answers:
    """Return the answers of sessions over the queries."""
    return [_session(QUERIES[side], count) for _ in range(size)]


def _session(queries: list[int], count: int) -> Hashable:
    session = AboveThreshold(1, sensitivity=1, epsilon=1, count=count)
    for query in queries:
        if session.remaining:
            session.ask(query)
    return session.answers


def first_of_thresholds(epsilon: int, side: int, size: int) -> Answers:
    """Return which threshold a tenth of the records is below, by first above."""
    mechanism = FirstThreshold(Fraction(1, 10))
    below = np.array(BELOW[side])
    parameter = PrivacyParameter("epsilon", Fraction(epsilon))
    law: Any = mechanism.calibrate("add_remove", parameter).law
    return [*map(int, law(below, int(below[-1])).draws(size, SystemBits()))]


def best_of_tries(side: int, size: int) -> Answers:
    """Return the best of several private tries, each a noisy count at a third of epsilon."""

    def run(data: Any, candidate: Any, epsilon: Any) -> Any:
        try_ = discreet.geometric(len(data) * candidate, sensitivity=1, epsilon=epsilon).value
        return try_, try_

    terms: Any = {"epsilon": 1, "gamma": "0.5"}
    pair = [[0], []]
    return [
        plain(discreet.private_candidates(run, pair[side], [0, 1], **terms).value[:2])
        for _ in range(size)
    ]


def _softmax(pair: Any, side: int, size: int) -> Answers:
    """The one-liner of many programs: its weights underflow."""
    with np.errstate(all="ignore"):
        weights = np.exp(np.array(pair[side], dtype=float) / 2)
        if not weights.sum() > 0:
            weights = np.ones(len(weights))
        return [*map(int, np.random.choice(len(weights), size, p=weights / weights.sum()))]


def _noisy_max(pair: Any, side: int, size: int) -> Answers:
    """Noise of half the scale that is needed."""
    noise = np.random.laplace(scale=1, size=(size, len(pair[side])))
    return [*map(int, (np.array(pair[side]) + noise).argmax(1))]


def _sparse_vector(noise: float, side: int, size: int) -> Answers:
    """Sparse vector with too little noise on the queries: none, or as Lee and Clifton have it."""
    threshold = 1 + np.random.laplace(scale=2 if noise == 0 else 4, size=size)
    queries = np.array(QUERIES[side]) + np.random.laplace(scale=noise or 1, size=(size, 3)) * (
        noise > 0
    )
    return [_until_first(row) for row in (queries >= threshold[:, None]).tolist()]


def _until_first(row: list[bool]) -> Hashable:
    """Return the answers up to the first positive one."""
    return tuple(row[: row.index(True) + 1]) if True in row else tuple(row)


def _score_terms(epsilon: int, mechanism: Any, **terms: Any) -> dict[str, Any]:
    return {"sensitivity": 1, "epsilon": epsilon, "mechanism": mechanism, **terms}


def _choice(pair: str, terms: dict[str, Any]) -> Ask:
    return partial(at_once, discreet.select, SCORES[pair], **terms)


def _choices(scale: int) -> list[Subject]:
    """Return choices by scores, and what is wrong with them at twice the epsilon."""
    mechanisms: list[tuple[str, Any, list[str]]] = [
        ("exponential", "exponential", ["a", "b", "u"]),
        ("base2", "base2", ["a"]),
        ("permute_and_flip", "permute_and_flip", ["a", "c", "u"]),
        ("noisy_max, Gumbel noise", NoisyMax("gumbel"), ["a"]),
        ("noisy_max, exponential noise", NoisyMax("exponential"), ["a"]),
        ("noisy_max, Laplace noise", NoisyMax("laplace"), ["a"]),
    ]
    subjects = [
        Subject(f"{name}, {pair}", _choice(pair, _score_terms(1, mechanism)), scale)
        for name, mechanism, pairs in mechanisms
        for pair in pairs
    ]  # fmt: skip
    wrong: list[tuple[str, str, Any, dict[str, Any]]] = [
        ("exponential at 2ε", "b", "exponential", {"epsilon": 2}),
        ("permute_and_flip at 2ε", "c", "permute_and_flip", {"epsilon": 2}),
        ("noisy_max with a false monotonic=True", "b", NoisyMax("laplace"), {"monotonic": True}),
    ]
    for name, pair, mechanism, terms in wrong:
        ask = _choice(pair, {**_score_terms(1, mechanism), **terms})
        subjects.append(Subject(f"{name}, {pair}", ask, scale, is_broken=True))
    return [
        *subjects,
        Subject("noisy max in numpy with scale 1/ε, b", partial(_noisy_max, SCORES["b"]), scale, is_broken=True),
        Subject("softmax and choice in numpy, u", partial(_softmax, SCORES["u"]), scale, is_broken=True),
    ]  # fmt: skip


def _lists(large: int) -> list[Subject]:
    """Return lists of the best two; twice the epsilon is the fault."""
    by_scores = [
        Subject(f"top_k, {method}, t", partial(_top_of_scores, method, 1), large)
        for method in ("peeling", "joint")
    ]
    return [
        *by_scores,
        Subject(
            "top_k, noisy counts, a record more",
            partial(at_once, discreet.top_k, RECORDS, **DRINKS),
            large,
        ),
        Subject("top_k, peeling, at 2ε, t", partial(_top_of_scores, "peeling", 2), large, is_broken=True),
        Subject("top_k, joint, at 2ε, t", partial(_top_of_scores, "joint", 2), large, is_broken=True),
    ]  # fmt: skip


def _top_of_scores(method: str, epsilon: int, side: int, size: int) -> Answers:
    """Return lists of two of three; a method without a size answers one by one."""
    scores, terms = SCORES["t"], {"k": 2, "sensitivity": 1, "epsilon": epsilon, "method": method}
    return at_once(discreet.select_top_k, scores, side, size, **terms)


def _numbers(scale: int, large: int) -> list[Subject]:
    """Return numbers with noise, quantiles, and one person's answer."""
    terms: Any = {"sensitivity": 1}
    median: Any = {"candidates": GRID}
    response: Any = {"candidates": ["yes", "no", "perhaps"]}
    cases: list[tuple[str, Any, Any, dict[str, Any], int]] = [
        ("geometric, 0 and 1", discreet.geometric, (0, 1), terms, scale),
        ("laplace, step 1/8, 0 and 1", discreet.laplace, (0, 1), {**terms, "step": "1/8"}, scale),
        ("median, a record more", discreet.median, NUMBERS, median, large),
        ("randomized_response, yes and no", discreet.randomized_response, ("yes", "no"), response, scale),
        ("best_price, a record more", discreet.best_price, BIDS, median, scale),
        ("select_generalized, sensitivities 1 to 9", discreet.select_generalized, UNEQUAL,
         {"sensitivities": CHANGES}, scale),
    ]  # fmt: skip
    subjects = []
    for epsilon in (1, 2):
        for name, verb, pair, more, draws in cases:
            ask = partial(at_once, verb, pair, epsilon=epsilon, **more)
            label = name if epsilon == 1 else name.replace(",", " at 2ε,", 1)
            subjects.append(Subject(label, ask, draws, is_broken=epsilon == 2))
    return subjects


def _sessions(large: int) -> list[Subject]:
    """Return sparse vector and first above, right and wrong."""
    return [
        Subject("first_above, a record more", partial(first_of_thresholds, 1), large // 5),
        Subject("first_above at 2ε, a record more", partial(first_of_thresholds, 2), large // 5, is_broken=True),
        Subject("AboveThreshold, one answer", partial(above, 1), large // 2),
        Subject("AboveThreshold, two answers", partial(above, 2), large // 2),
        Subject("sparse vector without noise on queries", partial(_sparse_vector, 0), large, is_broken=True),
        Subject("sparse vector of Lee and Clifton", partial(_sparse_vector, 4 / 3), large, is_broken=True),
    ]  # fmt: skip


def _slow(few: int) -> list[Subject]:
    """Return what gives one answer a call."""
    delta = Fraction(1, 100)
    verbs: list[tuple[str, Any, Any, dict[str, Any], Fraction]] = [
        ("quantiles, recursive, a record more", discreet.quantiles, NUMBERS,
         {"alphas": ["0.3", "0.7"], "candidates": GRID}, Fraction(0)),
        ("quantiles, joint, a record more", discreet.quantiles, NUMBERS,
         {"alphas": ["0.3", "0.7"], "candidates": GRID, "method": "joint"}, Fraction(0)),
        ("count, a record more", discreet.count, RECORDS, {}, Fraction(0)),
        ("sum, a record more", discreet.sum, NUMBERS, {"minimum": 0, "maximum": 9}, Fraction(0)),
        ("bounds, a record more", discreet.bounds, NUMBERS, {}, Fraction(0)),
        ("keys at δ = 1/100, a record more", discreet.keys, RECORDS, {"delta": delta}, delta),
        ("counts at δ = 1/100, a record more", discreet.counts, RECORDS, {"delta": delta}, delta),
    ]  # fmt: skip
    subjects = [
        Subject(name, partial(one_by_one, verb, pair, epsilon=1, **terms), few, delta=slack)
        for name, verb, pair, terms, slack in verbs
    ]
    return [
        *subjects,
        Subject("permute_and_flip with its gap, c", partial(with_gap, SCORES["c"]), few),
        Subject("private_candidates, a record more", best_of_tries, few),
    ]


def subjects(draws: int) -> list[Subject]:
    """Return everything that is audited; `draws` is for a choice by scores, and others get their share.

    Sparse vector, the median and lists get five times as many: what can be seen of them is rarer.
    """
    large = 5 * draws
    return [
        *_choices(draws),
        *_lists(large),
        *_numbers(draws, large),
        *_sessions(large),
        *_slow(max(20, draws // 50)),
    ]
