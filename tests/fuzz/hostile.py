"""Arguments that nobody should give: each under a name, made anew for each call."""

import datetime
import itertools
import math
from collections import UserDict, UserList
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import discreet

from .canary import TEXT


class Raised(Exception):
    """What hostile objects raise; its text stands for data."""


def fail(*_: Any, **__: Any) -> Any:
    """Raise in place of any method."""
    raise Raised(f"{TEXT} was in it")


def _raising(*bases: type, **methods: Any) -> Callable[[], Any]:
    """Return what makes an object of these types whose named methods are replaced, by default to raise."""

    def make() -> Any:
        kind = type("Hostile", bases or (object,), {**methods, "__module__": __name__})
        if str in bases:
            return kind("exponential")
        return kind(3) if {int, float, Fraction, Decimal} & set(bases) else kind()

    return make


_METHODS = ("iter", "eq", "hash", "len", "bool", "array", "getattribute", "repr", "str", "call", "getitem",
            "int", "float", "index", "fspath", "lt", "contains", "format", "next", "array_ufunc")  # fmt: skip
_EACH: dict[str, Callable[[], Any]] = {
    f"object whose __{name}__ raises": _raising(**{f"__{name}__": fail}) for name in _METHODS
}
_SUBCLASSES: dict[str, Callable[[], Any]] = {
    "str whose __eq__ and __hash__ raise": _raising(str, __eq__=fail, __hash__=fail),
    "str whose __str__ and __repr__ raise": _raising(str, __str__=fail, __repr__=fail, __format__=fail),
    "str whose methods raise": _raising(str, strip=fail, lower=fail, encode=fail, isprintable=fail),
    "int whose __int__ and __index__ raise": _raising(int, __int__=fail, __index__=fail, __repr__=fail),
    "int whose comparisons raise": _raising(int, __lt__=fail, __ge__=fail, __eq__=fail, __hash__=fail),
    "float whose methods raise": _raising(float, __str__=fail, __repr__=fail, as_integer_ratio=fail,
                                          __float__=fail, __eq__=fail, __lt__=fail, __hash__=fail),
    "Fraction whose numerator raises": _raising(Fraction, numerator=property(fail)),
    "Decimal whose methods raise": _raising(Decimal, is_finite=fail, adjusted=fail, as_integer_ratio=fail),
    "list whose __iter__ raises": _raising(list, __iter__=fail),
    "list whose __len__ raises": _raising(list, __len__=fail, __bool__=fail),
    "dict whose items raise": _raising(dict, items=fail, keys=fail, values=fail, __iter__=fail),
    "Mapping that raises": _raising(UserDict, __iter__=fail, __len__=fail, __getitem__=fail),
    "Sequence that raises": _raising(UserList, __getitem__=fail, __len__=fail, __iter__=fail),
    "Path that raises": _raising(type(Path()), __fspath__=fail, __str__=fail),
    "array whose methods raise": lambda: np.zeros(2).view(
        type("Hostile", (np.ndarray,), {"__module__": __name__, "astype": fail, "tolist": fail, "__iter__": fail})),
    "generator that raises": lambda: (fail() for _ in range(3)),
    "list of what raises": lambda: [_raising(__eq__=fail, __hash__=fail)(), 1],
    "list of what cannot be shown": lambda: [_raising(__repr__=fail)(), _raising(__repr__=fail)()],
    "dict with a key that raises": lambda: {_Once(): 1, "a": 2},
    "function that raises": lambda: fail,
    "function that returns what raises": lambda: lambda *_: _raising(__iter__=fail, __array__=fail)(),
    "object whose attributes raise": _raising(__getattr__=fail),
    "object whose class lies": _raising(__class__=property(fail)),
}  # fmt: skip
RAISING = {**_EACH, **_SUBCLASSES}
"""Those whose own methods raise something. The library may say so, but not what."""


class _Once:
    """It can be hashed once, and not again."""

    def __init__(self) -> None:
        self.hashed = 0

    def __hash__(self) -> int:
        self.hashed += 1
        return fail() if self.hashed > 1 else 1


