"""The public names, for type checkers and editors. Written from the code by `make stub`."""

from collections.abc import Iterable as _Iterable
from collections.abc import Mapping as _Mapping
from collections.abc import Sequence as _Sequence
from typing import Any as _Any
from typing import Literal as _Literal
from typing import TypeVar as _TypeVar
from typing import overload as _overload

import numpy as _np
from numpy.typing import NDArray as _NDArray

import discreet.tables.engines as _tables

from . import errors as errors
from . import mechanisms as mechanisms
from . import privacy as privacy
from .base.numbers import Number as _Number
from .errors import DiscreetError as DiscreetError
from .ledger import Budget as Budget
from .ledger import Ledger as Ledger
from .ledger import Session as Session
from .ledger.batches import Batch as Batch
from .ledger.toml_budgets import read_dataset as read_dataset
from .mechanisms import testing as testing
from .mechanisms.contract import Mechanism as _Mechanism
from .privacy.composition import compose as compose
from .privacy.parallel import compose_parallel as compose_parallel
from .privacy.sensitivity import Neighbors as _Neighbors
from .selection.above_threshold import AboveThreshold as AboveThreshold
from .selection.account import Account as _Account
from .selection.candidate_types import Indexed as _Indexed
from .selection.candidates import Grid as Grid
from .selection.candidates import Grid as _Grid
from .selection.date_grid import AnyGrid as _AnyGrid
from .selection.date_grid import DateGrid as DateGrid
from .selection.date_grid import DateGrid as _DateGrid
from .selection.decimals import Decimals as Decimals
from .selection.decimals import Decimals as _Decimals
from .selection.releases import Release as Release
from .selection.releases import Release as _Release
from .selection.scores.custom import ScoreFunction as _ScoreFunction
from .selection.scores.custom import per_candidate as per_candidate
from .selection.select_top_k import ListMethod as _ListMethod
from .selection.selector import Selector as _Selector
from .service import Connection as Connection
from .service import connect as connect
from .study import attacks as attacks
from .study import audit as audit
from .study import plots as plots
from .study.planning.compare import compare as compare
from .study.planning.key_plan import plan_keys as plan_keys
from .study.planning.simulate import distribution as distribution
from .study.planning.simulate import simulate as simulate
from .study.planning.worst_errors import epsilon_for as epsilon_for
from .study.planning.worst_errors import worst_error as worst_error
from .study.reports import report as report
from .tables.datasets import Dataset as Dataset
from .tables.engines.candidate_table import CandidateTable as CandidateTable
from .tables.engines.candidate_table import CandidateTable as _CandidateTable
from .tables.engines.csv_files import scan_csv as scan_csv
from .tables.engines.sql_queries import scan_query as scan_query
from .tables.verbs.check import check as check
from .tables.verbs.list_methods import TopKMethod as _TopKMethod
from .tables.verbs.mode import ModeMethod as _ModeMethod
from .tables.verbs.private_candidates import private_candidates as private_candidates
from .tables.verbs.profile import profile as profile
from .tables.verbs.quantiles import QuantilesMethod as _QuantilesMethod
from .tables.verbs.sql import sql as sql

_T = _TypeVar("_T")

@_overload
def best_price(
    data: object,
    column: str | None = None,
    *,
    candidates: _Grid[_T],
    supply: int | None = None,
    units: int = 1,
    continuous: bool = False,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_T]:
    """Release a price that brings in much: price * (number of bids at or above it), at most `supply`.

    One bid is one record. It is compared with the prices by itself: one below the lowest price buys
    nothing, one above the highest counts as the highest, and a missing bid or NaN is ignored.

    Args:
        data: the bids: numbers in an array, a series or a list; or a table or the path of a file, with `column`.
            Private.
        column: the name of the column of the table that holds the bids. Without it the data are the bids.
        candidates: the possible prices, in units of the bids, none below zero: `Grid(0, "3.5", "0.01")`, as fine
            as one likes; public. May be left out for a `Dataset` that declares the bounds of the column.
        supply: how many units there are to sell; without it, as many as are wanted.
        units: the most units one bidder may want, 1 by default, one row per unit. It costs that many
            times as much, and you must have bounded the rows of a bidder to it; or leave it out and name
            the column of bidders as `privacy_unit`, with `max_contributions`.
        continuous: False by default; True to draw any real price from `candidates.lo` to `candidates.hi`, and
            release it rounded down to the grid. Bids are rounded down to the grid first.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the bids are no numbers in rows, or the column is not there.

    Side channels: those of the mechanism; time and memory depend on the number of bids and on the
    type of the numbers, and of distinct bids where they are not floats or integers in memory, or up to 2**24 of
    them in a file or in DuckDB, which are brought to memory. An engine that counts on the grid sends at most two
    counts for every price that is somebody's highest, and distinct bids right at prices: docs/reference/tables.md.
    """
    ...

