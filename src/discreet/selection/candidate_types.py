"""The types of candidates and answers, by which releases and grids are generic: for type checkers alone."""

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    T = TypeVarWithDefault("T", covariant=True, default=Any)
else:
    T = TypeVar("T", covariant=True)  # whose default is new in Python 3.13
"""The type of an answer, by which `Release` and `Grid` are generic: any type where none is given."""

_T_co = TypeVar("_T_co", covariant=True)


class Indexed(Protocol[_T_co]):
    """Candidates by index: a list, an array, a `Grid`."""

    def __getitem__(self, index: int, /) -> _T_co: ...
