"""Everything that reports are about, drawn from bits of a script and at times of a script: always the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import count
from typing import Any
from unittest import mock

import discreet
from discreet import Grid, Ledger, audit
from discreet.ledger import transaction
from discreet.privacy.guarantees import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    GaussianDP,
    LaplaceDP,
    LogisticDP,
    LossDP,
    MixedRange,
    NoGuarantee,
    PureDP,
    RenyiDP,
    SummedRange,
)
from discreet.privacy.pld import LossDistribution
from discreet.study.audit import TimingAudit

from ...scripted_words import on_words

DRINKS = {"茶": 310, "coffee & milk": 412, "<water>": 45}
WORDS = [0x9E3779B97F4A7C15, 0x3C6EF372FE94F82A, 0xDAA66D2C7DDF743F, 0x78DDE6E5FD29F054]

Subject = tuple[Any, dict[str, Any]]


def subjects() -> dict[str, Subject]:
    """Return the subjects of reports of every kind, with the other arguments of `report`, by name."""
    with _days():
        made: dict[str, Subject] = on_words(WORDS, lambda: {**releases(), **audits(), **budgets()})
        return made


def releases() -> dict[str, Subject]:
    """Return releases of every kind of answer, guarantee and mechanism."""
    vote: dict[str, Any] = {"sensitivity": 1, "monotonic": True}
    numbered = dict(enumerate(DRINKS.values()))
    whole = discreet.distribution(numbered, **vote, epsilon=1)
    ages = [31, 34, 40, 47, 58, 61, 29, 77]
    grid = Grid(0, 120)
    table = {"age": ages, "sex": ["f", "m"] * 4, "person": [1, 1, 2, 3, 4, 5, 6, 7]}
    made = {
        "release": discreet.select(numbered, **vote, epsilon=1),
        "several": discreet.select(DRINKS, **vote, epsilon=1, size=300),
        "rho": discreet.select(DRINKS, **vote, rho="1/2", mechanism="permute_and_flip"),
        "huge": discreet.select(DRINKS, spread=1, epsilon=40, neighbors="replace_one"),
        "noisy max": discreet.select(DRINKS, **vote, epsilon="1/3", mechanism="noisy_max"),
        "base 2": discreet.select(DRINKS, **vote, epsilon=1, mechanism="base2"),
        "median": discreet.median(ages, candidates=grid, epsilon="1/4"),
        "quartiles": discreet.quantiles(ages, alphas=("1/4", "1/2", "3/4"), candidates=grid, epsilon=1),
        "groups": discreet.median(table, "age", candidates=grid, by="sex", groups=["f", "m"], epsilon=1),
        "units": discreet.median(table, "age", candidates=grid, privacy_unit="person", epsilon=1),
        "top": discreet.select_top_k(DRINKS, k=2, **vote, epsilon=1),
        "noise": discreet.geometric(3, sensitivity=1, epsilon=1),
        "laplace": discreet.laplace(3, sensitivity=1, epsilon="1/7"),
        "unsafe": discreet.mode(["a", "b", "a"], unsafe_candidates_from_data=True, epsilon=1),
    }  # fmt: skip
    private = (made["release"], {"private_law": whole})
    return {**{name: (one, {}) for name, one in made.items()}, "private": private}


def audits() -> dict[str, Subject]:
    """Return audits with every verdict."""

    def longest(records: list[int], limits: list[int]) -> list[int]:
        return [min(limit, max(records, default=0)) for limit in limits]

    def failing(records: list[int], limits: list[int]) -> list[int]:
        raise ValueError

    def apart(records: list[int], limits: list[int]) -> list[int]:
        return [len(records), -len(records)]

    over: tuple[Any, ...] = ([5, 10], range(13), range(3))
    work = {"words": (3, 3), "bits": (64, 64)}
    chances = {"words": Fraction(1), "bits": Fraction(1), "time": Fraction(1, 10**6)}
    timing = TimingAudit(work, work, 1.25, chances, 200, Fraction(1, 1000))
    quiet = TimingAudit(work, {**work, "bits": (64, 128)}, 1.0, dict.fromkeys(chances, Fraction(1)),
                        50, Fraction(1, 1000))  # fmt: skip
    found = {
        "exact": audit.exact([1, 0, 0], [0, 1, 0], sensitivity=1, epsilon=2),
        "false": audit.laws([1, 0], [0, 1], epsilon=1),
        "delta": audit.laws(["1/2", "1/2"], ["1/4", "3/4"], epsilon="1/10", delta="1/2"),
        "long": audit.exact([0] * 50, [1] + [0] * 49, sensitivity=1, epsilon=2),
        "samples": audit.samples(["a"] * 50, ["b"] * 50),
        "sensitivity": audit.sensitivity(longest, *over, sensitivity=10, monotonic=True),
        "sensitivity false": audit.sensitivity(longest, *over, sensitivity=5),
        "sensitivity spread": audit.sensitivity(longest, *over, spread=1),
        "sensitivity failing": audit.sensitivity(failing, *over, sensitivity=10),
        "sensitivity apart": audit.sensitivity(
            apart, [5, 10], range(3), range(3), sensitivity=1, monotonic=True
        ),
        "sensitivity sample": audit.sensitivity(longest, *over, sensitivity=10, budget=20),
        "timing": timing,
        "timing quiet": quiet,
    }
    return {f"audit {name}": (one, {}) for name, one in found.items()}


def budgets() -> dict[str, Subject]:
    """Return ledgers with budgets of every kind, and a release with what remains."""
    ledger = Ledger()
    ledger.open("投票", epsilon=3)
    ledger.open("投票", analyst="小王", epsilon=2)
    ledger.session("投票", "小王").select(DRINKS, sensitivity=1, epsilon="1/3")
    ledger.extend("投票", epsilon=4)
    ledger.session("投票").select(DRINKS, sensitivity=1, epsilon="1/2")
    paid = discreet.select(DRINKS, sensitivity=1, epsilon=1)
    failing, empty, rho, outside = Ledger(), Ledger(), Ledger(), Ledger()
    failing.open("投票", epsilon=1, delta="1e-6", delta_for="questions", privacy_unit="人")
    empty.open("投票", rho="1/2", neighbors="replace_one")
    rho.open("投票", epsilon=1, delta="1e-6", delta_for="composition", privacy_unit=("家", "人"))
    for _ in range(3):
        rho.session("投票").select(DRINKS, sensitivity=1, epsilon="1/10", privacy_unit=("家", "人"))
    outside.open("投票", epsilon=2)
    outside.session("投票").charge(PureDP(Fraction(1, 2)), description="mean age", request="m1")
    outside.session("投票").done("m1", "means.json")
    books = {
        "shares": ledger,
        "delta": failing,
        "empty": empty,
        "composition": rho,
        "outside": outside,
    }
    told = {"dataset": "投票"}
    return {
        "paid": (paid, {"ledger": ledger, **told}),
        **{f"ledger {name}": (book, told) for name, book in books.items()},
    }


def guarantees() -> list[Any]:
    """Return guarantees of every kind."""
    one = Fraction(1)
    kinds = (BoundedRange, MixedRange, SummedRange, LogisticDP, LaplaceDP, PureDP)
    simple: list[Any] = [kind(one / 3, "replace_one") for kind in kinds] + [
        kind(one) for kind in kinds
    ]
    several: list[Any] = [
        ApproxDP(one, one / 1000), ZCDP(one / 2), GaussianDP(one, "replace_one"),
        NoGuarantee("the candidates were taken from the data"), NoGuarantee("a reason"),
    ]  # fmt: skip
    curves = [RenyiDP({2: "1/2", 3: "3/4"}), LossDP(LossDistribution.gaussian(1, "1/16"))]
    composed = [
        discreet.compose(several[0]), discreet.compose([simple[-1]] * 3), discreet.compose(simple[6:]),
        discreet.compose(several[:2]), discreet.compose(several[0], several[3]), discreet.compose(several[3]),
        discreet.compose([PureDP(Fraction(1, k)) for k in range(1, 12)]),
        discreet.compose([ZCDP(one / 2)] * 1200),
    ]  # fmt: skip
    return simple + several + curves + composed


@contextmanager
def _days() -> Iterator[None]:
    """Let ten days pass between any two events of ledgers."""
    days = count()

    def now() -> str:
        past = timedelta(days=10 * next(days))
        return transaction.time_text(datetime(2026, 1, 5, 10, 30, tzinfo=UTC) + past)

    with mock.patch.object(transaction, "_now", now):
        yield
