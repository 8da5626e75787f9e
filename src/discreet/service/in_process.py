"""The datasets of a description, answered in this process: no error leads to them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ..errors import InvalidArgument
from ..node.isolation import call_isolated, isolated, translation_for, unwrap
from .operations import OPERATIONS, Operation, T, isolate_operations
from .ownership import Ownership
from .rights import Rights

_NO_READERS: Mapping[str, Any] = MappingProxyType({})


class InProcess:
    """The operations of one caller, all isolated from the data: see `node.isolation`.

    Args:
        role: the role of the caller: see `tokens.ROLES`.
        rights: the rights of the caller.
        ownership: the other operations of owners and auditors.
        check: called before every operation; raises if the caller may do nothing any more.
        readers: operations by name that are done in another process, and checked and isolated there.
    """

    __slots__ = ("_check", "_isolate", "_readers", "_role")

    def __init__(
        self,
        role: str,
        rights: Rights,
        ownership: Ownership,
        check: Callable[[], object] = lambda: None,
        readers: Mapping[str, Callable[..., Any]] = _NO_READERS,
    ) -> None:
        translate = translation_for(rights.are_the_owners)
        self._role, self._check = role, isolated(check, translate)
        self._isolate, self._readers = isolate_operations(translate, rights, ownership), readers

    def call(self, operation: Operation[T], **arguments: Any) -> T:
        """Return the result of an operation.

        Raises:
            InvalidArgument: if it is none of the table: another one could name other roles and arguments.
        """
        if not any(one is operation for one in OPERATIONS):
            raise InvalidArgument("operation must be one of discreet.service.operations.OPERATIONS")
        values = operation.check(arguments)
        work = self._readers.get(operation.name)
        if work is None:  # a token may be revoked, or expire, while it is used
            unwrap(call_isolated(self._check))
        operation.audience.check(self._role)
        work = work or self._isolate(operation)
        answer: T = unwrap(call_isolated(work, **values))
        return answer
