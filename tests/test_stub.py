"""The stub of the package: of today, complete, and what an editor shows of a verb."""

import ast
import inspect
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import jedi
import pytest
from tools.write_stub import STUB, spelled_out, stub

import discreet

VERBS = spelled_out(discreet.__all__)
SERVER = shutil.which("pyright-langserver")


def test_the_stub_is_of_today() -> None:
    """After a change of a verb: make stub."""
    assert STUB.read_text(encoding="utf-8") == stub()


def test_it_defines_all_public_names_and_offers_no_others() -> None:
    names = set()
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    assert {name for name in names if not name.startswith("_")} == {*discreet.__all__}


def test_verbs_have_the_arguments_and_the_docstring_that_help_shows() -> None:
    definitions: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            definitions.setdefault(node.name, []).append(node)
    assert {*definitions} == {*VERBS}
    assert {"median", "mode", "select", "top_k", "quantiles", "laplace"} <= {*VERBS}
    for name, nodes in definitions.items():
        verb = getattr(discreet, name)
        assert all(node.args.kwarg is None for node in nodes), name
        one_answer, several = nodes[0], nodes[-1]
        for node in (one_answer, several):
            assert ast.get_docstring(node) == inspect.cleandoc(verb.__doc__), name
        taken = {one.arg for one in (*several.args.args, *several.args.kwonlyargs)}
        assert taken >= {*inspect.signature(verb).parameters} - {"unsafe_candidates_from_data"}, (
            name
        )


CALL = "import discreet\ndiscreet.median([1], candidates=discreet.Grid(0, 9), eps"


def test_a_notebook_shows_the_arguments_and_their_description() -> None:
    [signature] = jedi.Script(CALL.replace(", eps", ", ")).get_signatures()
    assert {"candidates", "epsilon", "rho", "privacy_unit"} <= {
        one.name for one in signature.params
    }
    assert "epsilon: the privacy parameter ε" in signature.docstring()
    assert "epsilon=" in {one.name for one in jedi.Script(CALL).complete()}


class LanguageServer:
    """A language server, asked over its standard input."""

    def __init__(self, folder: Path) -> None:
        assert SERVER is not None
        command = [SERVER, "--stdio"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._to: IO[bytes] = self.process.stdin
        self._out: IO[bytes] = self.process.stdout
        self._folder = folder

    def send(self, **message: Any) -> None:
        """Send a message."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._to.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._to.flush()

    def ask(self, number: int, method: str, **params: Any) -> Any:
        """Return the result of a request; what the server asks meanwhile is answered."""
        self.send(id=number, method=method, params=params)
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                return message["result"]
            if "id" in message and "method" in message:
                where = {"pythonPath": sys.executable}
                items = message["params"].get("items", []) if message.get("params") else []
                self.send(id=message["id"], result=[where] * len(items))

    def _receive(self) -> Any:
        length = 0
        while line := self._out.readline().strip():
            name, _, text = line.partition(b":")
            length = int(text) if name.lower() == b"content-length" else length
        return json.loads(self._out.read(length))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LanguageServer]:
    if SERVER is None:
        pytest.skip("there is no pyright-langserver: pip install pyright")
    started = LanguageServer(tmp_path)
    yield started
    started.process.kill()
    started.process.communicate()


@pytest.mark.proof
def test_an_editor_shows_and_completes_the_arguments(
    server: LanguageServer, tmp_path: Path
) -> None:
    file = tmp_path / "call.py"
    document, end = {"uri": file.as_uri()}, CALL.splitlines()[1]
    folders = [{"uri": tmp_path.as_uri(), "name": "calls"}]
    able = {
        "workspace": {"configuration": True},
        "textDocument": {"hover": {"contentFormat": ["plaintext"]}},
    }
    server.ask(1, "initialize", processId=None, rootUri=tmp_path.as_uri(), capabilities=able,
               workspaceFolders=folders)  # fmt: skip
    server.send(method="initialized", params={})
    opened = {**document, "languageId": "python", "version": 1, "text": CALL}
    server.send(method="textDocument/didOpen", params={"textDocument": opened})
    at = {"line": 1, "character": len("discreet.med")}
    hover = server.ask(2, "textDocument/hover", textDocument=document, position=at)
    text = hover["contents"]["value"]
    assert "epsilon: Number | None = None" in text
    assert "epsilon: the privacy parameter ε" in text
    assert "RecordTerms" not in text
    at = {"line": 1, "character": len(end)}
    completion = server.ask(3, "textDocument/completion", textDocument=document, position=at)
    items = completion["items"] if isinstance(completion, dict) else completion
    assert items[0]["label"] == "epsilon="
