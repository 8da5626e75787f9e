"""All parts of a service note what they know of a request in one place."""

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")

from discreet.service.asking.tokens import Token
from discreet.service.http.exchange import AsgiMessage, caller_of, exchange_of


def test_a_request_has_one_exchange_and_no_other_has_it() -> None:
    scope: AsgiMessage = {"type": "http"}
    exchange_of(scope).caller = token = Token("1", "owner", None, "", "")
    assert exchange_of(scope) is exchange_of(scope)
    assert caller_of(scope) is token
    assert exchange_of({"type": "http"}).caller is None


def test_a_request_of_a_stranger_has_no_caller() -> None:
    with pytest.raises(AssertionError):
        caller_of({"type": "http"})