class _Endless:
    """It never ends, and may be read as often as one likes."""

    def __iter__(self) -> Iterator[int]:
        return itertools.count()


class _Long:
    """It says that it is longer than anything."""

    def __len__(self) -> int:
        return 2**62

    def __getitem__(self, index: int) -> int:
        return index


class Colour(str, Enum):  # noqa: UP042  # as people write them
    """A text that is an Enum."""

    RED = "exponential"


def _itself() -> list[Any]:
    """Return a list that holds itself."""
    found: list[Any] = [1]
    found.append(found)
    return found


def _lying(base: type, **methods: Any) -> Callable[[], Any]:
    return lambda: type("bool" if base is int else "Lie", (base,), methods)(
        "exponential" if base is str else 1
    )


_NUMBERS: dict[str, Any] = {
    repr(value)[:30]: value
    for value in (
        0, 1, 2, -1, 3, 10**30, 2**63, 2**64, -(2**63) - 1, 10**309, True, False, 0.0, -0.0, 0.5, 0.1, 1e308,
        5e-324, 1e-300, math.nan, math.inf, -math.inf, 1j, Fraction(1, 3), Fraction(-1, 3), Decimal("0.1"),
        Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e9999"), Decimal("1e-9999"),
        Decimal("1e999999"), np.float64(0.5), np.float64("nan"), np.float32(0.1), np.float16("inf"),
        np.int8(-1), np.uint64(2**64 - 1), np.int64(1), np.bool_(True), np.complex128(1), np.datetime64("NaT", "us"),
        np.timedelta64(1, "us"), np.str_("1"), np.bytes_(b"1"), np.void(b"1"),
    )
}  # fmt: skip
_NUMBERS |= {
    "10**5000": 10**5000, "-10**5000": -(10**5000), "10**20000": 10**20000,
    "Fraction(1, 10**5000)": Fraction(1, 10**5000), "Fraction(10**5000, 3)": Fraction(10**5000, 3),
    "Fraction(1, 10**900)": Fraction(1, 10**900), "10**900": 10**900,
    "longdouble('1e4000')": np.longdouble("1e4000"), "pd.NA": pd.NA, "pd.NaT": pd.NaT,
    "np.ma.masked": np.ma.masked, "Fraction of numpy": Fraction(np.int64(1), np.int64(3)),  # type: ignore[call-overload]
}  # fmt: skip
_TEXTS: dict[str, Any] = {
    ascii(text)[:30]: text
    for text in (
        "", " ", "\0", "a\0b", "\ud800", "a\udfffb", "1", "0.1", "1/3", "-1", "1e9999", "1e-9999", "1e99999999",
        "9" * 5000, "1/" + "9" * 5000, "nan", "inf", "\uff11", "\u0661", "1_000", "0x10", "[/x]", "[red]boo", "%s%n",
        "{0}", "../..", "/etc/passwd", "exponential", "noisy_max", "replace_one", "add_remove", "no", "c", "n",
        "a.html", "a.csv", "x" * 300, "'; DROP TABLE", "*", "?", "a\nb", "\u202e", "\U0001f600", "\r", "file://x",
        "sqlite://", "postgresql://u:p@h/x", "recursive", "joint", "median_distance", "__class__",
    )
} | {"x * 10**6": "x" * 10**6}  # fmt: skip
_VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None, "...": lambda: ..., "NotImplemented": lambda: NotImplemented,
    "object()": object, "object": lambda: object, "int": lambda: int, "a function": lambda: lambda *_: 1,
    "a generator function": lambda: lambda *_: (i for i in range(2)), "len": lambda: len, "a module": lambda: math,
    "an exception": lambda: ValueError("x"), "MagicMock()": MagicMock, "bytes": lambda: b"abc",
    "bytearray": lambda: bytearray(b"abc"), "memoryview": lambda: memoryview(b"abc"),
    "date": lambda: datetime.date(2020, 1, 1), "datetime": lambda: datetime.datetime(2020, 1, 1),
    "timedelta": lambda: datetime.timedelta(1), "a str Enum": lambda: Colour.RED,
    "[]": list, "()": tuple, "{}": dict, "set()": set, "frozenset": lambda: frozenset({1}),
    "[None]": lambda: [None], "[[1], [2]]": lambda: [[1], [2]], "[1, 1]": lambda: [1, 1], "[0, 1]": lambda: [0, 1],
    "['a', 'b']": lambda: ["a", "b"], "[nan]": lambda: [math.nan], "['\\ud800']": lambda: ["\ud800", "b"],
    "['\\0']": lambda: ["\0", "b"], "[10**5000]": lambda: [10**5000, 1], "[10**900]": lambda: [10**900, 1],
    "[1, 'a', None]": lambda: [1, "a", None], "[Fraction(1, 10**5000)]": lambda: [Fraction(1, 10**5000), 1],
    "[1e308, -1e308]": lambda: [1e308, -1e308], "a list in itself": _itself, "[(1, 2)]": lambda: [(1, 2), (3, 4)],
    "{'a': 1}": lambda: {"a": 1}, "{1: 2**63}": lambda: {1: 2**63, 2: 2**64}, "{1: -1}": lambda: {1: -1},
    "{'a': 'b'}": lambda: {"a": "b"}, "{None: None}": lambda: {None: None}, "{1}": lambda: {1},
    "range(0)": lambda: range(0), "range(3)": lambda: range(3), "range(10**12)": lambda: range(10**12),
    "iter([1, 2])": lambda: iter([1, 2]), "a generator": lambda: (i for i in range(3)), "map": lambda: map(str, [1, 2]),
    "endless count": itertools.count, "endless repeat": lambda: itertools.repeat(1), "an endless object": _Endless,
    "a sequence too long": _Long, "zip": lambda: zip([1], [2], strict=True),
    "UserList": lambda: UserList([0, 1]), "UserDict": lambda: UserDict(a=1),
    "array of numbers": lambda: np.array([0, 1, 2]), "array of floats": lambda: np.array([0.5, math.nan]),
    "empty array": lambda: np.zeros(0), "0-d array": lambda: np.array(5), "2-d array": lambda: np.zeros((2, 2)),
    "array of objects": lambda: np.array([1, "a", None], dtype=object), "array of texts": lambda: np.array(["a", "b"]),
    "array of dates": lambda: np.array(["2020-01-01", "NaT"], dtype="M8[D]"), "masked array": lambda: np.ma.array([1, 2], mask=[False, True]),
    "structured array": lambda: np.zeros(2, dtype=[("a", int)]), "array of complex": lambda: np.array([1j, 2]),
    "array of bools": lambda: np.array([True, False]), "array of float16": lambda: np.array([1, 2], dtype=np.float16),
    "array of longdoubles": lambda: np.array(["1e4000", "1"], dtype=np.longdouble), "matrix": lambda: np.asmatrix([[1, 2]]),
    "array of a billion": lambda: np.broadcast_to(np.int8(1), (10**9,)),
    "pandas Series": lambda: pd.Series([0, 1, 2]), "pandas Series of bool": lambda: pd.Series([True, False]),
    "empty Series": lambda: pd.Series([], dtype=object), "Series of objects": lambda: pd.Series([1, "a", None, [1]]),
    "Series with an index": lambda: pd.Series([1, 2], index=["a", "b"]), "Series with equal names": lambda: pd.Series([1, 2], index=["a", "a"]),
    "MultiIndex": lambda: pd.MultiIndex.from_tuples([(1, 2), (3, 4)]), "Index": lambda: pd.Index(["a", "b"]),
    "Series of a MultiIndex": lambda: pd.Series([1, 2], index=pd.MultiIndex.from_tuples([(1, 2), (3, 4)])),
    "Categorical": lambda: pd.Categorical(["a", "b"]), "pandas DataFrame": lambda: pd.DataFrame({"c": ["a", "b"], "n": [1, 2]}),
    "empty DataFrame": pd.DataFrame, "DataFrame with equal columns": lambda: pd.DataFrame([[1, 2]], columns=["c", "c"]),
    "DataFrame of objects": lambda: pd.DataFrame({"c": [[1], {}], "n": [object(), None]}), "Interval": lambda: pd.Interval(0, 1),
    "Timestamp": lambda: pd.Timestamp(0), "nullable Series": lambda: pd.Series([1, None], dtype="Int64"),
    "grouped": lambda: pd.DataFrame({"c": ["a"], "n": [1]}).groupby("c"),
    "polars Series": lambda: pl.Series([0, 1]), "polars Series of texts": lambda: pl.Series(["a", "b"]),
    "polars DataFrame": lambda: pl.DataFrame({"c": ["a", "b"], "n": [1, 2]}), "LazyFrame": lambda: pl.LazyFrame({"c": ["a"], "n": [1]}),
    "broken LazyFrame": lambda: pl.LazyFrame({"c": ["a"]}).select(pl.col("gone")), "polars expression": lambda: pl.col("c"),
    "polars Series of lists": lambda: pl.Series([[1], [2]]), "polars empty": pl.DataFrame, "polars Enum": lambda: pl.Enum(["a"]),
    "arrow array": lambda: pa.array([1, 2]), "arrow table": lambda: pa.table({"c": ["a", "b"], "n": [1, 2]}),
    "arrow scalar": lambda: pa.scalar(1), "arrow null": lambda: pa.scalar(None), "chunked array": lambda: pa.chunked_array([[1], [2]]),
    "Grid(0, 3)": lambda: discreet.Grid(0, 3), "Grid(0, 10**30)": lambda: discreet.Grid(0, 10**30),
    "Grid(0, 10**900)": lambda: discreet.Grid(0, 10**900), "Grid(0, 10**5000)": lambda: discreet.Grid(0, 10**5000),
    "Grid(0, 1, 10**-300)": lambda: discreet.Grid(0, 1, Fraction(1, 10**300)), "Grid": lambda: discreet.Grid,
    "Exponential": lambda: discreet.mechanisms.Exponential, "Exponential()": discreet.mechanisms.Exponential, "NoisyMax()": discreet.mechanisms.NoisyMax,
    "PureDP(1)": lambda: discreet.privacy.PureDP(1, "add_remove"), "Ledger()": discreet.Ledger, "Batch()": discreet.Batch,  # type: ignore[arg-type]
    "discreet.select": lambda: discreet.select, "discreet.median": lambda: discreet.median,
    "discreet": lambda: discreet, "a Path": lambda: Path("nowhere.csv"), "Path of NUL": lambda: Path("a\0b.csv"),
    "str that lies": _lying(str, __eq__=lambda *_: True, __hash__=lambda _: hash("exponential")),
    "str that shows another": _lying(str, __str__=lambda _: "noisy_max", __repr__=lambda _: "?"),
    "int that lies": _lying(int, __int__=lambda _: 10**9, __index__=lambda _: 10**9, __lt__=lambda *_: False,
                            __ge__=lambda *_: True, __le__=lambda *_: True),
    "int called bool": _lying(int), "float that lies": lambda: type("Lie", (float,), {
        "__str__": lambda _: "1e300", "as_integer_ratio": lambda _: (1, 0)})(1),
    "dict that lies": lambda: type("Lie", (dict,), {"keys": lambda _: ["a"], "values": lambda _: [1, 2], "__len__": lambda _: 9})(),
    "list that lies": lambda: type("Lie", (list,), {"__len__": lambda _: 10**12, "__iter__": lambda _: iter([1])})([1, 2]),
    "callable with odd name": lambda: type("F", (), {"__call__": lambda *_: [1, 2], "__name__": 5})(),
    "a str named in NUL": lambda: type("a\u202eb", (str,), {})("exponential"),
}  # fmt: skip
TAME = {f"number {k}": (lambda v=v: v) for k, v in _NUMBERS.items()} | {
    f"text {k}": (lambda v=v: v) for k, v in _TEXTS.items()
}
HOSTILE: dict[str, Callable[[], Any]] = {**TAME, **_VALUES, **RAISING}
"""All of them. Names are what a reproduction shows."""
