"""Verbs that a session pays for: `session.mode(...)` is `mode(..., ledger=session)`."""

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, ParamSpec

from ..releases import Release

P = ParamSpec("P")


class Paid(Generic[P]):
    """A verb as an attribute of whoever pays for it. It takes what the verb takes, but `ledger`."""

    def __init__(self, verb: Callable[P, Release]) -> None:
        self._verb = verb
        self.__doc__ = verb.__doc__

    def __get__(self, payer: Any, owner: type) -> Callable[P, Release]:
        if payer is None:
            return self._verb
        return partial(self._verb, ledger=payer)
