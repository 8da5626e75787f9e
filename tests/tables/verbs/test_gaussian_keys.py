"""Keys of units that hold several, by Gaussian thresholds: through the verbs, with what they say and charge."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.mechanisms import private_keys
from discreet.mechanisms.private_keys import PrivateKeys
from discreet.mechanisms.testing import SeededBits
from discreet.privacy import ApproxDP
from discreet.sampling import gaussian_probabilities
from discreet.selection.verb_calls import bill_of
from discreet.tables.engines.key_counts import TableOfKeys
from discreet.tables.verbs.keys import KeyQuestion, read_limits

ASK: dict[str, Any] = {"privacy_unit": "who", "epsilon": 1, "delta": "1e-6", "max_groups": 10}


def visits(users: int, pages: int, each: int) -> pl.DataFrame:
    """Return visits of users to so many pages each, spread evenly."""
    rows = np.arange(users * each)
    return pl.DataFrame({"who": rows // each, "page": rows % pages})


def test_every_page_of_many_people_is_shown() -> None:
    """Of 240 pages of 125 people each, ten pages a person: the optimal rule shows about 72 of them.

    Each is shown with a probability of 0.99997, so that not all of them are in one run of two hundred.
    """
    release = discreet.keys(visits(3000, 240, 10), "page", **ASK)
    assert set(release.value) <= {*range(240)}
    assert len(release.value) >= 237
    whole: Any = release.guarantee
    assert whole.promises[0] == ApproxDP(Fraction(1), Fraction(1, 10**6))
    counts = discreet.counts(visits(3000, 240, 10), "page", **ASK).value
    assert len(counts) >= 237
    assert min(counts.values()) >= 71
    assert abs(np.mean([*counts.values()]) - 125) < 5


def test_other_verbs_that_draw_keys() -> None:
    data = visits(3000, 240, 10).with_columns(age=pl.col("who") % 90)
    medians = discreet.median(
        data, "age", by="page", groups="private", epsilon=2, delta="1e-6", max_groups=10,
        privacy_unit="who", candidates=discreet.Grid(0, 100),
    ).value  # fmt: skip
    assert len(medians) >= 237
    best = discreet.top_k(
        data, "page", k=30, candidates="private", max_candidates=10, privacy_unit="who",
        epsilon=1, delta="1e-6",
    )  # fmt: skip
    assert len(best.value) == 30
    assert min(best.counts) > 71


def test_what_is_asked_for_decides_the_rule() -> None:
    """At three keys a unit: keys alone by weights and a threshold, keys with counts each by itself."""
    for verb, even, words, rule in (
        (discreet.keys, 38, "fewer than 23 records", "weights"),
        (discreet.counts, 40, "fewer than 40 records", "optimal"),
    ):
        bill = bill_of(verb, None, "page", **{**ASK, "max_groups": 3})
        assert words in str(bill.worst_error)
        plan = discreet.plan_keys(1, "1e-6", max_groups=3, with_counts=verb is discreet.counts)
        assert (plan.even, plan.rule) == (even, rule)


@pytest.fixture
def short_tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The last class begins soon after the threshold, so that many of its keys are not shown."""
    caches = gaussian_probabilities.gaussian_probabilities, private_keys._drawing
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setattr(gaussian_probabilities, "_NATS", 0)
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("short_tables")
@pytest.mark.parametrize("least", [1, 5])
def test_keys_of_the_last_class_are_compared_with_their_own_counts(least: int) -> None:
    """Their noise is drawn without a condition: shown are those whose noisy counts reach the threshold."""
    mechanism = PrivateKeys(Fraction(1), Fraction(1, 10**6), 10, "add_remove", least, True)
    assert mechanism.sure == 71 + least
    table = pl.DataFrame({"page": [page for page in range(400) for _ in range(75 + least)]})
    question = KeyQuestion(
        TableOfKeys(table, "page"), mechanism, read_limits("1e-6", least), Fraction(1), True
    )
    counts = question.table.open()
    classes = counts.classes(mechanism.sure)
    assert classes.sizes == [0] * (mechanism.sure - 1) + [400]
    keys, numbers, _ = question.draw(counts, classes, SeededBits(2))
    drawn = mechanism.law(classes.sizes, with_counts=True).draw(SeededBits(2))
    assert drawn.shifts is not None
    assert sorted(numbers) == sorted(n for n in drawn.shifts + 75 + least if n >= 70 + least)
    assert min(numbers) >= drawn.least == 70 + least
    assert abs(len(keys) / 400 - float(mechanism.chance(75 + least, with_counts=True))) < 0.1
    without = mechanism.law(classes.sizes, with_counts=False).draw(SeededBits(2))
    assert abs(len(without.places) / 400 - float(mechanism.chance(1000))) < 0.1


def test_all_answers_of_a_small_table() -> None:
    """By audits, with counts: of a page that two people share, and one of a third."""
    data = pl.DataFrame({"who": ["a", "a", "a"], "page": ["x", "y", "z"]})
    terms: dict[str, Any] = {**ASK, "epsilon": 4, "delta": "1/10", "max_groups": 6}
    plan = discreet.plan_keys(4, "1/10", max_groups=6)
    assert plan.rule == "weights"
    law = discreet.distribution(discreet.keys, data, "page", **terms)
    few, all_ = (float(plan.probability(1, keys=keys)) for keys in (3, 6))
    assert few > all_
    assert law.pmf()[()] == pytest.approx((1 - few) ** 3)
    one = data.head(1)
    counted = discreet.plan_keys(4, "1/10", max_groups=6, with_counts=True)
    assert counted.rule == "gaussian"
    chance = float(counted.probability(1))
    with_rest = discreet.distribution(discreet.counts, one, "page", **terms).pmf()
    assert sum(with_rest.values()) == pytest.approx(1)
    assert with_rest[()] == pytest.approx(1 - chance)
