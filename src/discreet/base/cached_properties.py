"""Properties that are computed once, while other objects compute theirs."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")


class cached_property(Generic[_T]):  # noqa: N801  # as the one of functools
    """A property that is computed once for an object of one thread.

    That of functools has one lock for all objects in Python 3.11. So a question would wait for the table or the
    connection of another, and for ever if the other waits for its connection.
    """

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, one: Any, owner: type) -> _T:
        content = one.__dict__[self._name] = self._compute(one)
        return content
