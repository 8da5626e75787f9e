"""Replies that need no command: they are those of the commands, and nothing heavy is imported for them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tools.stored_help import stored_commands

from discreet.base.count_tables import text_width
from discreet.cli import run, stored_replies
from discreet.cli.stored_replies import StoredReply, stored_reply

WIDE = {"COLUMNS": "80"}
COMMANDS = stored_commands()


@pytest.fixture(autouse=True, scope="module")
def replies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The replies that a wheel has, in its place."""
    file = tmp_path_factory.mktemp("replies") / "commands.json"
    file.write_text(json.dumps(COMMANDS), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_replies, "REPLIES", file)
        yield file


def test_a_checkout_stores_none_and_asks_the_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(stored_replies.__file__).with_name("commands.json")
    assert not file.exists(), "it would be wrong after the next change of a command"
    monkeypatch.setattr(stored_replies, "REPLIES", file)
    assert stored_reply(["--help"], WIDE) is None
    assert stored_reply([], environment("discreet me", "bash")) is None
    assert run(["--help"]) == 0
    assert "median" in capsys.readouterr().out
    assert stored_reply(["--version"], {}) is not None


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words or "all")
@pytest.mark.one_in(8)
def test_the_help_is_that_of_the_command(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*words.split(), "--help"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    for line in ([*words.split(), "-h"], ["help", *words.split()]):
        assert stored_reply(line, WIDE) == StoredReply(out)
        assert run(line) == 0
        assert capsys.readouterr().out == out


def test_help_in_chinese_fits_and_is_chinese(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, command in COMMANDS.items():
        text = command["help"]["zh"]
        assert max(map(text_width, text.splitlines())) <= 80, words
        assert not re.search(r"^ *[，。、；：）”]|\0", text, re.MULTILINE), words
        assert not re.search(
            r"Usage|Options|Arguments|Commands|default|\[required|env var", text
        ), words
    monkeypatch.setenv("COLUMNS", "80")
    mode = COMMANDS["mode"]["help"]["zh"]
    assert stored_reply(["help", "mode"], {**WIDE, "LANG": "zh_CN.UTF-8"}) == StoredReply(mode)
    for line in (["--language", "zh", "mode", "-h"], ["--language=zh", "mode", "--help"]):
        assert run(line) == 0
        assert capsys.readouterr().out == mode
    assert run(["--language", "zh", "--help"]) == 0
    assert capsys.readouterr().out == COMMANDS[""]["help"]["zh"]


def test_the_version_and_the_help_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-V"]) == 0
    assert stored_reply(["--version"], {}) == StoredReply(capsys.readouterr().out)
    assert stored_reply([], WIDE) == stored_reply(["--help"], WIDE) is not None


@pytest.mark.parametrize(
    "line",
    [
        ["mode", "--help"],
        ["frobnicate", "--help"],
        ["help", "me"],
        ["mode", "a.csv"],
        ["--language"],
    ],
    ids=" ".join,
)
def test_what_is_left_to_the_commands(line: list[str]) -> None:
    narrow = {"COLUMNS": "79"}
    assert stored_reply(line, narrow) is None


def environment(line: str, shell: str) -> dict[str, str]:
    """Return what a shell says that completes the last word of a line."""
    instruction = {"_DISCREET_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        return {**instruction, "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    return {
        **instruction, "_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }  # fmt: skip


STORED = [
    "discreet ",
    "discreet me",
    "discreet xy",
    "discreet --",
    "discreet ledger ",
    "discreet ledger ex",
    "discreet ledger open x.db --dataset people --eps",
    "discreet mode own.csv drink --",
    "discreet mode own.csv drink --epsilon 1 --e",
    "discreet mode own.csv drink --epsilon 1 -",
    "discreet mode own.csv drink --mechanism ",
    "discreet mode own.csv drink --mechanism b",
    "discreet mode own.csv drink --mechanism-option a --mechanism-o",
    "discreet top-k own.csv drink --method j",
    "discreet noise ra",
]
OPEN = [
    "discreet mode ",
    "discreet mode own.csv ",
    "discreet mode own.csv drink --by ",
    "discreet mode own.csv drink --mechanism=b",
    "discreet mode own.csv -- --e",
    "discreet mode own.csv 'a b",
    "discreet --language zh mo",
    "discreet frobnicate x",
]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("line", STORED)
@pytest.mark.one_in(4)
def test_completions_are_those_of_the_commands(
    line: str, shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asking = environment(line, shell)
    reply = stored_reply([], asking)
    assert reply is not None
    for name, setting in asking.items():
        monkeypatch.setenv(name, setting)
    with pytest.raises(SystemExit) as end:
        run([])
    # The names of help come in any order, and the commands wrap descriptions at 80 columns.
    assert sorted(reply.text.split()) == sorted(capsys.readouterr().out.split())
    assert reply.code == end.value.code


@pytest.mark.parametrize("line", OPEN)
def test_completions_that_need_data_or_care_are_left_to_the_commands(line: str) -> None:
    for shell in ("bash", "zsh"):
        assert stored_reply([], environment(line, shell)) is None


def test_fish_asks_first_whether_there_are_any() -> None:
    for line, code in (("discreet me", 0), ("discreet xy", 1)):
        asking = {**environment(line, "fish"), "_TYPER_COMPLETE_FISH_ACTION": "is-args"}
        assert stored_reply([], asking) == StoredReply("", code)


@pytest.mark.parametrize(
    ("arguments", "shell"),
    [
        (["--version"], {}),
        (["help", "median"], WIDE),
        ([], environment("discreet mode own.csv drink --eps", "bash")),
    ],
    ids=["version", "help", "completion"],
)
def test_nothing_heavy_is_imported(
    arguments: list[str], shell: Mapping[str, str], replies: Path
) -> None:
    """So each takes less than a tenth of a second; `inspect` alone takes a fifth of that."""
    program = (
        f"import sys; sys.argv = ['discreet', *{arguments}]\nfrom discreet.cli import main, stored_replies\n"
        f"stored_replies.REPLIES = type(stored_replies.REPLIES)({str(replies)!r})\n"
        "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **shell},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout
    heavy = {
        "typer",
        "rich",
        "numpy",
        "flint",
        "duckdb",
        "narwhals",
        "polib",
        "inspect",
        "dataclasses",
    }
    assert not heavy & set(done.stderr.split())
    assert "discreet.cli.application" not in done.stderr
