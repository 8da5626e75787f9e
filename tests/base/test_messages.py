"""Texts in parts: every message has its translation, and a language more is a catalogue alone."""

import ast
import copy
import pickle
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from inspect import cleandoc
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from jinja2.ext import extract_from_ast
from polib import POFile, pofile
from typer.main import get_command

import discreet
from discreet import errors
from discreet.base import messages
from discreet.base.messages import (
    AND,
    OR,
    Message,
    gettext,
    join,
    plural,
    translate,
    using_language,
)
from discreet.cli.application import LABELS, build_app
from discreet.cli.exit_codes import EXIT_CODES
from discreet.errors import InvalidArgument
from discreet.mechanisms import MECHANISMS
from discreet.mechanisms.accuracy import UNITS, UNITS_OF_ONE
from discreet.privacy.wording import in_full, mechanism_name
from discreet.tables import templates

from ..service.answer_times import answering

SOURCE = Path(discreet.__file__).parent
HAN = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
CHINESE = pofile(SOURCE / "base" / "locale" / "zh.po")
MECHANISM_NAMES = {
    *MECHANISMS, "above_threshold", "gaussian", "geometric", "joint_quantiles", "joint_top_k", "laplace", "peeling",
    "randomized_response", "limited_domain", "private_keys", "first_above"}  # fmt: skip
CODES = {
    "mechanism": {"{noun}({detail})", *MECHANISM_NAMES},
    "a mechanism": {name.replace("_", "-") for name in MECHANISM_NAMES},
    "an error": {*UNITS, *UNITS_OF_ONE.values()},
    "an axis": {"candidate", "output"},
    "a date": {"%Y", "%b", "%d", "%H:%M", "%S.%f", "%b-%d", "%Y-%b", "%Y-%b-%d", "%Y-%b-%d %H:%M"},
    "an event": {
        "opened", "extended", "shrunk", "charged", "answered", "charged outside", "released outside",
        "described", "renewed", "merged", "failed", "reopened", "delayed", "given up", "reset",
        "second reading", "third reading",
    },
}  # fmt: skip
"""Messages that are looked up by a code, by context: they stand in no call."""
REASONS = {"the candidates were taken from the data", "the score function"}
"""Texts that other functions are given, and write as messages."""


def test_every_message_of_the_source_is_in_every_catalogue() -> None:
    used = {*called(), *templated(), *coded(), *helped()}
    for file in Path(messages.LOCALE).glob("*.po"):
        known = {(entry.msgctxt or "", entry.msgid) for entry in pofile(file).translated_entries()}
        assert not used - known, file.name


def test_no_catalogue_has_messages_that_nobody_writes() -> None:
    used = {*called(), *templated(), *coded(), *helped(), *(("", reason) for reason in REASONS)}
    capitals = {(context, text[:1].upper() + text[1:]) for context, text in used}
    for file in Path(messages.LOCALE).glob("*.po"):
        for entry in pofile(file):
            assert (entry.msgctxt or "", entry.msgid) in used | capitals, file.name


def test_translations_have_the_same_parts() -> None:
    for file in Path(messages.LOCALE).glob("*.po"):
        for entry in pofile(file):
            for text in entry.msgstr_plural.values() or [entry.msgstr]:
                assert places(text) == places(entry.msgid_plural or entry.msgid), (file.name, text)


def test_translations_into_chinese_are_chinese() -> None:
    for entry in CHINESE:
        for text in entry.msgstr_plural.values() or [entry.msgstr]:
            letters = re.sub(r"\{[^}]*\}|%\w", "", text)
            assert HAN.search(text) or not re.search("[A-Za-z]", letters), text


def places(template: str) -> set[tuple[str, str]]:
    """Return the parts of a template, and how they are written."""
    parts = Formatter().parse(template)
    return {(name, form or "") for _, name, form, _ in parts if name is not None}


def called() -> Iterator[tuple[str, str]]:
    """Yield the messages that stand in the source, with their contexts."""
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id not in {"Message", "gettext", "plural"} or not node.args:
                continue
            first, context = (
                node.args[0],
                node.args[1:2] if node.func.id in {"Message", "gettext"} else [],
            )
            texts = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
            for text in texts:
                if isinstance(text, ast.Constant):
                    yield (ast.literal_eval(context[0]) if context else ""), str(text.value)


def templated() -> Iterator[tuple[str, str]]:
    """Yield the messages of the templates."""
    made = templates._environment()
    for file in (SOURCE / "tables" / "templates").rglob("*.html"):
        tree = made.parse(file.read_text(encoding="utf-8"))
        for _, _, found in extract_from_ast(tree, ("_",), babel_style=False):
            template, *rest = found if isinstance(found, tuple) else (found,)
            if template is not None:
                yield next(filter(None, rest), ""), template


