"""Pages that tell of one folder from beginning to end: their blocks run in order, in a folder of their own.

A block `toml` is what the reader writes into discreet.toml. `discreet serve &` starts a service, on a free port
in place of 8765. A command that ends with a comment `# exit code 4` must end so. In an
output, … stands for any text.
"""

import contextlib
import io
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from discreet.cli import run

from .ledgers import forgetting
from .service.running import Running, free_port
from .test_docs import BLOCK, IN_ONE_FOLDER, PAGES, ROOT, redirected

TOLD = [
    page
    for page in PAGES
    if IN_ONE_FOLDER in page.read_text(encoding="utf-8") and not page.name.endswith(".zh.md")
]
"""The Chinese pages have the same blocks: test_docs_in_chinese.py compares them."""
FEW = ("--processes", "1")
"""A reader has time; the tests have less."""

TOOLS = {"cp", "mv", "mkdir", "rm", "cat", "curl"}


class Told:
    """A reader in a folder, who does what a page says."""

    def __init__(
        self, folder: Path, patch: pytest.MonkeyPatch, served: contextlib.ExitStack
    ) -> None:
        self._folder, self._patch, self._served = folder, patch, served
        self._port = free_port()

    def do(self, kind: str, code: str, output: str | None) -> None:
        """Do what a block says, and compare what is shown with its output."""
        if kind in {"text", "bibtex"}:
            return
        shown = getattr(self, f"_{kind}")(self._here(code))
        if output is not None:
            wanted = re.escape(self._here(output)).replace("…", ".*?")
            assert re.fullmatch(wanted, shown, re.S), f"{code}\n{shown}"

    def _here(self, text: str) -> str:
        """Return a text with the port that is free here."""
        return text.replace("8765", str(self._port))

    def _toml(self, code: str) -> str:
        (self._folder / "discreet.toml").write_text(code, encoding="utf-8")
        return ""

    def _python(self, code: str) -> str:
        """Run it in this process: the service is another."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<example>", "exec"), {"__name__": "__main__"})
        return printed.getvalue()

    def _sh(self, code: str) -> str:
        lines = re.sub(r"\\\n\s*", " ", code).splitlines()
        return "".join(self._command(line) for line in lines if not line.startswith("#"))

    def _command(self, line: str) -> str:
        command, _, comment = line.partition("  # ")
        program, *arguments = shlex.split(command)
        if program == "export":
            name, _, value = arguments[0].partition("=")
            self._patch.setenv(name, value)
            return ""
        if program == "discreet" and arguments[-1] == "&":
            self._served.enter_context(
                Running(self._folder, *arguments[1:-1], *FEW, port=self._port, described=False)
            )
            return ""
        if program == "discreet":
            return _run(arguments, int(comment[9:]) if comment.startswith("exit code") else 0)
        assert program in {*TOOLS, "pip", "umask"}, line
        if program not in TOOLS or shutil.which(program) is None:
            return ""
        return subprocess.run(
            ["sh", "-c", command], cwd=self._folder, check=True, capture_output=True, text=True
        ).stdout


def _run(arguments: list[str], code: int) -> str:
    """Return what a command shows that is started anew, and has seen no ledger."""
    forgetting()
    arguments, written = redirected(arguments)
    terminal = io.StringIO()
    stdout = io.StringIO() if written else terminal
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(terminal):
        assert run(arguments) == code, (arguments, terminal.getvalue())
    if written:
        Path(written).write_text(stdout.getvalue(), encoding="utf-8")
    return terminal.getvalue()


@pytest.mark.parametrize("page", TOLD, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_of_one_folder_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fastapi", reason="the extra server is not installed")
    monkeypatch.chdir(tmp_path)
    with contextlib.ExitStack() as served:
        reader = Told(tmp_path, monkeypatch, served)
        for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
            reader.do(block[1], block[2], block[3])


def test_there_are_such_pages() -> None:
    assert TOLD
