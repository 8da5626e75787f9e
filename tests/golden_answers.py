"""What every verb answers on scripted bits: recorded once, and not to change when code moves.

`python -m tests.golden_answers` records them again, which only a change of a distribution on purpose may need.
An answer is a function of the bits that are read, so the same bits must give the same answer whatever path
computed it, and whatever engine holds the table.
"""

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
import pyarrow as pa

import discreet
from discreet import Grid
from discreet.mechanisms import Base2, Base2Eta, Exponential, NoisyMax, PermuteAndFlip
from discreet.sampling.bits import SystemBits

from .engines import ENGINES

RECORDED = Path(__file__).with_suffix(".json")
LISTED: dict[str, Any] = {
    "exponential": Exponential(),
    "permute_and_flip": PermuteAndFlip(),
    "base2": Base2(),
    "gumbel": NoisyMax("gumbel"),
    "laplace": NoisyMax("laplace"),
}
"""The mechanisms that take candidates in a list."""

ON_GRIDS = ("exponential", "permute_and_flip")
"""Those that take grids too."""


class ScriptedBits:
    """Words that depend on a text alone, in the place of the operating system's."""

    def __init__(self, seed: str) -> None:
        self.seed, self.read = seed, 0

    def word(self) -> int:
        """Return the next word."""
        self.read += 1
        digest = hashlib.sha256(f"{self.seed}/{self.read}".encode()).digest()
        return int.from_bytes(digest[:8], "big")

    def words(self, n: int) -> Any:
        """Return the next words."""
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)

    def ask(self, call: Callable[[], Any]) -> Any:
        """Return what the call returns when all randomness is these words."""
        with (
            patch.object(SystemBits, "word", lambda _: self.word()),
            patch.object(SystemBits, "words", lambda _, n: self.words(n)),
        ):
            return call()


def table() -> pa.Table:
    """Thirty-six records of twelve users in three cities, with ties, nulls and values at the borders."""
    n = range(36)
    return pa.table(
        {
            "user": [f"u{i * 7 % 12}" if i % 11 else None for i in n],
            "city": [["Basel", "Bern", "Zürich", "Genf"][i * i % 4 if i % 5 else 3] for i in n],
            "age": pa.array([None if i == 17 else 20 + i * 13 % 41 for i in n], pa.int64()),
            "pay": [round(0.25 * (i * 29 % 37) - 1, 2) for i in n],
        }
    )


