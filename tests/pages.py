"""The pages of the documentation, their blocks, and a reader who pastes them one after the other.

The reader sits in one folder, which holds `examples/` of the repository and nothing else, at a terminal of 80
columns. Installed is what `pip install .` brings; a block that says `pip install polars` brings more. A block
`toml` is what the reader writes into discreet.toml. Each Python block is a program of its own. `discreet serve &`
starts a service, on a free port in place of 8765. A command that ends with a comment `# exit code 4` must end so.
In an output, … stands for any text.

Marks before a block, which a page's source has and its readers do not see:

- `<!-- takes seconds -->`: it is left to `make proofs`; later blocks must run without it.
- `<!-- not run: REASON -->`: it is not run at all.
- `<!-- new folder: REASON -->`: from here on in another folder.
"""

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from discreet.cli import run

from .installed import Installed
from .ledgers import forgetting
from .service.running import Running, free_port

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>takes seconds|not run|new folder)(?:: (?P<reason>[^\n]+))? -->\n)?"
    r"```(?P<kind>\w+)\n(?P<code>.*?)^```\n(?:\n?^```output\n(?P<output>.*?)^```)?",
    re.M | re.S,
)

_RUN = {"sh", "toml", "python"}
_TOOLS = {"cp", "mv", "mkdir", "rm", "cat", "curl", "ls"}
_FEW = ("--readers", "1")
"""A reader has time; the tests have less."""


def blocks(page: Path) -> list[re.Match[str]]:
    """Return the blocks of a page."""
    return list(BLOCK.finditer(page.read_text(encoding="utf-8")))


def runs(page: Path) -> bool:
    """Return whether a page has blocks to run; a Chinese one, whether any is not on the English page."""
    code = [(each["code"], each["output"]) for each in blocks(page) if each["kind"] in _RUN]
    if page.name.endswith(".zh.md"):
        original = page.with_name(page.name.replace(".zh.md", ".md"))
        known = {(each["code"], each["output"]) for each in blocks(original)}
        return not known.issuperset(code)
    return bool(code)


class Reader:
    """A reader of one page, who does what it says."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, *, patient: bool) -> None:
        self._top, self._patch, self._patient = folder, patch, patient
        self._port = free_port()
        self._closing = contextlib.ExitStack()
        self._installed = Installed()
        patch.setenv("COLUMNS", "80")

    def paste(self, page: Path) -> None:
        """Do what every block says, and compare what is shown with its output."""
        with self._closing as closing:
            closing.enter_context(self._installed)
            self._enter("page")
            for number, block in enumerate(blocks(page)):
                if block["mark"] == "new folder":
                    self._enter(f"page{number}")
                if block["kind"] in _RUN and self._does(block["mark"]):
                    self._do(block)

    def _does(self, mark: str | None) -> bool:
        return mark in {None, "new folder"} or (mark == "takes seconds" and self._patient)

    def _enter(self, name: str) -> None:
        """Go to a folder that has what is fetched with the project."""
        self._folder = self._top / name
        self._folder.mkdir(parents=True)
        shutil.copytree(ROOT / "examples", self._folder / "examples")
        self._patch.chdir(self._folder)

    def _do(self, block: re.Match[str]) -> None:
        code = self._here(block["code"])
        shown = getattr(self, f"_{block['kind']}")(code)
        if block["output"] is not None:
            wanted = re.escape(self._here(block["output"])).replace("…", ".*?")
            assert re.fullmatch(wanted, shown, re.S), f"{code}\n{shown}"

    def _here(self, text: str) -> str:
        """Return a text with the port that is free here."""
        return text.replace("8765", str(self._port))

    def _toml(self, code: str) -> str:
        Path("discreet.toml").write_text(code, encoding="utf-8")
        return ""

    def _python(self, code: str) -> str:
        forgetting()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<example>", "exec"), {"__name__": "__main__"})
        return printed.getvalue()

    def _sh(self, code: str) -> str:
        lines = re.sub(r"\\\n\s*", " ", code).splitlines()
        return "".join(self._line(line) for line in lines if not line.startswith("#"))

    def _line(self, line: str) -> str:
        """Do what a line says; return what the terminal shows."""
        before, _, command = line.rpartition(" | ")
        command, _, comment = command.partition("  # ")
        program, *arguments = shlex.split(command)
        if program == "discreet" and arguments[-1] == "&":
            served = Running(
                self._folder, *arguments[1:-1], *_FEW, port=self._port, described=False
            )
            self._closing.enter_context(served)
            return ""
        if program == "discreet":
            return self._command(
                arguments, before, int(comment[9:]) if comment.startswith("exit code") else 0
            )
        assert not before, line
        return self._other(program, arguments, command)

    def _command(self, arguments: list[str], before: str, code: int) -> str:
        """Return what a command shows that is started anew, and has seen no ledger and no tally."""
        forgetting()
        self._patch.setenv("XDG_STATE_HOME", str(self._top.parent / "state" / uuid4().hex))
        stdin, written = _redirected(arguments, "<"), _redirected(arguments, ">")
        given = Path(stdin).read_bytes() if stdin else _shown_by(before)
        self._patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        terminal = io.StringIO()  # both streams, in the order in which a terminal shows them
        stdout = io.StringIO() if written else terminal
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(terminal):
            assert run(arguments) == code, (arguments, terminal.getvalue())
        if written:
            Path(written).write_text(stdout.getvalue(), encoding="utf-8")
        return terminal.getvalue()

    def _other(self, program: str, arguments: list[str], command: str) -> str:
        """Do what needs none of our commands; nothing is installed, and git is not asked."""
        if program == "export":
            name, _, value = arguments[0].partition("=")
            self._patch.setenv(name, value)
        elif program == "pip":
            self._installed.add(*(one for one in arguments[1:] if not one.startswith("-")))
        elif program == "make":
            assert set(arguments) <= targets(), command
        elif program in _TOOLS and shutil.which(program) is not None:
            return _shown_by(command).decode()
        else:
            assert program in {*_TOOLS, "git", "cd", "umask", "."}, command
        return ""


def _redirected(arguments: list[str], sign: str) -> str | None:
    """Take a redirection out of the arguments; return its file."""
    if sign not in arguments:
        return None
    place = arguments.index(sign)
    _, file = arguments[place], arguments[place + 1]
    del arguments[place : place + 2]
    return file


def _shown_by(command: str) -> bytes:
    """Return the output of commands of the shell; of none, nothing."""
    assert "discreet" not in command.split(), command
    return subprocess.run(["sh", "-c", command], check=True, capture_output=True).stdout


def targets() -> set[str]:
    """Return what `make` can be told to make."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z-]*):", makefile, re.M))
