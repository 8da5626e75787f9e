"""Calls of verbs about a described dataset: its declarations are filled in, contradictions are refused.

Every argument is settled before the source is handed to the verb, so a refusal comes before anything is opened.
"""

import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ..payment import UNDESCRIBED, describe_account
from .dataset import Dataset
from .dataset_paths import check_raw
from .dataset_terms import Asks, fill_terms

_P = ParamSpec("_P")
_T = TypeVar("_T")

_inside: ContextVar[bool] = ContextVar("_inside")
"""Set while a verb works: what it asks other verbs is about the same data, which were looked at."""


def takes_dataset(verb: Callable[_P, _T], asks: Asks) -> Callable[_P, _T]:
    """Let a verb take a `Dataset` as its data."""
    signature = inspect.signature(verb)
    place = list(signature.parameters).index("data")

    @wraps(verb)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        outer = _inside.set(True)
        try:
            data = args[place] if len(args) > place else kwargs.get("data")
            if isinstance(data, Dataset):
                bound = signature.bind_partial(*args, **kwargs).arguments
                arguments: dict[str, Any] = {**bound, **bound.pop("terms", {})}
                arguments.pop("terms", None)
                return verb(**fill_terms(data, arguments, asks, verb.__name__))  # type: ignore[call-arg]
            column = _column(args, kwargs, place)
            if outer.old_value is Token.MISSING:
                check_raw(data, column, is_charged=kwargs.get("ledger") is not None)
            if kwargs.get("ledger") is not None and (asks != "values" or column is not None):
                kwargs["ledger"] = describe_account(kwargs["ledger"], UNDESCRIBED)
            return verb(*args, **kwargs)
        finally:
            _inside.reset(outer)

    return call


def _column(args: tuple[Any, ...], kwargs: Mapping[str, Any], place: int) -> object:
    """Return the column of a call; without one, values are counted as scores are, in no known unit."""
    return args[place + 1] if len(args) > place + 1 else kwargs.get("column")
