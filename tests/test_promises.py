"""The names, options, keys, routes and exit codes that we promise are there, and none is new by accident."""

import json

import pytest

from .promises import PROMISES, STORED

AGAIN = "changed on purpose? python -m tests.promises stores them"


@pytest.mark.parametrize("part", PROMISES)
def test_what_we_promise_is_there(part: str) -> None:
    promised, found = set(json.loads(STORED.read_text("utf-8"))[part]), set(PROMISES[part]())
    assert not promised - found, f"gone, which breaks programs of others; {AGAIN}"
    assert not found - promised, f"new, and promised from now on; {AGAIN}"


def test_the_list_has_these_parts_alone() -> None:
    assert set(json.loads(STORED.read_text("utf-8"))) == set(PROMISES)
