"""Twenty-six calls of the core, with words of a script: what they answer with numpy and flint alone.

`python -m tests.core_calls` prints the replies as JSON. `--store` keeps them in golden/core_calls.json: after a
change of a distribution or a text on purpose.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

STORED = Path(__file__).parent / "golden" / "core_calls.json"
NEEDED = {"numpy", "flint"}
VOTES = {"tea": 3, "coffee": 5, "milk": 4}
ROWS = [[1.0, 2.0, 0.5], [0.0, 3.0, 1.0]]


def script_words() -> None:
    """Give the words of a script in place of the operating system's."""
    places = count()

    def urandom(n: int) -> bytes:
        texts = iter(lambda: hashlib.sha256(f"{next(places)}".encode()).digest(), None)
        found = b""
        while len(found) < n:
            found += next(texts)
        return found[:n]

    os.urandom = urandom


class OnlyNeeded:
    """Refuses every package but the needed ones and Python's own."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Raise for another package."""
        package = name.partition(".")[0]
        if package not in {"discreet", *NEEDED, *sys.stdlib_module_names}:
            raise ImportError(f"{name} is no package of the core")


class Purse:
    """An account that pays whatever is asked, and keeps the bills."""

    def __init__(self) -> None:
        self.bills: list[str] = []

    def buy(self, bill: Any, prepare: Callable[[], Callable[[], Any]]) -> Any:
        """Keep the bill; return the draw."""
        self.bills.append(f"{bill.query}: {bill.guarantee}")
        return prepare()()


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the calls, by what they are."""
    import numpy as np

    import discreet
    from discreet.privacy import Odometer, PureDP

    def pure(epsilon: int | str) -> PureDP:
        return PureDP(Fraction(epsilon), "add_remove")

    terms: dict[str, Any] = {"sensitivity": 1, "epsilon": 1}
    purse = Purse()
    release = discreet.select(VOTES, **terms)
    yield "select by name", lambda: discreet.select(VOTES, **terms)
    yield "select from floats", lambda: discreet.select([1.0, 2.5, 0.25], **terms)
    yield "select from an array", lambda: discreet.select(np.arange(3000.0), **terms)
    yield "select at once", lambda: discreet.select(VOTES, size=3, **terms)
    yield (
        "select by permute and flip",
        lambda: discreet.select(VOTES, mechanism="permute_and_flip", **terms),
    )
    yield "select for rho", lambda: discreet.select(VOTES, sensitivity=1, rho="1/8")
    yield (
        "select from an account",
        lambda: (discreet.select(VOTES, ledger=purse, **terms), purse.bills),
    )
    yield "laplace", lambda: discreet.laplace(10, **terms)
    yield (
        "laplace within bounds",
        lambda: discreet.laplace(Fraction(5, 2), step="0.5", lo=0, hi=10, **terms),
    )
    yield "geometric", lambda: discreet.geometric(7, **terms)
    yield "randomized response", lambda: discreet.randomized_response("tea", [*VOTES], epsilon=1)
    yield "selector", lambda: [discreet.selector([*VOTES], **terms)([3, 5, 4]) for _ in range(2)]
    yield "select generalized", lambda: discreet.select_generalized(VOTES, [1, 2, 1], epsilon=1)
    yield "select rows", lambda: discreet.select_rows(ROWS, **terms)
    yield "select top k", lambda: discreet.select_top_k(VOTES, k=2, **terms)
    yield (
        "select top k with gaps",
        lambda: discreet.select_top_k(VOTES, k=2, gap=True, size=2, **terms),
    )
    yield "select top k jointly", lambda: discreet.select_top_k(VOTES, k=2, method="joint", **terms)
    yield (
        "compose",
        lambda: discreet.compose(pure(1), [pure("1/2")] * 3),
    )
    yield "compose in parallel", lambda: discreet.compose_parallel(*[pure(1)] * 2)
    yield "approx", lambda: discreet.compose([pure("1/4")] * 40).approx("1e-6")
    yield "odometer", lambda: Odometer("add_remove").after(pure(1))
    yield (
        "above a threshold",
        lambda: [
            session.ask(value) for session in [discreet.AboveThreshold(5, 1, 4)] for value in (0, 1)
        ],
    )
    yield (
        "check of a mechanism",
        lambda: discreet.testing.check_mechanism(
            discreet.mechanisms.Exponential(), epsilon=1, depth=6
        ),
    )
    yield "repr", lambda: repr(release)
    yield "in a notebook", lambda: release._repr_html_()
    yield "as plain values", release.as_dict


def plain(value: object) -> object:
    """Return a reply as text, with the guarantee of an answer."""
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    guarantee = getattr(value, "guarantee", None)
    return repr(value) if guarantee is None else [repr(value), repr(guarantee)]


def replies() -> dict[str, object]:
    """Return the replies of all calls."""
    script_words()
    return {name: plain(call()) for name, call in calls()}


if __name__ == "__main__":
    sys.meta_path.insert(0, OnlyNeeded())
    text = json.dumps(replies(), ensure_ascii=False, indent=1)
    if "--store" in sys.argv:
        STORED.write_text(f"{text}\n", encoding="utf-8")
    else:
        print(text)
