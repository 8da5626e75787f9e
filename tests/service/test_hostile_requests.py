"""What a hostile client may send over a socket: truncated, slow, long, malformed, again. The service goes on."""

import errno
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
httpx = pytest.importorskip("httpx", reason="the extra server is not installed")
uvicorn = pytest.importorskip("uvicorn", reason="the extra server is not installed")

import discreet
from discreet.ledger.toml_budgets import configuration
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.http_connections import LONGEST_HEAD, LimitedConnection
from discreet.service.http.metrics import RequestCounts
from discreet.service.http.middleware import LONGEST_BODY
from discreet.service.http.serving import settings
from discreet.service.queue.padding import LENGTH

from .answer_times import answering
from .asking.test_connect import TEXT, write_files
from .http.test_http_client import LATER

BODY = b'{"question": "typical-age"}'


class Listening:
    """A service on a port of this machine, in a thread of this process."""

    def __init__(self) -> None:
        Path("discreet.toml").write_text(answering(TEXT))
        token, _ = tokens_beside(Path("discreet.toml")).create("analyst", "ann", LATER)
        app: Any = make_app(configuration(), ["127.0.0.1"], RequestCounts())
        self.server = uvicorn.Server(uvicorn.Config(app, port=0, **settings()))
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.port: int = self.server.servers[0].sockets[0].getsockname()[1]
        self.head = (
            f"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {token}\r\n"
            "Idempotency-Key: k\r\nContent-Type: application/json\r\n"
        ).encode()

    def send(self, *parts: bytes, half_close: bool = False) -> bytes:
        """Send bytes over one connection, and return all that comes back until it is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as client:
            found = b""
            try:
                for part in parts:
                    client.sendall(part)
                if half_close:
                    client.shutdown(socket.SHUT_WR)
                while more := client.recv(65536):
                    found += more
            except OSError as error:  # it closes what it will not read
                if not isinstance(error, ConnectionError) and error.errno != errno.ENOTCONN:
                    raise
            return found

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()


@pytest.fixture(scope="module")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("hostile"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        write_files()
        made = Listening()
        yield made
        made.stop()


def spent() -> Any:
    return [budget.spent for budget in discreet.Ledger("budget.db").budgets()]


def status(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1])


def whole(listening: Listening, *more: bytes, body: bytes = BODY) -> bytes:
    length = b"Content-Length: %d\r\nConnection: close\r\n" % len(body)
    return listening.head + b"".join(more) + length + b"\r\n" + body


def test_the_same_bytes_again_are_answered_alike_and_charged_once(listening: Listening) -> None:
    sent, before = whole(listening), spent()
    replies = [listening.send(sent).lower().partition(b"\r\n\r\n") for _ in range(3)]
    assert [b"idempotent-replayed: ?1" in head for head, _, _ in replies] == [False, True, True]
    assert len({body for _, _, body in replies}) == 1
    assert len({len(head) for head, _, _ in replies}) == 1
    after = discreet.connect(analyst="ann").releases()
    assert len([one for one in after if one.request == "k"]) == 1
    assert before != spent()


@pytest.mark.parametrize(
    "sent",
    [
        b"", b"\r\n" * 10, b"\0" * 100, b"GET", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00" * 20,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: " + b"x" * 100_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: x\r\n" * 100_000 + b"\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n",
        b"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n123456",
        b"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    ],
)  # fmt: skip
@pytest.mark.one_in(3)
def test_what_is_malformed_is_refused_and_the_service_goes_on(
    listening: Listening, sent: bytes
) -> None:
    before = spent()
    reply = listening.send(sent, half_close=True)
    assert not reply or status(reply) in (400, 404, 405, 431)
    assert b"Traceback" not in reply
    assert spent() == before
    assert httpx.get(f"http://127.0.0.1:{listening.port}/healthz").status_code == 200


QUESTIONS = "GET /v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def padded(size: int, more: str = "Connection: close\r\n") -> bytes:
    """Return a head of so many bytes."""
    rest = len(f"{QUESTIONS}{more}X: \r\n\r\n")
    return f"{QUESTIONS}{more}X: {'x' * (size - rest)}\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("size", "expected"),
    [(16_000, 200), (LONGEST_HEAD, 200), (LONGEST_HEAD + 1, 431), (20_000, 431), (60_000, 431), (200_000, 431)],
)  # fmt: skip
@pytest.mark.parametrize("piece", [1 << 20, 5_000, 1_000])
def test_a_head_is_as_long_as_the_docs_say(
    listening: Listening, size: int, expected: int, piece: int
) -> None:
    sent = padded(size)
    assert len(sent) == size
    reply = listening.send(*(sent[i : i + piece] for i in range(0, size, piece)))
    assert not reply or status(reply) == expected  # a client that still sends may miss a refusal
    assert reply or expected == 431
    assert (
        expected == 200 or b'"the head of the request is longer than 16 KiB"' in reply or not reply
    )


def test_a_second_head_is_not_longer_because_it_comes_with_the_first(listening: Listening) -> None:
    first = padded(1_000, "Connection: keep-alive\r\n")
    for second in (padded(60_000), padded(1_000)):
        reply = listening.send(first + second)
        assert reply.count(b"HTTP/1.1 ") == 1
        assert status(reply) == 200


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"", b""), (b"G", b"408"), (b"GET / HTTP/1.1\r\nX: ", b"408"),
        (padded(1_000, "Connection: keep-alive\r\n"), b"200"),
        (padded(1_000, "Connection: keep-alive\r\n") + b"GET", b"200"),
    ],
)  # fmt: skip
def test_a_connection_that_waits_is_closed(
    listening: Listening, sent: bytes, expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LimitedConnection, "slowest_head", 0.2)
    reply = listening.send(sent)  # reads until it is closed
    assert reply.split(b" ")[1:2] == ([expected] if expected else [])


def test_half_a_head_after_a_reply_is_not_waited_for(
    listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LimitedConnection, "slowest_head", 0.2)
    with socket.create_connection(("127.0.0.1", listening.port), timeout=30) as client:
        client.sendall(padded(500, "Connection: keep-alive\r\n"))
        reply = client.recv(65536)
        client.sendall(b"GET / HTTP/1.1\r\nX")
        while more := client.recv(65536):
            reply += more
    assert (status(reply), reply.count(b"HTTP/1.1 ")) == (200, 2)
    assert b"HTTP/1.1 408" in reply


def send_for_ever(client: socket.socket) -> None:
    while True:
        client.sendall(b" " * 65536)


def test_a_body_that_goes_on_after_its_refusal_is_cut_off(
    listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LimitedConnection, "slowest_head", 0.2)
    with socket.create_connection(("127.0.0.1", listening.port), timeout=30) as client:
        client.sendall(listening.head + b"Content-Length: %d\r\n\r\n" % (1 << 40))
        with pytest.raises(ConnectionError):
            send_for_ever(client)


STRANGERS = {
    "nothing": b"", "half a head": b"GET / HTTP/1.1\r\n",
    "half a body": b"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n1",
    "half a chunk": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n1",
    "half a login": b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n1",
    "a form": b"POST /ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n1",
    "whole requests": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", [*STRANGERS, "all"])
def test_those_who_wait_keep_nobody_out(
    listening: Listening, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(LimitedConnection, "most", 20)
    monkeypatch.setattr(listening.server.config, "limit_concurrency", 21)
    sent = [*STRANGERS.values()] if kind == "all" else [STRANGERS[kind]]
    with ExitStack() as stack:
        idle: list[socket.socket] = []
        for i in range(70):
            one = socket.create_connection(("127.0.0.1", listening.port), timeout=30)
            idle.append(stack.enter_context(one))
            with suppress(ConnectionError):
                one.sendall(sent[i % len(sent)])
            time.sleep(0.003)  # it is read before the next one comes
        for _ in range(3):
            assert status(listening.send(whole(listening))) == 200
        assert len(listening.server.server_state.connections) <= 20
        with suppress(ConnectionError):
            while idle[0].recv(65536):  # the oldest went first, with or without a reply
                pass


def test_a_slow_body_of_a_caller_outlasts_strangers(
    listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection had a caller before, so those of strangers go first, though they came later."""
    monkeypatch.setattr(LimitedConnection, "most", 20)
    monkeypatch.setattr(listening.server.config, "limit_concurrency", 21)
    first = listening.head + b"Content-Length: %d\r\n\r\n" % len(BODY)
    with ExitStack() as stack:
        kept = stack.enter_context(
            socket.create_connection(("127.0.0.1", listening.port), timeout=30)
        )
        kept.sendall(first + BODY)
        assert read_reply(kept).startswith(b"HTTP/1.1 200")
        kept.sendall(first + BODY[:5])
        for _ in range(70):
            stranger = socket.create_connection(("127.0.0.1", listening.port), timeout=30)
            stack.enter_context(stranger).sendall(STRANGERS["half a login"])
            time.sleep(0.003)
        kept.sendall(BODY[5:])
        assert read_reply(kept).startswith(b"HTTP/1.1 200")


