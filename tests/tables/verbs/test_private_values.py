"""The most common values of a column that nobody lists: which mechanism, what is answered, what is refused."""

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import discreet
import discreet.study.audit
from discreet import Ledger, mode, simulate, top_k
from discreet.errors import DiscreetError, InvalidArgument
from discreet.mechanisms.contract import PrivacyParameter
from discreet.mechanisms.private_keys import PrivateKeys
from discreet.privacy import ApproxDP, ApproxRange
from discreet.selection.released_values import ReleasedValue
from discreet.selection.verb_calls import bill_of
from discreet.tables.verbs.private_values import (
    ByDomain,
    ByKeys,
    choose_mechanism,
    name_list,
    name_one,
)

from .test_quotes import Closed

PRIVATE: Any = {"candidates": "private", "delta": "1e-6", "epsilon": 4}
COUNTS = {"/home": 400, "/about": 300, "/jobs": 200, "/rare": 1}
PAGES = [page for page, n in COUNTS.items() for _ in range(n)]
USERS = list(range(len(PAGES)))
TABLE = pl.DataFrame({"page": PAGES, "user": USERS, "old": [i % 2 for i in USERS]})
UNITS: Any = {"privacy_unit": "user"}
ONE, MICRO = PrivacyParameter("epsilon", Fraction(1)), Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("k", "most_keys", "kind", "rows"),
    [
        (1, 1, ByKeys, None),
        (5, 5, ByKeys, None),
        (5, 6, ByDomain, 5000),
        (2, 30, ByDomain, 20),
        (3, None, ByDomain, 30),
        (5000, None, ByDomain, 50_000),
        (5000, 5001, ByDomain, 10**6),
    ],
)
def test_the_mechanism_is_chosen_by_public_numbers(
    k: int, most_keys: int | None, kind: Any, rows: int | None
) -> None:
    way: Any = choose_mechanism(ONE, MICRO, k, most_keys, "add_remove")
    assert way.__class__ is kind
    if rows is not None:
        assert (way.domain.rows, way.domain.most_keys, way.domain.k) == (rows, most_keys, k)
        assert way.guarantee == ApproxRange(Fraction(1, k), Fraction(k), MICRO)
    else:
        mechanism = PrivateKeys(Fraction(1), MICRO, k, shows_counts=True)
        assert way.guarantee == mechanism.guarantee


def test_another_parameter_than_epsilon_takes_limited_domain() -> None:
    way = choose_mechanism(PrivacyParameter("rho", Fraction(1)), MICRO, 5, 1, "replace_one")
    assert isinstance(way, ByDomain)
    core: Any = way.guarantee.core
    assert core.rho <= 1
    assert core.neighbors == "replace_one"


def of_two_units(*pages: str) -> pl.DataFrame:
    """Return a table of two units by the pages of each, one letter a page."""
    rows = [(user, page) for user, some in zip("uv", pages, strict=True) for page in some]
    return pl.DataFrame(rows, schema={"user": pl.String, "page": pl.String}, orient="row")


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("most", [2, 3])
def test_all_tables_of_two_units_keep_the_promise(most: int, neighbors: Any) -> None:
    """A unit of as many values as it may have moves all of them: of one that comes the whole δ is used, no more.

    Where one is replaced the rule is Gaussian, where one comes each key has its own.
    """
    terms: Any = {**UNITS, "candidates": "private", "epsilon": 4, "delta": "1/100"}
    terms |= {"k": 3, "max_candidates": most, "neighbors": neighbors}
    promised = ApproxDP(Fraction(4), Fraction(1, 100), neighbors)
    whole: Any = bill_of(top_k, Closed(), "page", **terms).guarantee
    assert promised in (whole, getattr(whole, "promises", [None])[0])
    after = ["", "c", "bc", "abc"]  # by more than it may, too
    pairs = [*product([""], after, ["", "a", "abc"])]
    if neighbors == "replace_one":
        pairs = [*product(["", "abc"], ["bc"], ["a"])]
    needed = []
    for old, new, other in pairs:
        tables = of_two_units(old, other), of_two_units(new, other)
        audit = discreet.study.audit.exact(top_k, *tables, "page", **terms)
        assert audit.holds
        needed.append(float(audit.hockey_stick(4)))
    assert max(needed) <= 0.01 + 1e-12
    if neighbors == "add_remove":
        assert max(needed) == pytest.approx(0.01)


@pytest.mark.parametrize("data", [PAGES, pd.Series(PAGES)])
def test_rows_are_answered_by_private_keys_with_their_counts(data: Any) -> None:
    release = top_k(data, k=2, **PRIVATE)
    assert release.value == ["/home", "/about"]
    assert all(
        abs(n - COUNTS[page]) < 20 for page, n in zip(release.value, release.counts, strict=True)
    )
    assert release.guarantee == ApproxDP(Fraction(4), MICRO)
    assert release.mechanism == "private_keys"
    one = mode(data, **PRIVATE)
    assert one.value == "/home"
    assert abs(one.counts - 400) < 20


def test_units_of_many_values_are_answered_by_limited_domain() -> None:
    release = top_k(TABLE, "page", k=2, **PRIVATE, **UNITS, max_candidates=3)
    assert release.value == ["/home", "/about"]
    assert release.counts is None
    assert release.guarantee == ApproxRange(Fraction(2), Fraction(2), MICRO)
    assert release.mechanism == "limited_domain"
    assert str(release).startswith("['/home', '/about'] [ε = 4, δ = 0.000001 (add/remove one user)")
    unbounded = mode(TABLE, "page", **PRIVATE, **UNITS)
    assert (unbounded.value, unbounded.mechanism) == ("/home", "limited_domain")
    few = top_k(TABLE, "page", k=2, **PRIVATE, **UNITS, max_candidates=2)
    assert few.mechanism == "private_keys"


