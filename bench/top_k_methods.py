"""Measures the three methods of `top_k`: how many records a list loses, and how often it is exactly right.

    python -m bench.top_k_methods [--draws 400]

The figures are in docs/reference/mechanisms/top_k.md#top_counts.
"""

import argparse
from collections.abc import Sequence
from typing import Any

from discreet.base.numbers import exact
from discreet.base.text_tables import TextTable
from discreet.mechanisms import Exponential
from discreet.mechanisms.contract import PrivacyParameter, calibrate
from discreet.mechanisms.joint.joint_top_k import JointTopK
from discreet.mechanisms.peeling import Peeling
from discreet.mechanisms.top_counts import TopCounts
from discreet.privacy.sensitivity import sensitivity_of
from discreet.sampling.bits import SystemBits
from discreet.sampling.vectors import Vector, integers

COUNTS = [int(2000 / (1 + 0.15 * place)) for place in range(50)]
EPSILON = "0.1"


def measure(counts: Sequence[int], k: int, method: Any, draws: int) -> tuple[float, float]:
    """Return the mean number of records that lists of a method lose, and the share of exact sets."""
    sensitivity = sensitivity_of(1, "add_remove", monotonic=True)
    parameter = PrivacyParameter("epsilon", exact(EPSILON, "epsilon"))
    law: Any = calibrate(method, sensitivity, parameter).law(
        Vector(integers(counts), integral=True)
    )
    best = sum(sorted(counts, reverse=True)[:k])
    answers = law.draws(draws, SystemBits())
    lists = [answer.indices if method.name == "geometric" else answer for answer in answers]
    losses = [best - sum(counts[i] for i in one) for one in lists]
    return sum(losses) / draws, sum(loss == 0 for loss in losses) / draws


def table(draws: int) -> TextTable:
    """Return the table of all methods."""
    rows = []
    for k in (1, 5, 10, 20):
        methods: list[Any] = [
            TopCounts(k),
            Peeling(Exponential(), k),
            JointTopK(Exponential(), k, True),
        ]
        cells = [measure(COUNTS, k, method, draws) for method in methods]
        rows.append((str(k), *(f"{loss:.3g} / {share:.3f}" for loss, share in cells)))
    caption = f"records lost / exact sets: 50 candidates, ε = {EPSILON}, {draws} draws"
    return TextTable(("k", "counts", "peeling", "joint"), tuple(rows), caption)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    print(table(parser.parse_args().draws))