def test_a_burst_from_one_address_takes_no_place_from_others(
    listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller who is not known yet came before all of the burst, and would go first by the length of its wait."""
    monkeypatch.setattr(LimitedConnection, "most", 20)
    monkeypatch.setattr(listening.server.config, "limit_concurrency", 21)
    address = ("127.0.0.1", listening.port)
    with ExitStack() as stack:
        caller = stack.enter_context(socket.create_connection(address, timeout=30))
        caller.sendall(listening.head + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY[:5])
        for _ in range(70):
            stranger = socket.create_connection(address, 30, source_address=("127.0.0.2", 0))
            stack.enter_context(stranger).sendall(STRANGERS["half a login"])
            time.sleep(0.003)
        caller.sendall(BODY[5:])
        assert read_reply(caller).startswith(b"HTTP/1.1 200")


def read_reply(client: socket.socket) -> bytes:
    """Return a padded reply, after which the connection stays open; less of it if it was closed."""
    reply = b""
    while len(reply.partition(b"\r\n\r\n")[2]) < LENGTH and (part := client.recv(65536)):
        reply += part
    return reply


class Clockwork:
    """A loop whose timers run when they are told to, and a transport to somebody who takes what is said."""

    def __init__(self) -> None:
        self.is_aborted = False
        self.timers: dict[int, Any] = {}

    def time(self) -> float:
        return 0.0

    def call_later(self, seconds: float, call: Any) -> Any:
        number = len(self.timers)
        self.timers[number] = call
        return SimpleNamespace(cancel=lambda: self.timers.update({number: None}))

    def abort(self) -> None:
        self.is_aborted = True

    def get_extra_info(self, name: str) -> None:
        return None


def test_who_takes_nothing_is_not_waited_for() -> None:
    config: Any = uvicorn.Config(lambda: None, interface="asgi3", **settings())
    config.loaded, config.loaded_app, config.ws_protocol_class = True, None, None
    clockwork: Any = Clockwork()
    made = LimitedConnection(config, uvicorn.server.ServerState(), {}, clockwork)
    made.connection_made(clockwork)
    made.pause_writing()
    made.resume_writing()  # it has taken enough
    assert clockwork.timers[1] is None
    made.pause_writing()
    clockwork.timers[2]()
    assert clockwork.is_aborted


@pytest.mark.parametrize("kept", [0, 1, len(BODY) - 1])
def test_a_truncated_request_is_not_answered(listening: Listening, kept: int) -> None:
    before = spent()
    head = listening.head.replace(b"Key: k", b"Key: truncated")
    reply = listening.send(
        head + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY[:kept], half_close=True
    )
    assert not reply or status(reply) == 400
    assert spent() == before


def test_an_endless_body_is_cut_off(listening: Listening) -> None:
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    sent = listening.head + b"Transfer-Encoding: chunked\r\n\r\n"
    reply = listening.send(sent, *[chunk] * (LONGEST_BODY // 65536 + 2))
    assert not reply or status(reply) == 413
    declared = listening.head + b"Content-Length: %d\r\n\r\n" % (LONGEST_BODY * 2)
    reply = listening.send(declared, b" " * (LONGEST_BODY + 1))
    assert status(reply) == 413


@pytest.mark.parametrize("key", ["ключ", "\U0001f511", "a%20b", 'a"b', "$map"])
def test_any_key_is_a_name(listening: Listening, key: str) -> None:
    sent = whole(listening).replace(b"Key: k", b"Key: " + key.encode())
    assert status(listening.send(sent)) == 200
    assert key in {one.request for one in discreet.connect(analyst="ann").releases()}


@pytest.mark.parametrize("key", [b"", b"\xff", b"x" * 201, b"a\x7fb"])
def test_a_key_that_is_no_name_is_refused(listening: Listening, key: bytes) -> None:
    before = spent()
    reply = listening.send(whole(listening).replace(b"Key: k", b"Key: " + key))
    assert status(reply) in (400, 422)
    assert spent() == before