@pytest.mark.parametrize("terms", [{}, UNITS])
def test_the_answer_may_be_shorter_or_none(terms: Any) -> None:
    """Of three values that enough records hold no fourth is answered; of none, nothing is."""
    release = top_k(TABLE, "page", k=5, **PRIVATE, **terms)
    assert release.value == ["/home", "/about", "/jobs"]
    rare = pl.DataFrame({"page": [f"/{i}" for i in range(50)], "user": range(50)})
    assert top_k(rare, "page", k=3, **PRIVATE, **terms).value == []
    assert mode(rare, "page", **PRIVATE, **terms).value is None
    nothing = rare.filter(pl.col("user") < 0)
    assert mode(nothing, "page", **PRIVATE, **terms).value is None


def test_a_condition_is_that_of_the_question() -> None:
    half = pl.DataFrame({"page": ["a"] * 300 + ["b"] * 100, "old": [1] * 250 + [0] * 150})
    assert mode(half, "page", **PRIVATE).value == "a"
    release = mode(half, "page", **PRIVATE, where="old = 0")
    assert release.value == "b"
    assert "where" in release.query


def test_what_is_drawn_names_the_answer() -> None:
    drawn: Any = [[ReleasedValue.of("a"), ReleasedValue.of("b")], [7, 5]]
    assert (name_list(drawn).value, name_list(drawn).counts) == (["a", "b"], [7, 5])
    assert (name_one(drawn).value, name_one(drawn).counts) == ("a", 7)
    assert (name_one([[], []]).value, name_one([[], []]).counts) == (None, None)
    assert (name_list([[], []]).value, name_list([[], []]).counts) == ([], None)


@pytest.mark.parametrize("terms", [{}, UNITS])
def test_a_ledger_gives_the_same_values_again(terms: Any, tmp_path: Path) -> None:
    book = Ledger(tmp_path / "budget.db")
    book.open(
        "pages",
        epsilon=9,
        delta="1e-5",
        delta_for="questions",
        privacy_unit=terms.get("privacy_unit"),
    )
    session = book.session("pages")
    asked: Any = {"k": 2, **PRIVATE, **terms, "request": "one"}
    first, again = (session.top_k(TABLE, "page", **asked) for _ in range(2))
    assert (first.charged, again.charged) == (True, False)
    assert (first.value, first.counts) == (again.value, again.counts)
    (budget,) = book.budgets()
    assert budget.remaining.epsilon == 5
    assert budget.spent.delta == MICRO
    with pytest.raises(DiscreetError, match="another question"):
        session.top_k(TABLE, "page", **{**asked, "k": 3})
    assert book.verify()


def test_the_question_says_which_mechanism_and_why() -> None:
    bill = bill_of(top_k, Closed(), "page", k=3, **PRIVATE)
    assert "by private keys with their counts, as one record adds to no more" in bill.query
    assert "a key of fewer than" in str(bill.worst_error)
    bill = bill_of(top_k, Closed(), "page", k=3, **PRIVATE, **UNITS)
    assert bill.query.endswith(
        "among the 30 most common, as one record may add to more values than are asked for, per user"
    )
    by_rho: Any = {"k": 3, **PRIVATE, "epsilon": None, "rho": 1}
    assert "take an epsilon" in bill_of(top_k, Closed(), "page", **by_rho).query
    digests = {
        bill_of(top_k, Closed(), "page", **{"k": 3, **PRIVATE, **other}).digest
        for other in ({}, {"k": 4}, {"delta": "1e-7"}, {"epsilon": 5}, UNITS, {**UNITS, "max_candidates": 4},
                      {"neighbors": "replace_one"}, {"where": "old = 0"})
    }  # fmt: skip
    assert len(digests) == 8


def test_a_sample_for_study() -> None:
    draws = simulate(mode, PAGES, **PRIVATE, size=5)
    assert draws.frequencies() == {"/home": 1.0}
    lists = simulate(top_k, TABLE, "page", k=2, **PRIVATE, **UNITS, size=5)
    assert lists.frequencies() == {("/home", "/about"): 1.0}


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"delta": None}, "needs delta"),
        ({"delta": 1}, "below 1"),
        ({"epsilon": None}, "how much privacy"),
        ({"gap": True}, "gap is not for"),
        ({"method": "counts"}, "method is not for"),
        ({"mechanism": "base2"}, "mechanism is not for"),
        ({"by": "old", "groups": [0, 1]}, "by is not for"),
        ({"max_candidates": 2}, "privacy_unit"),
        ({**UNITS, "max_candidates": 0}, "max_candidates"),
        ({"epsilon": "1e-200"}, "epsilon"),
        ({**UNITS, "k": 10**7}, "k must be"),
    ],
)
def test_what_is_refused_before_anything_is_read(terms: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {"k": 2, **PRIVATE, **terms}
    with pytest.raises(InvalidArgument, match=words):
        top_k(Closed(), "page", **arguments)


def test_unknown_terms_are_refused() -> None:
    with pytest.raises(TypeError, match="seed"):
        top_k(Closed(), "page", k=2, **{**PRIVATE, "seed": 3})
    with pytest.raises(InvalidArgument, match="unsafe_candidates_from_data is not for"):
        mode(Closed(), "page", **PRIVATE, unsafe_candidates_from_data=True)


def test_a_described_dataset(tmp_path: Path) -> None:
    file = tmp_path / "pages.csv"
    TABLE.write_csv(file)
    pages = discreet.Dataset(str(file), columns={"page": {"type": "string"}}, privacy_unit="user")
    assert top_k(pages, "page", k=2, **PRIVATE).value == ["/home", "/about"]
