"""The type of an answer, by which `Release` and `Grid` are generic: any type where none is given."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    T = TypeVar("T", covariant=True, default=Any)
else:
    from typing import TypeVar  # whose default is new in Python 3.13

    T = TypeVar("T", covariant=True)