@_overload
def best_price(
    data: object,
    column: str | None = None,
    *,
    candidates: _Grid | None = None,
    supply: int | None = None,
    units: int = 1,
    continuous: bool = False,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release a price that brings in much: price * (number of bids at or above it), at most `supply`.

    One bid is one record. It is compared with the prices by itself: one below the lowest price buys
    nothing, one above the highest counts as the highest, and a missing bid or NaN is ignored.

    Args:
        data: the bids: numbers in an array, a series or a list; or a table or the path of a file, with `column`.
            Private.
        column: the name of the column of the table that holds the bids. Without it the data are the bids.
        candidates: the possible prices, in units of the bids, none below zero: `Grid(0, "3.5", "0.01")`, as fine
            as one likes; public. May be left out for a `Dataset` that declares the bounds of the column.
        supply: how many units there are to sell; without it, as many as are wanted.
        units: the most units one bidder may want, 1 by default, one row per unit. It costs that many
            times as much, and you must have bounded the rows of a bidder to it; or leave it out and name
            the column of bidders as `privacy_unit`, with `max_contributions`.
        continuous: False by default; True to draw any real price from `candidates.lo` to `candidates.hi`, and
            release it rounded down to the grid. Bids are rounded down to the grid first.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the bids are no numbers in rows, or the column is not there.

    Side channels: those of the mechanism; time and memory depend on the number of bids and on the
    type of the numbers, and of distinct bids where they are not floats or integers in memory, or up to 2**24 of
    them in a file or in DuckDB, which are brought to memory. An engine that counts on the grid sends at most two
    counts for every price that is somebody's highest, and distinct bids right at prices: docs/reference/tables.md.
    """
    ...

def bounds(
    data: object,
    column: str | None = None,
    *,
    q: _Number = "0.99",
    candidates: _Decimals | None = None,
    epsilon: _Number | None = None,
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release two numbers between which nearly all records are, without any bounds to begin with.

    The high end is the first of rising numbers that about a share q of the records is below, and the low end the
    first of falling numbers that about a share q is above; each costs half of epsilon. They are drawn one by one,
    and sorted afterwards. The noise is one-sided and mostly leads too far out: what is cut off is less than 1 - q
    says, where there are enough records.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a
            histogram: a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        q: the share of the records below the high end and above the low one, above 1/2 and at most 1; exact,
            with at most 18 decimals. The nearer to 1, the more records it needs: about 10 / epsilon beyond each
            end.
        candidates: the numbers among which the ends are: `Decimals(digits)`, or without it 0 and ±1, 2 and 5 times
            all powers of ten, 3,691 numbers.
        epsilon: the privacy parameter ε of both ends together, a positive number without a unit; exact: 0.1 is
            one tenth. It has no default.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        A list of the two ends, the lower one first; they may be equal. The guarantee is epsilon-DP for both.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the data hold no numbers.

    Side channels: the number of random words is that of the candidates, twice, and two more, whatever the data
    are; with probability below 2**-20 more are read. The records are counted in one pass, in a time that depends on
    their number, and in files and lazy frames on how many of the candidates have records between them.

    Source: Dwork and Roth 2014, section 3.6. Proof: docs/reference/mechanisms/first_above.md.
    """
    ...

def count(
    data: _tables.Table,
    column: str | None = None,
    *,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Count the records, with geometric noise.

    One row is one record; with `privacy_unit` all rows of a unit are, and a unit counts once. The answer is a whole
    number, which the noise may take below 0: it is kept as it is, and shown as 0. The number of records is not
    taken as public under "replace_one" either.

    Args:
        data: a table, a path or several, a folder, or `discreet.scan_query(...)`, as for `mode`; or values in a
            list or a series, without `column`.
        column: the name of a column. Only records with a value in it are counted then: null and NaN do not count,
            nor an empty field of a text file. Without it all records are.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number of records: 1/η, where a count is off
            by k with a probability proportional to exp(-η · k).
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the noise of every group
            grows with it. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        A whole number; with groups a dict from group to number.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the file or the column is not there or cannot be read.

    Side channels: the time that the engine takes to count. Drawing the noise takes as long whatever the count is. A
    list of texts without a column is refused if some of them end as files do: give values as a dict of lists.

    Proof: docs/reference/mechanisms/noisy_counts.md.
    """
    ...

def counts(
    data: _tables.Table,
    column: str | None = None,
    *,
    candidates: _Iterable[object] | None = None,
    max_candidates: int | None = None,
    minimum_count: int = 1,
    most: int = 1000,
    other: _Number | None = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release how many records hold each of some values, a histogram, with geometric noise.

    One row is one record, and holds one value; with `privacy_unit` all rows of a unit are one, which counts once
    for each of its values, up to `max_candidates` of them. Rows whose value is not among the candidates are
    ignored, so are nulls; candidates that no row holds count zero, and get noise too.

    Where nobody may list the values, leave out the candidates and give `delta`: then the values are released that
    enough records hold, as `keys` does, with their counts, and at the same (ε, δ) as without them. A value may be
    missing: at ε = 1 and δ = 10⁻⁶ one of fewer than 14 records is answered with a probability below one half, and
    if it is answered, its count is a little too high on average. `discreet.plan_keys` shows these probabilities.

    Args:
        data: a table, a path or several, a folder, or `discreet.scan_query(...)`, as for `mode`; or values in a
            list or a series, without `column`.
        column: the name of the column. Without it the data are the values themselves.
        candidates: the values that are counted, in a list. They are public and must be fixed without looking at
            the data. May be left out for a `Dataset` that declares the values of the column, and for a Polars
            `Enum`, whose categories are declared.
        max_candidates: the most candidates for which one privacy unit counts, in every group. Which they are is
            decided by a rule that reads the rows of that unit alone: docs/how-to/user_level_privacy.md. The noise
            grows with it. Without it a unit counts for all that it holds, and the noise is as large as if that were
            all candidates. Needs `privacy_unit`.
        minimum_count: with `delta`, the least count of a value; one of fewer records is never answered.
        most: with `delta`, the most values that are answered, 1,000 by default: those of the largest released
            counts.
        other: with `delta`, the part of epsilon, such as "1/10", that is spent on the number of records outside
            these values, which is then in `release.other`, with noise.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number of records: 1/η, where a count is off
            by k with a probability proportional to exp(-η · k).
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the noise of every count
            grows with it. With `delta` the most values for which one counts. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: without candidates, the δ of values that nobody listed, a probability below 1 and far below one over
            the number of records, such as "1e-8"; there is one group then, and the terms are those of `keys`. With
            groups="private", the δ of all answers together.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        A dict from candidates to whole numbers, in the order of the candidates; with groups a dict from groups to
        such dicts. The noise may take a count below 0: it is kept, so that sums of counts are right on average,
        and shown as 0. With `delta` a dict from values to whole numbers, sorted by value.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidCandidates: if one cell could equal two candidates.
        UnreadableData: if the file or the column is not there or cannot be read.

    Side channels: the time that the engine takes to count. Drawing the noise takes as long whatever the counts are;
    with `delta` see `keys`.

    Proof: docs/reference/mechanisms/noisy_counts.md, and with `delta` docs/reference/mechanisms/private_keys.md.
    """
    ...

@_overload
def geometric(
    value: object,
    *,
    sensitivity: _Number,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[int]:
    """Release an integer with geometric noise (discrete Laplace): P(value + k) = (1-a)/(1+a) * a**|k|.

    Here a = exp(-epsilon / sensitivity), with the sensitivity rounded up to an integer.

    Args:
        value: a finite number; it goes to the nearest integer first. Private: no error shows it.
        sensitivity: the most that the value changes between neighbours, a positive number in its units.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the value is no finite number.

    Side channels: those of the mechanism; time depends on the length of the numbers too.
    """
    ...

@_overload
def geometric(
    value: object,
    *,
    sensitivity: _Number,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    size: int | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release an integer with geometric noise (discrete Laplace): P(value + k) = (1-a)/(1+a) * a**|k|.

    Here a = exp(-epsilon / sensitivity), with the sensitivity rounded up to an integer.

    Args:
        value: a finite number; it goes to the nearest integer first. Private: no error shows it.
        sensitivity: the most that the value changes between neighbours, a positive number in its units.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the value is no finite number.

    Side channels: those of the mechanism; time depends on the length of the numbers too.
    """
    ...

def keys(
    data: _tables.Table,
    column: str | None = None,
    *,
    delta: _Number,
    minimum_count: int = 1,
    most: int = 1000,
    other: _Number | None = None,
    epsilon: _Number | None = None,
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_groups: int = 1,
    where: object = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release the values that a column holds, those of enough records, without a public list of them.

    Values of one record or a few are left out with high probability, as they would tell on somebody: at ε = 1 and
    δ = 10⁻⁶ a key of fewer than 14 records is answered with a probability below one half, one of 28 or more always.
    `discreet.plan_keys` shows these probabilities for any ε and δ, from public numbers alone. Each is the
    largest that differential privacy allows for the count of its key, so no other method shows more keys.

    One row is one record; with `privacy_unit` all rows of a unit are, which counts once for each of its keys, up
    to `max_groups` of them. A key is a text, an integer, a decimal, a truth, a date, a time or a UUID; null is no
    key, nor is a text of more than 256 bytes. Columns of floats are refused: cast them.

    Args:
        data: a table, a path or several, a folder, or `discreet.scan_query(...)`, as for `mode`; or values in a
            list or a series, without `column`.
        column: the name of the column. Without it the data are the values themselves.
        delta: the parameter δ, a probability above 0 and below 1; a number that promises something is far below one
            over the number of records, such as "1e-8". A key that one record alone has is answered with it.
        minimum_count: the least count of a key; one of fewer records is never answered. 1 by default.
        most: the most keys that are answered, 1,000 by default. Of more, which are drawn first, those that come
            first in order.
        other: the part of epsilon, between 0 and 1 such as "1/10", that is spent on the number of records outside
            these keys, which is then in `release.other`, with noise. Without it there is no such number.
        epsilon: the privacy parameter ε of all keys together, a positive number without a unit; exact: 0.1 is one
            tenth. It has no default. How to choose it: docs/how-to/choose_epsilon.md.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another, which moves twice as many keys.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_groups: the most keys in which one privacy unit counts, 1 by default; the cost is divided among them.
            Which they are is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')". Rows
            enter where it is true, before anything of their unit is bounded.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        The keys in a list, sorted: text by its code points.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the file or the column is not there, cannot be read, or has a type without keys.

    Side channels: the times of counting, of drawing and of fetching the keys that were drawn; see
    docs/reference/mechanisms/private_keys.md.
    """
    ...

def laplace(
    value: object,
    *,
    sensitivity: _Number,
    step: _Number = 1,
    lo: _Number | None = None,
    hi: _Number | None = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    size: int | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release a number with Laplace noise on a grid: P(r) proportional to exp(-eta * |value - r|).

    Without `lo` and `hi` the answer is any multiple of `step`, and eta is epsilon / sensitivity. With
    them it is a point of `Grid(lo, hi, step)`, the distribution is cut off at both ends, and eta is half of that.
    With both ends any mechanism will do, on up to 1,000,000 points: `Base2(Base2Eta(1, 1))` weighs a point at
    a distance d from the value by 2**-d, exactly (Ilvento's example).

    Args:
        value: a finite number; it goes to the nearest point first. Private: no error shows it.
        sensitivity: the most that the value changes between neighbours, a positive number in its units. It
            is rounded up to whole steps: a float such as 0.1 is a little more than one tenth, "0.1" is not.
        step: the distance of neighbouring answers, in units of the value; 1 by default.
        lo: the least answer, in units of the value; needs `hi`. Without it there is no least.
        hi: the largest answer, in units of the value; needs `lo`. Without it there is no largest.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the value is no finite number.

    Side channels: those of the mechanism; time depends on the length of the numbers too. Mechanisms that take no
    runs that slope go through all points, and their time depends on how many there are.
    """
    ...

@_overload
def maximum(
    data: object,
    column: str | None = None,
    *,
    candidates: _Indexed[_T],
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_T]:
    """Release a value that hardly any record is above.

    Every candidate from the largest record on is as good as the best, so do not let the grid end far above.
    More about the arguments, the errors and the side channels: `quantile`.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a
            histogram: a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        candidates: the possible answers, in units of the data: a `Grid` of any size, or a list of numbers; public.
            May be left out for a `Dataset` that declares the bounds of the column.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.
    """
    ...

@_overload
def maximum(
    data: object,
    column: str | None = None,
    *,
    candidates: _Iterable[object] | _Indexed[object] | None = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release a value that hardly any record is above.

    Every candidate from the largest record on is as good as the best, so do not let the grid end far above.
    More about the arguments, the errors and the side channels: `quantile`.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a
            histogram: a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        candidates: the possible answers, in units of the data: a `Grid` of any size, or a list of numbers; public.
            May be left out for a `Dataset` that declares the bounds of the column.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.
    """
    ...

def mean(
    data: _tables.Table,
    column: str | None = None,
    *,
    minimum: _Number | None = None,
    maximum: _Number | None = None,
    step: _Number | None = None,
    bounds_share: _Number | None = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release the mean of numbers between two bounds: a noisy sum over a noisy count.

    Numbers are clipped and rounded as for `sum`, and measured from the middle of the bounds. One half of epsilon
    (or rho) buys how many numbers there are, the other half their sum, both with geometric noise; their quotient is
    cut to the bounds and rounded to the decimals that its noise supports, at most to a thousandth of a step. How
    many there are is never taken as public. Where the noisy count is 0 or below it there is no mean, and the answer
    is None: ask with a larger epsilon, or of more records.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a histogram:
            a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        minimum: the lower bound, in units of the data; public, from what you know and not from the data. May be
            left out for a `Dataset` that declares it. The noise grows with the distance of the bounds.
        maximum: the upper bound, likewise.
        step: the step to which numbers are rounded, in units of the data. Without it the one that is declared, 1
            for integers; else the power of ten with 100,000 to 1,000,000 steps between the bounds.
        bounds_share: where no bounds are known, the part of epsilon that buys them first, such as "1/10": they are
            drawn from the same records as by `bounds`, and are in `Release.bounds`. Where both are the same number,
            all records count as that. Not with groups.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group; the noise
            grows with it. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the noise of every mean
            grows with it. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        A number from `minimum` to `maximum`, or None; with groups a dict from group to number or None. The noisy
        numbers of records are in `Release.counts`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the data hold no numbers.

    Side channels: the time that the engine takes to count. Drawing the noise takes as long whatever the data are.

    Proof: docs/reference/mechanisms/noisy_sums.md.
    """
    ...

@_overload
def median(
    data: object,
    column: str | None = None,
    *,
    candidates: _Indexed[_T],
    score: _Literal["rank", "median_distance"] = "rank",
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_T]:
    """Release a median: the quantile for one half.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a
            histogram: a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        candidates: the possible answers, in units of the data: a `Grid` of any size, or a list of numbers; public.
            May be left out for a `Dataset` that declares the bounds of the column.
        score: "rank", how deep the middle is among the ranks of a point's records; or "median_distance", how
            many records must come or go until the point is the median, which needs a `Grid`.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.
    """
    ...

@_overload
def median(
    data: object,
    column: str | None = None,
    *,
    candidates: _Iterable[object] | _Indexed[object] | None = None,
    score: _Literal["rank", "median_distance"] = "rank",
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release a median: the quantile for one half.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a
            histogram: a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        candidates: the possible answers, in units of the data: a `Grid` of any size, or a list of numbers; public.
            May be left out for a `Dataset` that declares the bounds of the column.
        score: "rank", how deep the middle is among the ranks of a point's records; or "median_distance", how
            many records must come or go until the point is the median, which needs a `Grid`.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.
    """
    ...

@_overload
def minimum(
    data: object,
    column: str | None = None,
    *,
    candidates: _Indexed[_T],
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_T]:
    """Release a value that hardly any record is below.

    Every candidate up to the least record is as good as the best, so do not let the grid begin far below.
    More about the arguments, the errors and the side channels: `quantile`.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a
            histogram: a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        candidates: the possible answers, in units of the data: a `Grid` of any size, or a list of numbers; public.
            May be left out for a `Dataset` that declares the bounds of the column.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.
    """
    ...

@_overload
def minimum(
    data: object,
    column: str | None = None,
    *,
    candidates: _Iterable[object] | _Indexed[object] | None = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release a value that hardly any record is below.

    Every candidate up to the least record is as good as the best, so do not let the grid begin far below.
    More about the arguments, the errors and the side channels: `quantile`.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a
            histogram: a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        candidates: the possible answers, in units of the data: a `Grid` of any size, or a list of numbers; public.
            May be left out for a `Dataset` that declares the bounds of the column.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.
    """
    ...

@_overload
def mode(
    data: _tables.Table,
    column: str | None = None,
    *,
    candidates: _Iterable[_T],
    gap: bool = False,
    method: _ModeMethod | None = None,
    max_candidates: int | None = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_T]:
    """Release the most common value of a column.

    One row is one record; with `privacy_unit` all rows of a unit are, and count once per value. Rows
    whose value is not among the candidates are ignored, so are nulls; candidates that no row holds count
    zero.

    Args:
        data: a pandas, Polars, PyArrow, DuckDB, Dask or Spark table, a path or several, a folder, or
            `discreet.scan_query(...)` (docs/reference/tables.md lists all); or values in a list or a series,
            without `column`.
        column: the name of the column. Without it the data are the values themselves.
        candidates: the possible answers. They are public and must be fixed without looking at the data.
            A `CandidateTable` if they are too many to list. May be left out for a `Dataset` that
            declares the values of the column, and for a Polars `Enum`, whose categories are declared.
            "private" where nobody may list them: any value that enough records hold may be the answer, or
            None. That takes `delta`: docs/reference/mechanisms/limited_domain.md.
        unsafe_candidates_from_data: take the values found in the data as candidates. The answer may
            then be a value that only one row holds, and nothing is guaranteed.
        gap: whether to release how far ahead the winner was, in `Release.gap`, as for `select`.
        method: "counts" adds noise to the count of every candidate, and answers the largest with its noisy count in
            `counts`. Without it the mechanism selects the answer, which at the same cost is never worse and
            tells no count.
        max_candidates: for "counts" or candidates="private", with a `privacy_unit`: the most candidates that one
            unit counts for, as for `top_k`.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the file or the column is not there or cannot be read.

    Side channels: those of the mechanism, and the time the engine takes to count.
    """
    ...

@_overload
def mode(
    data: _tables.Table,
    column: str | None = None,
    *,
    candidates: _Iterable[object] | _CandidateTable | _Literal["private"] | None = None,
    unsafe_candidates_from_data: bool = False,
    gap: bool = False,
    method: _ModeMethod | None = None,
    max_candidates: int | None = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release the most common value of a column.

    One row is one record; with `privacy_unit` all rows of a unit are, and count once per value. Rows
    whose value is not among the candidates are ignored, so are nulls; candidates that no row holds count
    zero.

    Args:
        data: a pandas, Polars, PyArrow, DuckDB, Dask or Spark table, a path or several, a folder, or
            `discreet.scan_query(...)` (docs/reference/tables.md lists all); or values in a list or a series,
            without `column`.
        column: the name of the column. Without it the data are the values themselves.
        candidates: the possible answers. They are public and must be fixed without looking at the data.
            A `CandidateTable` if they are too many to list. May be left out for a `Dataset` that
            declares the values of the column, and for a Polars `Enum`, whose categories are declared.
            "private" where nobody may list them: any value that enough records hold may be the answer, or
            None. That takes `delta`: docs/reference/mechanisms/limited_domain.md.
        unsafe_candidates_from_data: take the values found in the data as candidates. The answer may
            then be a value that only one row holds, and nothing is guaranteed.
        gap: whether to release how far ahead the winner was, in `Release.gap`, as for `select`.
        method: "counts" adds noise to the count of every candidate, and answers the largest with its noisy count in
            `counts`. Without it the mechanism selects the answer, which at the same cost is never worse and
            tells no count.
        max_candidates: for "counts" or candidates="private", with a `privacy_unit`: the most candidates that one
            unit counts for, as for `top_k`.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the file or the column is not there or cannot be read.

    Side channels: those of the mechanism, and the time the engine takes to count.
    """
    ...

@_overload
def quantile(
    data: object,
    column: str | None = None,
    *,
    alpha: _Number,
    candidates: _Indexed[_T],
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_T]:
    """Release a value that about a share alpha of the records are below.

    A record is rounded to the nearest point of the grid, by itself; outside the grid, to its ends,
    NaN and null are left out. Of dates and times give a `DateGrid`. Without candidates the answer is one of all
    decimals of three digits, and how many records that needs is said before anything is paid.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a
            histogram: a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        alpha: the share of the records below, between 0 and 1; exact: 0.9 is nine tenths.
        candidates: the possible answers, in units of the data: a `Grid` of any size, or a list of numbers; public.
            May be left out for a `Dataset` that declares the bounds of the column.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the data hold no numbers.

    Side channels: those of the mechanism. In memory, time also depends on how many different numbers there are,
    on a grid of more than 4,096 points on how many are near the quantile. With the kernel doubles and integers are
    sorted there, or if they are many counted, in the same steps whatever they are; else also on how many are equal.
    Files, DuckDB relations and lazy frames are counted out of core, in a public number of passes:
    docs/explanation/out_of_core.md.
    """
    ...

@_overload
def quantile(
    data: object,
    column: str | None = None,
    *,
    alpha: _Number,
    candidates: _Iterable[object] | _Indexed[object] | None = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release a value that about a share alpha of the records are below.

    A record is rounded to the nearest point of the grid, by itself; outside the grid, to its ends,
    NaN and null are left out. Of dates and times give a `DateGrid`. Without candidates the answer is one of all
    decimals of three digits, and how many records that needs is said before anything is paid.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a
            histogram: a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        alpha: the share of the records below, between 0 and 1; exact: 0.9 is nine tenths.
        candidates: the possible answers, in units of the data: a `Grid` of any size, or a list of numbers; public.
            May be left out for a `Dataset` that declares the bounds of the column.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the data hold no numbers.

    Side channels: those of the mechanism. In memory, time also depends on how many different numbers there are,
    on a grid of more than 4,096 points on how many are near the quantile. With the kernel doubles and integers are
    sorted there, or if they are many counted, in the same steps whatever they are; else also on how many are equal.
    Files, DuckDB relations and lazy frames are counted out of core, in a public number of passes:
    docs/explanation/out_of_core.md.
    """
    ...

@_overload
def quantiles(
    data: object,
    column: str | None = None,
    *,
    alphas: _Sequence[_Number],
    candidates: _Grid[_T] | _DateGrid[_T],
    method: _QuantilesMethod = "recursive",
    epsilon: _Number | None = None,
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[list[_T]]:
    """Release one value per alpha, in the order of the alphas.

    By recursion, the middle alpha is released first; it splits records and grid in two, and both halves
    go on with the alphas on their side. A record is in one part of a level, so a level costs as much
    as one quantile, and m alphas cost as much as the ceiling of log2(m + 1) levels. Records that are tied at
    the value may go both ways.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a
            histogram: a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        alphas: the shares of the records below, between 0 and 1, ascending and distinct.
        candidates: the possible answers, a `Grid` of any size in units of the data, or a `DateGrid`; public. May be
            left out for a `Dataset` that declares the bounds of the column; without them the answers are among all
            decimals of three digits, and how many records that needs is said before anything is paid.
        method: "recursive" as described; "joint", one exponential mechanism over all non-descending
            tuples, often nearer, in time that grows with the square of the number of alphas; or
            "independent", one after the other.
        epsilon: the privacy parameter ε of all values together, a positive number without a unit; exact: 0.1 is
            one tenth. It has no default. Among the rows of a privacy unit it is divided.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: the δ of all values together, a probability below 1 such as "1e-6". They are then (ε, δ)-DP, and each
            level (or each value, with "independent") has as much as the library's bound on composition
            allows. Finding it takes up to a few seconds. Not with "joint", a privacy unit or groups. With
            groups="private" it is that of the groups.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        The values, never descending. The guarantee is epsilon-DP for all of them together, or with a delta
        (epsilon, delta)-DP.

    Side channels: those of `quantile`, once per alpha. Here an engine that counts on the grid sends at
    most two counts per point with records, and distinct numbers at borders: docs/reference/tables.md. With
    the kernel, records in memory on a grid of fewer than 2**31 points are sorted in the same steps whatever they
    are; else in a time that depends on how many are equal.

    Source: Kaplan, Schnapp and Stemmer, ICML 2022, https://arxiv.org/abs/2110.05429. Proof:
    docs/reference/scores/rank.md.
    """
    ...

@_overload
def quantiles(
    data: object,
    column: str | None = None,
    *,
    alphas: _Sequence[_Number],
    candidates: _AnyGrid | None = None,
    method: _QuantilesMethod = "recursive",
    epsilon: _Number | None = None,
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release one value per alpha, in the order of the alphas.

    By recursion, the middle alpha is released first; it splits records and grid in two, and both halves
    go on with the alphas on their side. A record is in one part of a level, so a level costs as much
    as one quantile, and m alphas cost as much as the ceiling of log2(m + 1) levels. Records that are tied at
    the value may go both ways.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a
            histogram: a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        alphas: the shares of the records below, between 0 and 1, ascending and distinct.
        candidates: the possible answers, a `Grid` of any size in units of the data, or a `DateGrid`; public. May be
            left out for a `Dataset` that declares the bounds of the column; without them the answers are among all
            decimals of three digits, and how many records that needs is said before anything is paid.
        method: "recursive" as described; "joint", one exponential mechanism over all non-descending
            tuples, often nearer, in time that grows with the square of the number of alphas; or
            "independent", one after the other.
        epsilon: the privacy parameter ε of all values together, a positive number without a unit; exact: 0.1 is
            one tenth. It has no default. Among the rows of a privacy unit it is divided.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group. Which rows
            are kept is decided by a rule that reads the rows of that unit alone:
            docs/how-to/user_level_privacy.md. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: the δ of all values together, a probability below 1 such as "1e-6". They are then (ε, δ)-DP, and each
            level (or each value, with "independent") has as much as the library's bound on composition
            allows. Finding it takes up to a few seconds. Not with "joint", a privacy unit or groups. With
            groups="private" it is that of the groups.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        The values, never descending. The guarantee is epsilon-DP for all of them together, or with a delta
        (epsilon, delta)-DP.

    Side channels: those of `quantile`, once per alpha. Here an engine that counts on the grid sends at
    most two counts per point with records, and distinct numbers at borders: docs/reference/tables.md. With
    the kernel, records in memory on a grid of fewer than 2**31 points are sorted in the same steps whatever they
    are; else in a time that depends on how many are equal.

    Source: Kaplan, Schnapp and Stemmer, ICML 2022, https://arxiv.org/abs/2110.05429. Proof:
    docs/reference/scores/rank.md.
    """
    ...

@_overload
def randomized_response(
    value: object,
    candidates: _Iterable[_T],
    *,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_T]:
    """Release one person's value, or something else: the truth with probability e**ε / (e**ε + k - 1).

    The k - 1 other candidates are equally likely. Whoever holds one value of one person
    can answer so, without anybody being trusted.

    Args:
        value: the person's value, compared as Python does; if it is no candidate, all k candidates are
            equally likely. Private.
        candidates: the possible answers; public. `neighbors` is always "replace_one": one value for another.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.

    Side channels: those of the mechanism.
    """
    ...

@_overload
def randomized_response(
    value: object,
    candidates: _Iterable[object],
    *,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    privacy_unit: str | _Sequence[str] | None = None,
    size: int | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release one person's value, or something else: the truth with probability e**ε / (e**ε + k - 1).

    The k - 1 other candidates are equally likely. Whoever holds one value of one person
    can answer so, without anybody being trusted.

    Args:
        value: the person's value, compared as Python does; if it is no candidate, all k candidates are
            equally likely. Private.
        candidates: the possible answers; public. `neighbors` is always "replace_one": one value for another.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.

    Side channels: those of the mechanism.
    """
    ...

@_overload
def select(
    scores: _Mapping[_T, object],
    *,
    sensitivity: _Number | None = None,
    spread: _Number | None = None,
    monotonic: bool = False,
    gap: bool = False,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_T]:
    """Release one candidate: the better its score, the more likely it is.

    Args:
        scores: finite numbers, one per candidate, higher is better: an array, a series, a list (ints,
            floats, Fractions, Decimals), or a mapping from candidates to scores.
        sensitivity: the most that one score can change between neighbours, a positive number in units of the
            score. No default: give it or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores can change (range sensitivity).
        monotonic: whether all scores move the same way whenever one record comes or goes, False by default;
            this halves the cost.
        candidates: the possible answers, public, and so is their order; without them the answer is an index.
        gap: whether to release how far ahead the winner was, in `Release.gap`: by how much its score with noise is
            above the next one, rounded down to a multiple of the largest power of ten that is at most a tenth of
            the noise's scale. It costs no more ε: docs/reference/mechanisms/gap.md. Without it only the answer is
            released.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        The answer with its guarantee.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no finite numbers, or not as many as the candidates.

    Side channels: those of the mechanism.
    """
    ...

@_overload
def select(
    scores: object,
    *,
    sensitivity: _Number | None = None,
    spread: _Number | None = None,
    monotonic: bool = False,
    candidates: _Iterable[_T],
    gap: bool = False,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_T]: ...
@_overload
def select(
    scores: list[_Any] | tuple[_Any, ...] | _np.ndarray[_Any, _Any],
    *,
    sensitivity: _Number | None = None,
    spread: _Number | None = None,
    monotonic: bool = False,
    gap: bool = False,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[int]: ...
@_overload
def select(
    scores: object,
    *,
    sensitivity: _Number | None = None,
    spread: _Number | None = None,
    monotonic: bool = False,
    candidates: _Iterable[object] | None = None,
    gap: bool = False,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    size: int | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release one candidate: the better its score, the more likely it is.

    Args:
        scores: finite numbers, one per candidate, higher is better: an array, a series, a list (ints,
            floats, Fractions, Decimals), or a mapping from candidates to scores.
        sensitivity: the most that one score can change between neighbours, a positive number in units of the
            score. No default: give it or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores can change (range sensitivity).
        monotonic: whether all scores move the same way whenever one record comes or goes, False by default;
            this halves the cost.
        candidates: the possible answers, public, and so is their order; without them the answer is an index.
        gap: whether to release how far ahead the winner was, in `Release.gap`: by how much its score with noise is
            above the next one, rounded down to a multiple of the largest power of ten that is at most a tenth of
            the noise's scale. It costs no more ε: docs/reference/mechanisms/gap.md. Without it only the answer is
            released.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        The answer with its guarantee.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no finite numbers, or not as many as the candidates.

    Side channels: those of the mechanism.
    """
    ...

@_overload
def select_by(
    u: _ScoreFunction,
    data: object,
    candidates: _Iterable[_T],
    *,
    sensitivity: _Number | None = None,
    spread: _Number | None = None,
    monotonic: bool = False,
    error: _Number | None = None,
    granularity: _Number | None = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_T]:
    """Release one of the candidates: the higher u(data, candidates) for it, the likelier.

    Args:
        u: the utility function: returns one score per candidate, in their order, higher is better.
            `discreet.per_candidate` makes one from a function of a single candidate.
        data: the first argument of `u`, untouched. Private.
        candidates: the possible answers; public. `u` gets an array as it is, anything else as a list.
        sensitivity: the most that one score can change between neighbours, without rounding errors, in units
            of the score. No default: give it or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores can change (range sensitivity).
        monotonic: whether all scores move the same way whenever one record comes or goes, False by default.
        error: if `u` returns floats: how far a score may be from the ideal one that it stands for, in units of
            the score. The spread grows by four times that. Without it scores must be exact.
        granularity: instead of `error`: ideal scores are multiples of this, and the scores of `u` are nearer
            than half of it. Scores are rounded to multiples and nothing is added.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; `u` was not called.
        InvalidScores: if `u` fails, or returns no finite numbers, or floats without `error` or
            `granularity`. The message never quotes the data.

    Side channels: those of the mechanism, and all that `u` does: its time, and whether it fails.
    """
    ...

@_overload
def select_by(
    u: _ScoreFunction,
    data: object,
    candidates: _Iterable[object],
    *,
    sensitivity: _Number | None = None,
    spread: _Number | None = None,
    monotonic: bool = False,
    error: _Number | None = None,
    granularity: _Number | None = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    size: int | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release one of the candidates: the higher u(data, candidates) for it, the likelier.

    Args:
        u: the utility function: returns one score per candidate, in their order, higher is better.
            `discreet.per_candidate` makes one from a function of a single candidate.
        data: the first argument of `u`, untouched. Private.
        candidates: the possible answers; public. `u` gets an array as it is, anything else as a list.
        sensitivity: the most that one score can change between neighbours, without rounding errors, in units
            of the score. No default: give it or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores can change (range sensitivity).
        monotonic: whether all scores move the same way whenever one record comes or goes, False by default.
        error: if `u` returns floats: how far a score may be from the ideal one that it stands for, in units of
            the score. The spread grows by four times that. Without it scores must be exact.
        granularity: instead of `error`: ideal scores are multiples of this, and the scores of `u` are nearer
            than half of it. Scores are rounded to multiples and nothing is added.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; `u` was not called.
        InvalidScores: if `u` fails, or returns no finite numbers, or floats without `error` or
            `granularity`. The message never quotes the data.

    Side channels: those of the mechanism, and all that `u` does: its time, and whether it fails.
    """
    ...

@_overload
def select_generalized(
    scores: _Mapping[_T, object],
    sensitivities: _Iterable[_Number] | _Mapping[_Any, _Number],
    *,
    beta: _Number = "0.05",
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_T]:
    """Release one of the candidates, where some scores may change much more than others.

    With probability 1 - beta its score is at least q[j] - (4 / epsilon) * ln(n / beta) * D[j] for every j (with
    the exponential mechanism): a candidate of small sensitivity D[j] is found as surely as if all were small.

    Args:
        scores: finite numbers q, one per candidate, higher is better: an array, a series, a list, or
            a mapping from candidates to scores.
        sensitivities: D, the most that each score can change between neighbours, in the units of the scores: a
            mapping from candidates, or a list in the order of the scores.
        beta: how likely the bound above may fail, between 0 and 1; "0.05" by default.
        candidates: the possible answers; without them the answer is an index.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no finite numbers, or not as many as the sensitivities.

    Side channels: those of the mechanism, and the time of arithmetic with fractions, which depends on the
    scores.
    """
    ...

@_overload
def select_generalized(
    scores: object,
    sensitivities: _Iterable[_Number] | _Mapping[_Any, _Number],
    *,
    beta: _Number = "0.05",
    candidates: _Iterable[_T],
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_T]: ...
@_overload
def select_generalized(
    scores: object,
    sensitivities: _Iterable[_Number] | _Mapping[_Any, _Number],
    *,
    beta: _Number = "0.05",
    candidates: _Iterable[object] | None = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    size: int | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release one of the candidates, where some scores may change much more than others.

    With probability 1 - beta its score is at least q[j] - (4 / epsilon) * ln(n / beta) * D[j] for every j (with
    the exponential mechanism): a candidate of small sensitivity D[j] is found as surely as if all were small.

    Args:
        scores: finite numbers q, one per candidate, higher is better: an array, a series, a list, or
            a mapping from candidates to scores.
        sensitivities: D, the most that each score can change between neighbours, in the units of the scores: a
            mapping from candidates, or a list in the order of the scores.
        beta: how likely the bound above may fail, between 0 and 1; "0.05" by default.
        candidates: the possible answers; without them the answer is an index.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no finite numbers, or not as many as the sensitivities.

    Side channels: those of the mechanism, and the time of arithmetic with fractions, which depends on the
    scores.
    """
    ...

@_overload
def select_rows(
    scores: object,
    *,
    rows: int | None = None,
    sensitivity: _Number | None = None,
    spread: _Number | None = None,
    monotonic: bool = False,
    candidates: _Iterable[_T],
    epsilon_per_row: _Number | None = None,
    delta: _Number | None = None,
    disjoint: bool = False,
    mask: object = None,
    base_measure: object = None,
    log_base_measure: object = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[list[_T]]:
    """Release one candidate for every row of scores: the better its score in the row, the likelier.

    The epsilon (or rho) is that of the whole call. By default one record may change the scores of all rows, so
    it is divided by their number; `disjoint=True` states that a record changes one row, and then every
    row has all of it.

    Args:
        scores: finite numbers, one row per answer, one column per candidate, higher is better: a 2-D array of
            NumPy, PyTorch or JAX in main memory, or a list of lists.
        rows: the number of rows, public. Without it, it is read from the shape of the scores, which
            counts as public.
        sensitivity: the most that one score can change between neighbours, a positive number in units of the
            score; the same for all rows. No default: give it or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores of a row can change.
        monotonic: whether all scores of a row move the same way whenever one record comes or goes, False by
            default; this halves the cost.
        candidates: the possible answers, public, in the order of the columns; without them an answer is an
            index.
        epsilon_per_row: instead of `epsilon`, that of every row; the guarantee of the release says what all rows
            cost together.
        delta: the δ of all answers together, a probability below 1 such as "1e-6". They are then (ε, δ)-DP, and
            each has as much as the library's bound on composition allows, which for many rows is several
            times an equal share of ε. Finding it takes up to a few seconds. Goes with `epsilon`.
        disjoint: whether one record can change the scores of one row only, whatever the other records are,
            False by default. Under "replace_one" it may then change two rows, which is paid for.
        mask: True for every candidate that may be answered, public: one truth value per column, or a table of
            them. Scores of the others are not looked at. Without it all may be answered.
        base_measure: weights of the candidates, public, that multiply their probabilities, zero or more: one
            per column, or a table of them. Takes the exponential mechanism.
        log_base_measure: instead, the natural logarithms of such weights; -inf is a weight of zero. A float means
            its binary value.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        A list with one candidate per row, or an array of indices, with the guarantee of all of them together.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no table of finite numbers, or its shape is not as stated. There is
            no score of -inf: whether a candidate can be answered must not depend on the data.

    Side channels: those of the mechanism, row by row. Reading and computing depend on the shape, the mask and
    the base measure.

    Proof: docs/explanation/rows.md.
    """
    ...

@_overload
def select_rows(
    scores: object,
    *,
    rows: int | None = None,
    sensitivity: _Number | None = None,
    spread: _Number | None = None,
    monotonic: bool = False,
    candidates: None = None,
    epsilon_per_row: _Number | None = None,
    delta: _Number | None = None,
    disjoint: bool = False,
    mask: object = None,
    base_measure: object = None,
    log_base_measure: object = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[_NDArray[_np.int64]]:
    """Release one candidate for every row of scores: the better its score in the row, the likelier.

    The epsilon (or rho) is that of the whole call. By default one record may change the scores of all rows, so
    it is divided by their number; `disjoint=True` states that a record changes one row, and then every
    row has all of it.

    Args:
        scores: finite numbers, one row per answer, one column per candidate, higher is better: a 2-D array of
            NumPy, PyTorch or JAX in main memory, or a list of lists.
        rows: the number of rows, public. Without it, it is read from the shape of the scores, which
            counts as public.
        sensitivity: the most that one score can change between neighbours, a positive number in units of the
            score; the same for all rows. No default: give it or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores of a row can change.
        monotonic: whether all scores of a row move the same way whenever one record comes or goes, False by
            default; this halves the cost.
        candidates: the possible answers, public, in the order of the columns; without them an answer is an
            index.
        epsilon_per_row: instead of `epsilon`, that of every row; the guarantee of the release says what all rows
            cost together.
        delta: the δ of all answers together, a probability below 1 such as "1e-6". They are then (ε, δ)-DP, and
            each has as much as the library's bound on composition allows, which for many rows is several
            times an equal share of ε. Finding it takes up to a few seconds. Goes with `epsilon`.
        disjoint: whether one record can change the scores of one row only, whatever the other records are,
            False by default. Under "replace_one" it may then change two rows, which is paid for.
        mask: True for every candidate that may be answered, public: one truth value per column, or a table of
            them. Scores of the others are not looked at. Without it all may be answered.
        base_measure: weights of the candidates, public, that multiply their probabilities, zero or more: one
            per column, or a table of them. Takes the exponential mechanism.
        log_base_measure: instead, the natural logarithms of such weights; -inf is a weight of zero. A float means
            its binary value.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        A list with one candidate per row, or an array of indices, with the guarantee of all of them together.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no table of finite numbers, or its shape is not as stated. There is
            no score of -inf: whether a candidate can be answered must not depend on the data.

    Side channels: those of the mechanism, row by row. Reading and computing depend on the shape, the mask and
    the base measure.

    Proof: docs/explanation/rows.md.
    """
    ...

@_overload
def select_top_k(
    scores: object,
    *,
    k: int,
    sensitivity: _Number | None = None,
    spread: _Number | None = None,
    monotonic: bool = False,
    candidates: _Iterable[_T],
    method: _ListMethod = "peeling",
    delta: _Number | None = None,
    gap: bool = False,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[list[_T]]:
    """Release k different candidates in order, the better its score the likelier a candidate to be early.

    Args:
        scores: scores, as for `select`. Of records in a table or a list, take `top_k`.
        k: how many, at most as many as there are scores.
        sensitivity: the most that one score can change between neighbours, a positive number in units of the
            score. No default: give it or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores can change (range sensitivity).
        monotonic: whether all scores move the same way whenever one record comes or goes, False by default;
            this halves the cost.
        candidates: the possible answers, public; without them the answers are indices.
        method: "peeling" or "joint", as for `top_k`.
        delta: the δ of all answers together, as for `top_k`.
        gap: whether to release how far ahead each answer was of those that were left, as for `top_k`.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        A list of k candidates, with the guarantee of all of them together.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no finite numbers, or not as many as the candidates.

    Side channels: those of the method.

    Source and proof: docs/reference/mechanisms/peeling.md, docs/reference/mechanisms/joint_top_k.md.
    """
    ...

@_overload
def select_top_k(
    scores: object,
    *,
    k: int,
    sensitivity: _Number | None = None,
    spread: _Number | None = None,
    monotonic: bool = False,
    candidates: _Iterable[object] | None = None,
    method: _ListMethod = "peeling",
    delta: _Number | None = None,
    gap: bool = False,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    size: int | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release k different candidates in order, the better its score the likelier a candidate to be early.

    Args:
        scores: scores, as for `select`. Of records in a table or a list, take `top_k`.
        k: how many, at most as many as there are scores.
        sensitivity: the most that one score can change between neighbours, a positive number in units of the
            score. No default: give it or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores can change (range sensitivity).
        monotonic: whether all scores move the same way whenever one record comes or goes, False by default;
            this halves the cost.
        candidates: the possible answers, public; without them the answers are indices.
        method: "peeling" or "joint", as for `top_k`.
        delta: the δ of all answers together, as for `top_k`.
        gap: whether to release how far ahead each answer was of those that were left, as for `top_k`.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        size: the number of independent answers, 1 or more, each of which costs; the answer is then an array or a
            list. Without it there is one answer, by itself.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        A list of k candidates, with the guarantee of all of them together.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        InvalidScores: if the scores are no finite numbers, or not as many as the candidates.

    Side channels: those of the method.

    Source and proof: docs/reference/mechanisms/peeling.md, docs/reference/mechanisms/joint_top_k.md.
    """
    ...

@_overload
def selector(
    candidates: int | None = None,
    *,
    sensitivity: _Number | None = None,
    spread: _Number | None = None,
    monotonic: bool = False,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
) -> _Selector[int]:
    """Settle everything public once, and return a function from scores to a release, for many calls.

    `choose = selector(...)`, and then `choose(scores)` releases what `select(scores, ...)` does. It is many
    times faster for short lists. With a ledger every call is charged.

    Args:
        candidates: the possible answers, public, in the order of the scores; or how many there are, and
            then an answer is an index. Without it any number of scores is taken.
        sensitivity: the most that one score can change between neighbours, a positive number in units of the
            score. No default: give it or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores can change (range sensitivity).
        monotonic: whether all scores move the same way whenever one record comes or goes, False by default;
            this halves the cost.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.

    Raises:
        InvalidArgument: if a public argument cannot be accepted.
    """
    ...

@_overload
def selector(
    candidates: _Iterable[_T],
    *,
    sensitivity: _Number | None = None,
    spread: _Number | None = None,
    monotonic: bool = False,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    ledger: _Account | None = None,
) -> _Selector[_T]:
    """Settle everything public once, and return a function from scores to a release, for many calls.

    `choose = selector(...)`, and then `choose(scores)` releases what `select(scores, ...)` does. It is many
    times faster for short lists. With a ledger every call is charged.

    Args:
        candidates: the possible answers, public, in the order of the scores; or how many there are, and
            then an answer is an index. Without it any number of scores is taken.
        sensitivity: the most that one score can change between neighbours, a positive number in units of the
            score. No default: give it or `spread`.
        spread: instead of `sensitivity`, the most that a difference of two scores can change (range sensitivity).
        monotonic: whether all scores move the same way whenever one record comes or goes, False by default;
            this halves the cost.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy); or a list of names, of which rows with equal values in all
            columns are one record. A sensitivity that you declare must hold for that. Without it every row is a
            record.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.

    Raises:
        InvalidArgument: if a public argument cannot be accepted.
    """
    ...

def sum(
    data: _tables.Table,
    column: str | None = None,
    *,
    minimum: _Number | None = None,
    maximum: _Number | None = None,
    step: _Number | None = None,
    bounds_share: _Number | None = None,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    max_contributions: int = 1,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release the sum of numbers between two bounds, with geometric noise.

    Each number is clipped to the bounds and rounded to a multiple of the step, half up and exactly, by itself. Then
    whole numbers of steps are added, exactly. Null, NaN and, in text files, cells that spell no number are left
    out.

    Args:
        data: numbers in an array, a series or a list; a table or the path of a file, with `column`; or a histogram:
            a mapping from values to how often they occur. Private.
        column: the name of the column of the table. Without it the data are the numbers themselves.
        minimum: the lower bound, in units of the data; public, from what you know and not from the data. May be
            left out for a `Dataset` that declares it. The noise grows with the bound that is farther from 0.
        maximum: the upper bound, likewise.
        step: the distance of neighbouring answers, in units of the data. Without it the one that is declared, 1 for
            integers; else the power of ten with 100,000 to 1,000,000 steps between the bounds.
        bounds_share: where no bounds are known, the part of epsilon that buys them first, such as "1/10": they are
            drawn from the same records as by `bounds`, and are in `Release.bounds`. Where both are the same number,
            all records count as that. Not with groups.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the data.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        max_contributions: the most rows that one privacy unit contributes, 1 by default, in every group; the noise
            grows with it. Needs `privacy_unit`.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the noise of every sum
            grows with it. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: with groups="private", the δ of all answers together, a probability below 1 such as "1e-8": about how
            likely it is that a group is named in which there is one record alone.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        A number, a multiple of the step; with groups a dict from group to number.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the data hold no numbers.

    Side channels: the time that the engine takes to count. Drawing the noise takes as long whatever the sum is.

    Proof: docs/reference/mechanisms/noisy_sums.md.
    """
    ...

@_overload
def top_k(
    data: object,
    column: str | None = None,
    *,
    k: int,
    candidates: _Iterable[_T],
    method: _TopKMethod | None = None,
    max_candidates: int | None = None,
    gap: bool = False,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release[list[_T]]:
    """Release k of the most common values of a column in order, the more common the likelier to be early.

    One row is one record, and counts as for `mode`. Of scores that are computed already, take `select_top_k`.

    Args:
        data: a table or the path of a file, with `column`; or values in a list or a series, without.
        column: the name of the column. Without it the data are the values themselves.
        k: how many, at most as many as there are candidates.
        candidates: the possible answers, public: a list, or a `CandidateTable`. May be left out for a `Dataset`
            that declares the values of the column, and for a Polars `Enum`. "private" where nobody may list them:
            values that enough records hold, which may be fewer than k, or none. That takes `delta`, and with a
            `privacy_unit` `max_candidates`: private keys with their counts where a unit counts for at most k
            values, else limited domain: docs/reference/mechanisms/limited_domain.md.
        method: by default the one with the least bound on its error, by public numbers alone:
            docs/how-to/planning.md says which and why. "counts" adds noise to the count of every candidate once,
            and answers the largest with their noisy counts, whatever k is: the best where a record holds one value,
            or a unit counts for fewer than k. "peeling" draws one after another, with any mechanism, and divides
            epsilon (or rho) by k; `scale` is that of every round. It is taken where a mechanism is named. "joint"
            draws the whole list at once: its score is how far, at worst, a place of the list is behind the
            candidate that should be there. It is refused where it might need more than 2 GiB: for 10,000 candidates
            that is a k above 200.
        max_candidates: for "counts" or candidates="private", with a `privacy_unit`: the most candidates for which
            one unit counts, among which the cost is divided. Which of more are kept is decided by a rule that reads
            the rows of that unit alone: docs/how-to/user_level_privacy.md. By default all of them.
        gap: whether to release how far ahead each answer was of the next one, in `Release.gap`, as for `select`; by
            "counts" the difference of noisy counts. Not for "joint"; k must be below the number of candidates.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: the δ of all answers together, a probability below 1 such as "1e-6". The list is then (ε, δ)-DP, and
            each round of "peeling" has as much as the library's bound on adaptive composition allows: with
            ε = 1 and k = 50 more than three times as much as a k-th. Finding it takes up to a few seconds the
            first time. Without it the list is ε-DP. With groups="private" it is that of the groups.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        A list of k candidates, with the guarantee of all of them together; by "counts" with their noisy counts in
        `counts`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the file or the column is not there or cannot be read.

    Side channels: those of the method, and the time that counting takes.

    Source and proof: docs/reference/mechanisms/top_counts.md, docs/reference/mechanisms/peeling.md,
    docs/reference/mechanisms/joint_top_k.md.
    """
    ...

@_overload
def top_k(
    data: object,
    column: str | None = None,
    *,
    k: int,
    candidates: _Iterable[object] | _CandidateTable | _Literal["private"] | None = None,
    method: _TopKMethod | None = None,
    max_candidates: int | None = None,
    gap: bool = False,
    epsilon: _Number | None = None,
    rho: _Number | None = None,
    scale: _Number | None = None,
    mechanism: str | _Mechanism = "exponential",
    neighbors: _Neighbors = "add_remove",
    privacy_unit: str | _Sequence[str] | None = None,
    by: str | None = None,
    groups: _Iterable[object] | _Literal["private"] | None = None,
    max_groups: int = 1,
    where: object = None,
    groups_share: _Number | None = None,
    most_drawn: int | None = None,
    delta: _Number | None = None,
    ledger: _Account | None = None,
    request: str | None = None,
) -> _Release:
    """Release k of the most common values of a column in order, the more common the likelier to be early.

    One row is one record, and counts as for `mode`. Of scores that are computed already, take `select_top_k`.

    Args:
        data: a table or the path of a file, with `column`; or values in a list or a series, without.
        column: the name of the column. Without it the data are the values themselves.
        k: how many, at most as many as there are candidates.
        candidates: the possible answers, public: a list, or a `CandidateTable`. May be left out for a `Dataset`
            that declares the values of the column, and for a Polars `Enum`. "private" where nobody may list them:
            values that enough records hold, which may be fewer than k, or none. That takes `delta`, and with a
            `privacy_unit` `max_candidates`: private keys with their counts where a unit counts for at most k
            values, else limited domain: docs/reference/mechanisms/limited_domain.md.
        method: by default the one with the least bound on its error, by public numbers alone:
            docs/how-to/planning.md says which and why. "counts" adds noise to the count of every candidate once,
            and answers the largest with their noisy counts, whatever k is: the best where a record holds one value,
            or a unit counts for fewer than k. "peeling" draws one after another, with any mechanism, and divides
            epsilon (or rho) by k; `scale` is that of every round. It is taken where a mechanism is named. "joint"
            draws the whole list at once: its score is how far, at worst, a place of the list is behind the
            candidate that should be there. It is refused where it might need more than 2 GiB: for 10,000 candidates
            that is a k above 200.
        max_candidates: for "counts" or candidates="private", with a `privacy_unit`: the most candidates for which
            one unit counts, among which the cost is divided. Which of more are kept is decided by a rule that reads
            the rows of that unit alone: docs/how-to/user_level_privacy.md. By default all of them.
        gap: whether to release how far ahead each answer was of the next one, in `Release.gap`, as for `select`; by
            "counts" the difference of noisy counts. Not for "joint"; k must be below the number of candidates.
        epsilon: the privacy parameter ε, a positive number without a unit: the most that one record changes the
            natural logarithm of an answer's probability. Smaller is more private and less accurate; from
            one answer at ε = 1 nobody can go from even odds to more than 73.2 % sure that one record is in
            the data. Exact: 0.1, "0.1" and Fraction(1, 10) are one tenth. It has no default: give it, or
            `rho`, or `scale`. How to choose it: docs/how-to/choose_epsilon.md.
        rho: instead of `epsilon`, the parameter ρ of zero-concentrated differential privacy (zCDP), a positive
            number without a unit.
        scale: instead of `epsilon`, the scale of the noise, a positive number in units of the score: 1/η, where the
            exponential mechanism has probabilities proportional to exp(η · score). Of quantiles the unit is one
            record, and of prices one unit of money, however alpha and the grid are spelled.
        mechanism: "exponential" (the default), "permute_and_flip" (never less accurate on average), "noisy_max",
            "base2", or a mechanism with options of its own, such as `NoisyMax("gumbel")`.
        neighbors: the neighbouring relation that is protected: "add_remove" (the default), one record more or
            less, or "replace_one", one record exchanged for another.
        privacy_unit: the name of the column of the privacy unit, such as a user id: all rows with one value of it
            are one record (user-level privacy), and rows in which it is null are left out; or a list of names, of
            which rows with equal values in all columns are one record. Without it every row is a record.
        by: the name of the column of groups; the answer is then a dict from group to answer. Without it the
            whole table is one group.
        groups: the groups that answer; public, never taken from the data. Rows of other groups are left out.
            Needed with `by`.
            With "private" they are drawn from the data, by how many records are in them, and one of few records
            is left out: docs/how-to/groups.md. That needs `delta`, and takes a part of `epsilon`.
        max_groups: the most groups to which one privacy unit contributes, 1 by default; the cost is divided
            among them. Needs `privacy_unit`.
        where: the rows that the question is about: SQL such as "age >= 18 AND city IN ('Bern', 'Basel')" (it needs
            the extra `sql`), or a Narwhals expression such as `nw.col("age") >= 18`. Columns are compared with
            constants, by =, <>, <, <=, >, >=, IN, BETWEEN and IS NULL, joined by AND, OR and NOT. A row is inside
            where that is true: a comparison with a null, NaN or a cell that cannot be read is neither true nor
            false. Public; without it all rows. It is applied before the rows of a privacy unit are bounded.
        groups_share: with groups="private", the part of `epsilon` that draws the groups, above 0 and below 1, one
            half by default; the rest is for their answers.
        most_drawn: with groups="private", the most groups that are answered, up to 1,000 and so many by default: of
            more those of the largest noisy counts.
        delta: the δ of all answers together, a probability below 1 such as "1e-6". The list is then (ε, δ)-DP, and
            each round of "peeling" has as much as the library's bound on adaptive composition allows: with
            ε = 1 and k = 50 more than three times as much as a k-th. Finding it takes up to a few seconds the
            first time. Without it the list is ε-DP. With groups="private" it is that of the groups.
        ledger: the account to charge, such as `Ledger("budget.db").session("adult")`. Without it no budget is kept.
        request: a name for this request in the ledger, such as "monday": the same request again returns the same
            answer and costs nothing. Without it every call is a new request. Needs `ledger`.

    Returns:
        A list of k candidates, with the guarantee of all of them together; by "counts" with their noisy counts in
        `counts`.

    Raises:
        InvalidArgument: if a public argument cannot be accepted; nothing private was looked at.
        UnreadableData: if the file or the column is not there or cannot be read.

    Side channels: those of the method, and the time that counting takes.

    Source and proof: docs/reference/mechanisms/top_counts.md, docs/reference/mechanisms/peeling.md,
    docs/reference/mechanisms/joint_top_k.md.
    """
    ...

__version__: str
__all__: list[str]