def from_tables(engine: str, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield a name and a call for everything that is asked of the table in an engine."""
    data = ENGINES[engine](table(), folder)
    cities, ages = ["Basel", "Bern", "Zürich"], Grid(18, 70)
    fine = Grid(-2, 10, "0.001")
    user: dict[str, Any] = {"privacy_unit": "user"}
    by_city: dict[str, Any] = {"by": "city", "groups": cities[:2]}
    both = {**user, **by_city, "max_groups": 2}
    for name, mechanism in LISTED.items():
        yield (
            f"mode/{name}",
            partial(discreet.mode, data, "city", candidates=cities, epsilon=1, mechanism=mechanism),
        )
    for name in ON_GRIDS:
        yield (
            f"median/{name}",
            partial(discreet.median, data, "age", candidates=ages, epsilon=1, mechanism=name),
        )
        yield (
            f"median by distance/{name}",
            partial(
                discreet.median,
                data,
                "age",
                candidates=ages,
                score="median_distance",
                epsilon=1,
                mechanism=name,
            ),
        )
        yield (
            f"quantile/{name}",
            partial(
                discreet.quantile,
                data,
                "pay",
                alpha=Fraction(1, 3),
                candidates=fine,
                epsilon=2,
                mechanism=name,
            ),
        )
    yield (
        "quantile/listed",
        partial(
            discreet.quantile,
            data,
            "pay",
            alpha="0.9",
            candidates=[-1, 0, Decimal("2.5"), 9],
            epsilon=1,
        ),
    )
    yield "minimum", partial(discreet.minimum, data, "age", candidates=ages, epsilon=1)
    yield "maximum", partial(discreet.maximum, data, "age", candidates=ages, epsilon=1)
    for method in ("recursive", "joint", "independent"):
        yield (
            f"quantiles/{method}",
            partial(
                discreet.quantiles,
                data,
                "age",
                alphas=["0.25", "0.5", "0.75"],
                candidates=ages,
                method=method,
                epsilon=2,
            ),
        )
    yield (
        "price",
        partial(discreet.best_price, data, "pay", candidates=Grid(0, 8, "0.01"), epsilon=2),
    )
    yield (
        "price/supply",
        partial(
            discreet.best_price,
            data,
            "pay",
            candidates=Grid(0, 8, "0.01"),
            supply=5,
            continuous=True,
            epsilon=2,
        ),
    )
    way: Literal["peeling", "joint"]
    for way in ("peeling", "joint"):
        yield (
            f"top_k/{way}",
            partial(
                discreet.top_k,
                data,
                "city",
                k=2,
                candidates=[*cities, "Genf"],
                method=way,
                epsilon=2,
            ),
        )
    yield (
        "top_k/permute_and_flip",
        partial(
            discreet.top_k,
            data,
            "city",
            k=3,
            candidates=[*cities, "Genf"],
            mechanism="permute_and_flip",
            epsilon=2,
        ),
    )
    for name, terms in {"user": user, "groups": by_city, "user and groups": both}.items():
        few = {**terms, "max_contributions": 2} if "privacy_unit" in terms else terms
        yield (
            f"mode/{name}",
            partial(discreet.mode, data, "city", candidates=cities, epsilon=1, **terms),
        )
        yield (
            f"median/{name}",
            partial(discreet.median, data, "age", candidates=ages, epsilon=3, **few),
        )
        yield (
            f"quantiles/{name}",
            partial(
                discreet.quantiles,
                data,
                "age",
                alphas=["0.25", "0.75"],
                candidates=ages,
                epsilon=3,
                neighbors="replace_one",
                **few,
            ),
        )
        yield (
            f"price/{name}",
            partial(
                discreet.best_price, data, "pay", candidates=Grid(0, 8, "0.01"), epsilon=3, **few
            ),
        )
        yield (
            f"top_k/{name}",
            partial(
                discreet.top_k,
                data,
                "city",
                k=2,
                candidates=cities,
                epsilon=2,
                method="peeling",
                **terms,
            ),
        )


def from_memory() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield a name and a call for everything that is asked of scores, numbers and single values."""
    votes = {"tea": 31, "coffee": 33, "water": 4}
    floats = np.sin(np.arange(300.0)) * 5
    for name, mechanism in LISTED.items():
        for terms in ({}, {"neighbors": "replace_one"}, {"size": 4}):
            said = ",".join(map(str, terms.values()))
            yield (
                f"select/{name}/{said}",
                partial(
                    discreet.select,
                    votes,
                    sensitivity=1,
                    monotonic="neighbors" not in terms,
                    epsilon="1/2",
                    mechanism=mechanism,
                    **terms,
                ),
            )
            yield (
                f"select floats/{name}/{said}",
                partial(
                    discreet.select, floats, sensitivity=1, epsilon=2, mechanism=mechanism, **terms
                ),
            )
        yield (
            f"top_k/{name}",
            partial(
                discreet.select_top_k, floats, k=3, sensitivity=1, epsilon=9, mechanism=mechanism
            ),
        )
        yield (
            f"generalized/{name}",
            partial(discreet.select_generalized, votes, [1, 2, 1], epsilon=2, mechanism=mechanism),
        )
        yield (
            f"randomized_response/{name}",
            partial(
                discreet.randomized_response, "b", ["a", "b", "c"], epsilon=1, mechanism=mechanism
            ),
        )
    yield (
        "select/base2 eta",
        partial(discreet.select, votes, sensitivity=1, mechanism=Base2(eta=Base2Eta(3, 2, 1))),
    )
    yield "select/rho", partial(discreet.select, votes, spread=1, rho="1/8")
    yield "select/scale", partial(discreet.select, votes, sensitivity=1, scale=3)
    yield (
        "select/base measure",
        partial(
            discreet.select,
            votes,
            sensitivity=1,
            epsilon=1,
            mechanism=Exponential(base_measure=[1, 2, "1/3"]),
        ),
    )
    yield "select_by", partial(discreet.select_by,
        lambda data, options: [sum(data) * o for o in options], [1, 2], [1, 2, 3],
        sensitivity=6, epsilon=1,
    )  # fmt: skip
    yield (
        "laplace/bounded",
        partial(
            discreet.laplace, Fraction(37, 10), sensitivity=1, step="0.25", lo=0, hi=9, epsilon=1
        ),
    )
    yield "laplace", partial(discreet.laplace, 12.5, sensitivity=2, step="0.1", epsilon="1/3")
    yield "geometric", partial(discreet.geometric, 7, sensitivity=1, epsilon="1/2", size=5)
    ages = [20 + i * 13 % 41 for i in range(60)]
    yield "median/list", partial(discreet.median, ages, candidates=Grid(18, 70), epsilon=1)
    yield (
        "median/histogram",
        partial(discreet.median, {20: 3, 30: 10**12, 41: 7}, candidates=Grid(18, 70), epsilon=1),
    )
    yield (
        "median/fine",
        partial(discreet.median, floats, candidates=Grid(-10, 10, "1/1000000000"), epsilon=1),
    )
    for method in ("recursive", "joint", "independent"):
        yield (
            f"quantiles/{method}",
            partial(
                discreet.quantiles,
                ages,
                alphas=["0.1", "0.5", "0.6"],
                candidates=Grid(18, 70),
                method=method,
                epsilon=1,
                neighbors="replace_one",
            ),
        )
    yield (
        "price/units",
        partial(
            discreet.best_price, [3, 2.5, 1, 1, 3], candidates=Grid(0, 4, "1/3"), units=2, epsilon=4
        ),
    )
    yield (
        "private_candidates",
        partial(
            discreet.private_candidates,
            lambda data, candidate, share: (candidate * data, str(share)),
            3,
            [1, 2, 3],
            epsilon=1,
        ),
    )


def spelled(release: Any) -> dict[str, Any]:
    """Return what is recorded of a release."""
    value = release.value.tolist() if isinstance(release.value, np.ndarray) else release.value
    return {
        "value": repr(value),
        "mechanism": release.mechanism,
        "guarantee": release.guarantee.as_dict(),
        "unit": release.unit,
    }


def answered(calls: Iterator[tuple[str, Callable[[], Any]]]) -> dict[str, Any]:
    """Return what all calls answer, each on bits of its own."""
    return {name: spelled(ScriptedBits(name).ask(call)) for name, call in calls}


def main() -> None:
    """Record what is answered now, from memory and from a table; all engines must agree on the latter."""
    with tempfile.TemporaryDirectory() as folder:
        found = {"memory": answered(from_memory()),
                 "table": answered(from_tables("parquet", Path(folder)))}  # fmt: skip
    RECORDED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