def helped() -> Iterator[tuple[str, str]]:
    """Yield the help of all commands and options, the words of its layout, and the exit codes."""
    texts: set[str] = {*LABELS, *(each.meaning for each in EXIT_CODES)}
    commands: list[Any] = [get_command(build_app())]
    for command in commands:
        commands += getattr(command, "commands", {}).values()
        parameters = command.get_params(command.make_context("", [], resilient_parsing=True))
        texts |= {one.help for one in (command, *parameters) if one.help}
    yield from (("help", cleandoc(text)) for text in texts)


def coded() -> Iterator[tuple[str, str]]:
    """Yield the messages that are looked up by a code."""
    for context, codes in CODES.items():
        for code in codes:
            yield context, code


@pytest.fixture
def locale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder of catalogues."""
    monkeypatch.setattr(messages, "LOCALE", str(tmp_path))
    messages.catalogue.cache_clear()
    yield tmp_path
    messages.catalogue.cache_clear()


def in_chinese() -> str:
    with using_language("zh"):
        return gettext("English", "the name of this language")


def test_a_wheel_has_compiled_catalogues_alone(
    locale: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    CHINESE.save_as_mofile(str(locale / "zh.mo"))
    monkeypatch.setitem(sys.modules, "polib", None)
    assert messages.languages() == ("en", "zh")
    assert in_chinese() == "中文"


def test_a_checkout_reads_the_text_and_not_what_was_compiled_of_an_older_one(locale: Path) -> None:
    (locale / "zh.mo").write_bytes(b"old")
    CHINESE.save(str(locale / "zh.po"))
    assert messages.languages() == ("en", "zh")
    assert in_chinese() == "中文"


def test_a_checkout_without_polib_has_what_its_installation_compiled_or_english(
    locale: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    CHINESE.save(str(locale / "zh.po"))
    monkeypatch.setitem(sys.modules, "polib", None)
    assert in_chinese() == "English"
    CHINESE.save_as_mofile(str(locale / "zh.mo"))
    messages.catalogue.cache_clear()
    assert in_chinese() == "中文"


def test_a_message_is_its_english_text() -> None:
    message = Message("Spent {spent:.2f} of {total}.", spent=Fraction(1, 3) * 1.0, total="ε = 1")
    assert message == "Spent 0.33 of ε = 1."
    assert str(message) is message
    assert gettext("There is no such page.") == "There is no such page."
    assert Message("{curly} stays") == "{curly} stays"


def test_parts_are_translated_and_missing_messages_are_english() -> None:
    message = Message(
        "{first} or {then}", first=Message("nothing"), then=Message("{no} such", no=1)
    )
    with using_language("zh"):
        assert translate(message) == "零 或 1 such"
        assert translate("nothing") == "nothing", "a text that is no message stays"
        assert translate(Message("")) == ""
    assert translate(message) == "nothing or 1 such"


def test_messages_are_copied_and_pickled_with_their_parts() -> None:
    message = join(AND, ["a", join(OR, ["b", "c"]), ""])
    assert message == "a, b or c"
    for again in (copy.deepcopy(message), pickle.loads(pickle.dumps(message))):
        with using_language("zh"):
            assert translate(again) == "a，b 或 c"
    several = plural("1 answer", "{count:,} answers", 1200)
    with using_language("zh"):
        assert translate(pickle.loads(pickle.dumps(several))) == "1,200 个答案"


def test_errors_are_in_english_alone() -> None:
    with using_language("zh"):
        assert translate(InvalidArgument(Message("nothing"))) == "nothing"
    assert (
        str(InvalidArgument("{braces} stay, \udcff does not")) == "{braces} stay, \\udcff does not"
    )
    again = pickle.loads(pickle.dumps(errors.Exhausted("ρ is used up", spent=1)))
    assert (str(again), again.spent) == ("ρ is used up", 1)


def test_names_of_mechanisms_are_translated() -> None:
    assert mechanism_name("peeling(noisy_max(gumbel))") == "peeling(noisy_max(gumbel))"
    with using_language("zh"):
        assert translate(mechanism_name("peeling(base2)")) == "逐个剥离 peeling(base2)"
        assert translate(mechanism_name("of_your_own")) == "of_your_own"


@pytest.mark.parametrize(
    ("locale", "expected"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"), ({"LANG": "C"}, "en"), ({}, "en"), ({"LANG": "fr_FR"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"), ({"LANGUAGE": "zh:en", "LANG": "de_DE"}, "zh"),
    ],
)  # fmt: skip
def test_the_language_of_the_locale(
    locale: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, code in locale.items():
        monkeypatch.setenv(name, code)
    assert messages.preferred_language() == expected


@pytest.fixture
def third_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Make a language of English words in angle quotes: a file in the folder of catalogues, and nothing else."""
    folder = tmp_path / "locale"
    folder.mkdir()
    catalogue = POFile()
    catalogue.metadata = {
        "Language": "x-quoted",
        "Content-Type": "text/plain; charset=UTF-8",
        "Plural-Forms": "nplurals=2; plural=n != 1;",
    }
    for entry in CHINESE:
        marked = copy.copy(entry)
        marked.msgstr = f"‹{entry.msgid}›" if entry.msgctxt != "a date" else entry.msgid
        if entry.msgctxt == "a column":
            marked.msgstr = f"[{entry.msgid}]"
        if entry.msgid_plural:
            marked.msgstr_plural = {0: f"‹{entry.msgid}›", 1: f"‹{entry.msgid_plural}›"}
        catalogue.append(marked)
    catalogue.save(str(folder / "xq.po"))
    monkeypatch.setattr(messages, "LOCALE", folder)
    messages.catalogue.cache_clear()
    yield "xq"
    messages.catalogue.cache_clear()


