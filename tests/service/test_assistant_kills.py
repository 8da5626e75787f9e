"""Clients and servers of assistants that are killed: paid once, answered once."""

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the SDK of the Model Context Protocol is not installed")

from discreet import Ledger
from discreet.ledger.toml_budgets import configuration, open_described

from .mcp.test_mcp_server import TOML

PRICE = Fraction(1, 8)
QUESTION = {"dataset": "people", "verb": "median", "column": "age", "terms": {"epsilon": "1/8"}}
ENDS = ("none", "server", "client", "cancelled")
"""What ends in the middle of a call."""


class Streams:
    """`discreet mcp` as a client starts it, and what the client sends and reads."""

    def __init__(self, folder: Path) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "discreet", "mcp", "--analyst", "assistant"],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "DISCREET_CONFIG": str(folder / "discreet.toml")},
        )  # fmt: skip
        begin = {"protocolVersion": "2025-06-18", "capabilities": {}}
        client = {"name": "x", "version": "1"}
        self.send("initialize", {**begin, "clientInfo": client})
        self.reply()
        self.send("notifications/initialized", {}, is_request=False)

    def send(self, method: str, params: dict[str, Any], *, is_request: bool = True) -> None:
        """Send a message; all requests have the same number, as after a reconnection."""
        number = {"id": 1} if is_request else {}
        message = {"jsonrpc": "2.0", **number, "method": method, "params": params}
        assert self._server.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._server.stdin.write(json.dumps(message) + "\n")
            self._server.stdin.flush()

    def reply(self) -> dict[str, Any] | None:
        """Return the next reply; None where the server has ended."""
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        return json.loads(line) if line else None

    def ask(self, request: str) -> None:
        """Send a question."""
        arguments = {**QUESTION, "request": request, "max_cost": "1/8"}
        self.send("tools/call", {"name": "ask", "arguments": arguments})

    def end(self, part: str) -> None:
        """End a part."""
        if part == "server":
            self._server.kill()
        elif part == "client":
            self.close()
        elif part == "cancelled":
            self.send("notifications/cancelled", {"requestId": 1}, is_request=False)

    def close(self) -> None:
        """Close the input, as a client that ends does, and wait for the server."""
        assert self._server.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._server.stdin.close()
        self._server.wait(60)
        assert self._server.stdout is not None
        self._server.stdout.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "discreet.toml").write_text(TOML)
    rows = "".join(f"{20 + i % 50},Bern\n" for i in range(400))
    (tmp_path / "people.csv").write_text("age,city\n" + rows)
    description = configuration(tmp_path / "discreet.toml")
    open_described(description, "people")
    open_described(description, "people", "assistant")
    return tmp_path


def answer_of(reply: dict[str, Any] | None) -> bytes | None:
    """Return an answer without whether it was charged just now; None where there is none."""
    content = {} if reply is None else reply.get("result", {}).get("structuredContent", {})
    if "value" not in content:
        return None
    return json.dumps({**content, "charged": None}, sort_keys=True).encode()


def storm(folder: Path, calls: int, seed: int) -> None:
    """Ask, end parts at random moments, ask all again, and count what was paid."""
    dice, streams = random.Random(seed), Streams(folder)
    answers: dict[str, bytes] = {}
    names = [f"question {number}" for number in range(calls // 2)]
    for request in [dice.choice(names) for _ in range(calls)] + names:
        is_last = request in names[-1:]
        part = "none" if is_last else dice.choice(ENDS)
        streams.ask(request)
        if part != "none":
            time.sleep(dice.choice([0, 0.001, 0.01, 0.05]))
            streams.end(part)
        answer = None if part in ("cancelled", "client") else answer_of(streams.reply())
        if answer is not None:
            assert answers.setdefault(request, answer) == answer
        if part in ("server", "client", "cancelled"):
            streams.close()
            streams = Streams(folder)
    for request in names:
        for _ in range(5):
            streams.ask(request)
            answer = answer_of(streams.reply())
            if answer is not None:
                break
        assert answer is not None
        assert answers.setdefault(request, answer) == answer
    streams.close()
    ledger = Ledger(folder / "budget.db")
    ledger.verify()
    [share] = [one for one in ledger.budgets() if one.analyst == "assistant"]
    assert share.spent.epsilon == PRICE * len(names)


def test_what_is_killed_is_paid_once_and_answered_once(folder: Path) -> None:
    storm(folder, 4, 6)


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(2, 6))
def test_what_is_killed_often_is_paid_once_and_answered_once(folder: Path, seed: int) -> None:
    storm(folder, 30, seed)
