"""The stub that a wheel has: complete, and what an editor shows of a verb."""

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
from tools.stub import spelled_out, stub

import discreet

VERBS = spelled_out(discreet.__all__)
STUB = stub()
SOURCE = Path(discreet.__file__).parent
SERVER = shutil.which("pyright-langserver")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as a wheel installs it: with the stub."""
    folder = tmp_path_factory.mktemp("library")
    shutil.copytree(SOURCE, folder / "discreet", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "discreet" / "__init__.pyi").write_text(STUB, encoding="utf-8")
    return folder


def test_a_checkout_has_none_and_its_types_are_those_of_the_source() -> None:
    """A stub beside the source would be wrong after the next change of a verb."""
    assert not (SOURCE / "__init__.pyi").exists()
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (one for one in tree.body if isinstance(one, ast.If) and not one.orelse
                and ast.unparse(one.test) == "TYPE_CHECKING")  # fmt: skip
    imports = {
        alias.asname: f".{one.module or ''}"
        for one in block.body
        if isinstance(one, ast.ImportFrom)
        for alias in one.names
    }
    assert imports == {
        name: where.rstrip(".") or "." for name, where in vars(discreet)["_MODULES"].items()
    }


def test_it_defines_all_public_names_and_offers_no_others() -> None:
    names = set()
    for node in ast.parse(STUB).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    assert {name for name in names if not name.startswith("_")} == {*discreet.__all__}


def test_verbs_have_the_arguments_and_the_docstring_that_help_shows() -> None:
    definitions: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.parse(STUB).body:
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


def test_a_notebook_shows_the_arguments_and_their_description(library: Path) -> None:
    project = jedi.Project(library, sys_path=[str(library), *sys.path])
    [signature] = jedi.Script(CALL.replace(", eps", ", "), project=project).get_signatures()
    assert {"candidates", "epsilon", "rho", "privacy_unit"} <= {
        one.name for one in signature.params
    }
    assert "epsilon: the privacy parameter ε" in signature.docstring()
    assert "epsilon=" in {one.name for one in jedi.Script(CALL, project=project).complete()}


def test_a_notebook_beside_a_checkout_asks_the_verb_itself() -> None:
    cell = CALL.partition("\n")[2]
    names = {one.name for one in jedi.Interpreter(cell, [{"discreet": discreet}]).complete()}
    assert "epsilon=" in names


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
def test_an_editor_shows_and_completes_the_arguments(server: LanguageServer, library: Path) -> None:
    file = library / "call.py"
    document, end = {"uri": file.as_uri()}, CALL.splitlines()[1]
    folders = [{"uri": library.as_uri(), "name": "calls"}]
    able = {
        "workspace": {"configuration": True},
        "textDocument": {"hover": {"contentFormat": ["plaintext"]}},
    }
    server.ask(1, "initialize", processId=None, rootUri=library.as_uri(), capabilities=able,
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
