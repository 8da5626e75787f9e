"""The datasets of a description, answered in this process: no error leads to them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ...errors import InvalidArgument
from ...selection.releases import Release
from .isolation import Failure, call_isolated, isolated, translation_for, unwrap
from .operations import OPERATIONS, Operation, T
from .ownership import Ownership
from .rights import Rights

Isolate = Callable[[Operation[Any]], Callable[..., Any]]
"""Returns what does an operation, isolated from the data: an error is returned as a value."""

Read = Callable[..., Release | Failure]
"""Answers an operation that reads data: takes the operation, and its arguments by name."""


class InProcess:
    """The operations of one caller, all isolated from the data: see `node.isolation`.

    Args:
        role: the role of the caller: see `tokens.ROLES`.
        rights: the rights of the caller.
        ownership: the other operations of owners and auditors.
        check: called before every operation; raises if the caller may do nothing any more.
        read: answers the operations that read data, checked and isolated; None to do it in this process.
    """

    __slots__ = ("_check", "_isolate", "_read", "_role")

    def __init__(
        self,
        role: str,
        rights: Rights,
        ownership: Ownership,
        check: Callable[[], object] = lambda: None,
        read: Read | None = None,
    ) -> None:
        translate = translation_for(rights.are_the_owners)
        self._role, self._check, self._read = role, isolated(check, translate), read
        self._isolate: Isolate = lambda one: isolated(one.bound(rights, ownership), translate)

    def call(self, operation: Operation[T], **arguments: Any) -> T:
        """Return the result of an operation.

        Raises:
            InvalidArgument: if it is none of the table: another one could name other roles and arguments.
        """
        if not any(one is operation for one in OPERATIONS):
            raise InvalidArgument(
                "operation must be one of discreet.service.asking.operations.OPERATIONS"
            )
        values = operation.check(arguments)
        unwrap(call_isolated(self._check))  # a token may be revoked, or expire, while it is used
        operation.audience.check(self._role)
        read = self._read if operation.reads_data else None
        work = self._isolate(operation) if read is None else partial(read, operation)
        answer: T = unwrap(call_isolated(work, **values))
        return answer
