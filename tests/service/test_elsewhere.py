"""A connection to a service gives what a connection in this process gives."""

import asyncio
import datetime as dt
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")
httpx = pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet import Connection
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    LedgerUnwritable,
    NotAllowed,
    RequestConflict,
    Unanswerable,
)
from discreet.ledger.described import configuration
from discreet.service.app import make_app
from discreet.service.elsewhere import Elsewhere, connect_to
from discreet.service.tokens import tokens_beside

from .test_connect import REFUSED, TEXT, write_files

LATER = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)


class InTheProcess:
    """A client that reaches an application without a network."""

    def __init__(self, app: Any, token: str) -> None:
        self.app, self.headers = app, {"Authorization": f"Bearer {token}"}

    def request(self, method: str, url: str, **sent: Any) -> Any:
        async def replied() -> Any:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://testserver", headers=self.headers
            ) as client:
                return await client.request(method, url, **sent)

        return asyncio.run(replied())


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The connection in this process, and the one to a service."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("elsewhere"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        write_files()
        Path("discreet.toml").write_text(TEXT + '[server]\nslot = "0s"\n')
        token, _ = tokens_beside(Path("discreet.toml")).create("analyst", "ann", LATER)
        app: Any = make_app(configuration(), ["testserver"])
        there = Elsewhere(InTheProcess(app, token))
        yield discreet.connect(analyst="ann"), Connection(there, "a service")


def test_both_tell_the_same(both: tuple[Connection, Connection]) -> None:
    here, there = both
    assert there.questions() == here.questions()
    assert there.columns("people") == here.columns("people")
    assert there.quote("typical-age") == here.quote("typical-age")
    asked = here.ask("typical-age", request="r")
    found = there.ask("typical-age", request="r")
    assert (found.charged, found.value, found.guarantee) == (False, asked.value, asked.guarantee)
    assert (str(found), repr(found)) == (str(asked), repr(asked))
    mine = there.mode(
        "people", "city", epsilon=Fraction(1, 8), by="age", groups=[30, 31], request="m"
    )
    yours = here.mode(
        "people", "city", epsilon=Fraction(1, 8), by="age", groups=[30, 31], request="m"
    )
    assert (mine.value, mine.charged, yours.charged) == (yours.value, True, False)
    assert there.budgets() == here.budgets()
    assert there.releases() == here.releases()
    with pytest.raises(RequestConflict):
        there.ask("typical-age", request="m")


def test_an_answer_of_many_digits_arrives(both: tuple[Connection, Connection]) -> None:
    lo, step = Fraction(10**240 + 7, 10**240 + 1), Fraction(1, 10**200 + 1)
    grid = discreet.Grid(lo, lo + 7 * step, step)  # its ends and step are short, its points are not
    asked = {"epsilon": "1/100", "candidates": grid, "size": 5}
    found = both[1].median("people", "age", request="digits", **asked)
    assert found.value == both[0].median("people", "age", request="digits", **asked).value
    assert max(len(str(one)) for one in found.value) > 500


@pytest.mark.parametrize(("ask", "error", "match"), REFUSED)
def test_both_refuse_the_same(
    both: tuple[Connection, Connection], ask: Any, error: type[DiscreetError], match: str
) -> None:
    with pytest.raises(DiscreetError) as ours:
        ask(both[0])
    with pytest.raises(DiscreetError) as theirs:
        ask(both[1])
    if "plain" not in match:  # what does not travel is refused before it does
        assert (type(theirs.value), str(theirs.value)) == (type(ours.value), str(ours.value))


def test_a_failure_is_paid_and_asked_again(both: tuple[Connection, Connection]) -> None:
    there, text = both[1], Path("SECRET-PLACE.csv").read_text()
    Path("SECRET-PLACE.csv").unlink()
    with pytest.raises(Unanswerable) as caught:
        there.mode("people", "city", epsilon="1/8", request="lost")
    assert caught.value.__notes__ == ["this is paid: request='lost' asks again at no cost"]
    Path("SECRET-PLACE.csv").write_text(text)
    assert there.mode("people", "city", epsilon="1/8", request="lost").charged is False


class Says:
    def __init__(self, status: int, said: Any) -> None:
        self.status_code, self.said = status, said

    def request(self, method: str, url: str, **sent: Any) -> Any:
        return self

    def json(self) -> Any:
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


@pytest.mark.parametrize("said", [ValueError("x"), None, [], "x", 1])
def test_what_is_no_service_is_told(said: Any) -> None:
    with pytest.raises(LedgerUnwritable, match="no such service") as caught:
        Connection(Elsewhere(Says(502, said)), "x").ask("q", request="r")
    assert "request='r' asks again" in caught.value.__notes__[0]
    refused = Connection(Elsewhere(Says(401, {"error": "NotAllowed", "message": "x"})), "x")
    with pytest.raises(NotAllowed):
        refused.budgets()


def test_a_token_does_not_travel_in_the_clear() -> None:
    for url in (
        "http://example.com",
        "ftp://example.com",
        "example.com",
        "http://127.0.0.1.evil.test",
    ):
        with pytest.raises(InvalidArgument, match="https"):
            connect_to(url, "t")
    for url in ("https://example.com", "http://127.0.0.1:8765", "http://localhost"):
        assert connect_to(url, "t")


def test_a_service_that_is_not_there() -> None:
    with pytest.raises(LedgerUnwritable, match="cannot be reached"):
        Connection(Elsewhere(connect_to("http://127.0.0.1:9", "t")), "x").budgets()