def test_a_third_language_is_a_catalogue_alone(
    third_language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    from discreet.cli import run

    assert messages.languages() == ("en", third_language)
    with using_language(third_language):
        guarantee = discreet.select([1, 2], sensitivity=1, epsilon=1).guarantee
        assert translate(in_full(guarantee)) == "‹‹ε = 1, bounded range› (‹add/remove one record›)›"
    release = discreet.select({"tea": 1, "milk": 2}, sensitivity=1, epsilon=1)
    report = discreet.report(release, tmp_path / "r.html", lang=third_language)
    page = report.read_text(encoding="utf-8")
    assert '<html lang="x-quoted">' in page
    assert "‹What is promised›" in page
    assert "‹here: 1›" in page
    ledger = str(tmp_path / "b.db")
    assert run(["ledger", "open", ledger, "--dataset", "a", "--epsilon", "1"]) == 0
    assert "remaining" in capsys.readouterr().out
    assert run(["--language", third_language, "ledger", "show", ledger]) == 0
    assert "[remaining]" in capsys.readouterr().out
    monkeypatch.setenv("LANGUAGE", third_language)
    assert run(["ledger", "show", ledger]) == 0
    assert "[spent]" in capsys.readouterr().out
    assert run(["ledger", "history", ledger]) == 0
    assert "[event]" in capsys.readouterr().out
    assert (
        run(["ledger", "show", ledger, "--dataset", "b", "--report", str(tmp_path / "b.html")]) == 2
    )
    assert "no budget was opened for the dataset 'b'" in capsys.readouterr().err
    assert run(["--language", "fr", "ledger", "show", ledger]) == 2
    assert "en, xq" in capsys.readouterr().err


def test_pages_in_a_third_language(
    third_language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("starlette", "httpx"):
        pytest.importorskip(package, reason="the extra server is not installed")
    from ..service.asking.test_connect import TEXT, write_files
    from ..service.pages.person import Served

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    served = Served(answering(TEXT))
    assert '<html lang="en">' in served.person(lang="fr").get("/login").text
    login = served.person(lang=third_language).get("/login").text
    assert '<html lang="x-quoted">' in login
    assert "‹Token›" in login
    page = served.person("ann", lang=third_language).get("/budgets").text
    assert '<html lang="x-quoted">' in page
    assert "‹Budgets›" in page
    assert 'lang="en" hreflang="en">English<' in page


def test_commands_in_chinese(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from discreet.cli import run

    ledger, table = str(tmp_path / "b.db"), tmp_path / "t.csv"
    table.write_text("drink\n" + "tea\n" * 90 + "milk\n", encoding="utf-8")
    paid = ["--ledger", ledger, "--dataset", "a", "--request", "r"]
    mode = ["mode", str(table), "drink", "--candidates", "tea,milk", "--epsilon", "1", *paid]
    spoken = [
        (["ledger", "open", ledger, "--dataset", "a", "--epsilon", "2"], "剩余"),
        ([*mode, "--dry-run"], "花费 ε = 1，预算 a：已花 ε = 0，剩余 ε = 2；之后剩余 ε = 1"),
        (mode, "ε = 1（增删一条记录），指数机制"),
        (mode, "不花预算：这个请求以前已经收过费"),
        (["ledger", "history", ledger], "回答"),
        (["ledger", "spent", ledger, "--dataset", "a"], "1 个答案：ε = 1（合计），无论在哪里停下"),
        (["ledger", "verify", ledger], "个事件，最新散列值"),
        ([*mode[:5], "--epsilon", "7", *paid[:-1], "s"], "the budget of a cannot pay ε = 7"),
        (
            ["ledger", "show", ledger, "--dataset", "a", "--report", str(tmp_path / "r.html")],
            "已写入",
        ),
    ]
    for arguments, words in spoken:
        run(["--language", "zh", *arguments])
        told = capsys.readouterr()
        assert words in told.out + told.err, arguments
    assert 'lang="zh-Hans"' in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert run([*mode, "--json"]) == 0
    assert (
        '"promise": "ε = 1 (add/remove one record), exponential mechanism"'
        in capsys.readouterr().out
    )
