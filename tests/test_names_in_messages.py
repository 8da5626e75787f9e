"""Every name, option, command and page that a message mentions is there: a fix that does not exist is no fix."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from polib import pofile
from tools.stored_help import stored_commands

import discreet

ROOT = Path(__file__).parents[1]
SOURCE = Path(discreet.__file__).parent
COMMANDS = stored_commands()

SQL = re.compile(r"\b(SELECT|PRAGMA|CREATE|CAST|TRY_CAST|RAISE|CASE|WHEN|SET|FROM|ON|OVER|AS)\b")
"""What an engine is asked is no message."""

NAME = re.compile(r"(?<![\w/.-])(?:[A-Za-z]\w*\.)*[A-Za-z]\w*")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
PAGE = re.compile(r"docs/[\w/-]+\.(?:zh\.)?md")
COMMAND = re.compile(r"[Dd]iscreet ((?:[a-z]+(?:-[a-z]+)*)(?: [a-z]+(?:-[a-z]+)*)?)")

PROSE = {"on", "on all", "knows", "has sums", "was installed", "again", "check to", "to", "help"}
"""Words that follow the name of the package and are no command."""

AFTER_SEE = {
    "allow_simulation", "ask", "command", "discreet", "docs", "failed", "help", "how", "it", "one", "runs", "that",
    "the", "this", "us", "what", "where", "which", "why",
}  # fmt: skip
"""Words that follow "see" or "call" and are no function of the package itself."""

GONE = {"--language", "--processes", "--port"}
"""Options that a message names to say what is there in their place, and the one of all commands."""

PAGES = [
    *(ROOT / "docs" / "reference").rglob("*.md"),
    *(ROOT / "docs" / "how-to").glob("*toml*.md"),
]
DECLARED = {"which_function", "add_remove", "replace_one"}.union(
    *(re.findall(r"`(\w+)`", page.read_text(encoding="utf-8")) for page in PAGES)
)
"""A page by its name, the neighbouring relations, and what the reference has as code: keys of discreet.toml."""

OTHERS = {
    "pandas": {"to_numeric", "read_excel", "read_stata", "read_spss", "read_sas", "read_hdf"},
    "polars": {"read_avro", "from_arrow"},
    "opendp": {"max_divergence", "zero_concentrated_divergence"},
    "objects": {"read_all", "to_table", "to_arrow", "to_numpy", "from_batches", "table_read", "read_snapshot",
                "from_base_uri", "is_in", "read_table", "patch_synthesizers", "read_unit_query", "per_person",
                "unit_query"},
    "PostgreSQL": {"statement_timeout", "pg_catalog", "convert_to", "string_to_array", "to_char"},
    "SQL": {"privacy_unit_column", "max_groups_contributed", "min_privacy_units_per_group", "set_config",
            "pg_settings", "client_connection_check_interval", "starts_with", "read_parquet"},
    "SmartNoise": {"private_id", "row_privacy", "max_ids"},
    "encodings": {"shift_jis", "mac_roman", "encoding_name"},
    "ours": {"median_distance", "above_threshold", "is_new", "discreet_"},
    "databases": {"charged_outside", "discreet_budgets", "discreet_events", "discreet_latest_", "trusted_schema",
                  "journal_mode", "memory_limit", "temp_directory", "hive_partitioning", "can_have_nan", "pointer_",
                  "bool_", "epoch_ns", "epoch_us", "from_json", "json_extract_string", "json_type", "list_position",
                  "octet_length", "regexp_extract", "regexp_full_match", "regexp_replace", "unix_micros"},
}  # fmt: skip
"""Names of other packages, of their objects and of other languages."""


def texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the texts of a syntax tree with their lines; what an f-string computes is {} there."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [one.value if isinstance(one, ast.Constant) else "{}" for one in node.values]
        yield node.lineno, "".join(map(str, parts))
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


def messages() -> Iterator[tuple[str, str]]:
    """Yield all texts of the source and of the catalogues with their places: no docstrings, and no SQL."""
    for file in sorted(SOURCE.rglob("*.py")):
        for line, text in texts(ast.parse(file.read_text(encoding="utf-8"))):
            if " " in text and not SQL.search(text):
                yield f"{file.name}:{line}", text
    for file in sorted((SOURCE / "locale").glob("*.po")):
        for entry in pofile(file):
            yield f"{file.name}:{entry.linenum}", entry.msgstr


def table_of_mistakes() -> Iterator[tuple[str, str]]:
    """Yield the code in what the docs say of mistakes that are caught."""
    file = ROOT / "docs" / "how-to" / "i_made_a_mistake.md"
    section = file.read_text(encoding="utf-8").partition("## Mistakes that are caught\n")[2]
    for line in section.splitlines():
        for code in re.findall(r"`([^`]+)`", line):
            yield file.name, code


TEXTS = [*messages(), *table_of_mistakes()]


@cache
def known_names() -> frozenset[str]:
    """Return every public name of the package, of its modules and classes, and of their parameters."""
    found, waiting, seen = set[str](), list[Any]([discreet]), set[int]()
    while waiting:
        one: Any = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for name in dir(one):
            if name.startswith("_"):
                continue
            found.add(name)
            value = getattr(one, name, None)
            if str(getattr(value, "__module__", getattr(value, "__name__", ""))).startswith(
                "discreet"
            ):
                waiting.append(value)
                if callable(value):
                    found |= parameters(value)
    return frozenset(found)


def parameters(value: Any) -> set[str]:
    """Return the names of the parameters of what can be called."""
    try:
        return {*inspect.signature(value).parameters}
    except (TypeError, ValueError):
        return set()


def missing(pattern: re.Pattern[str], exists: Any) -> list[tuple[str, str]]:
    """Return the mentions in all texts, with their places, of which nothing exists."""
    return [
        (place, match)
        for place, text in TEXTS
        for match in pattern.findall(re.sub(r"\{[^}]*\}", "0", text))
        if not exists(match)
    ]


def test_every_name_with_an_underscore_is_one_of_ours() -> None:
    """No English word has one, so it is a name that a reader will type."""
    allowed = known_names() | DECLARED | set().union(*OTHERS.values())

    def exists(name: str) -> bool:
        return all("_" not in part or part in allowed or part.isupper() for part in name.split("."))

    assert missing(NAME, exists) == []


def test_every_name_of_a_package_is_there() -> None:
    """`discreet.NAME`, and those of the packages that are installed with it."""

    def exists(name: str) -> bool:
        package, *parts = name.split(".")
        if package not in ("discreet", "pandas", "numpy", "duckdb", "pathlib") or not parts:
            return True
        if parts[0] in ("toml", "Z", "session"):
            return True
        one: Any = importlib.import_module(package)
        for part in parts:
            if not hasattr(one, part):
                try:
                    one = importlib.import_module(f"{one.__name__}.{part}")
                except ImportError:
                    return False
            else:
                one = getattr(one, part)
        return True

    assert missing(NAME, exists) == []


def test_every_function_that_is_seen_or_called_is_there() -> None:
    """`see select`, `call select_top_k`, `ask for the mode`: a word after these is a verb of ours."""
    verbs = {*dir(discreet), *AFTER_SEE}
    named = re.compile(r"\b(?:see|call) ([a-z_]+)\b(?!\.)")
    assert missing(named, verbs.__contains__) == []


def test_every_option_is_one_of_a_command() -> None:
    there = set(
        re.findall(OPTION, " ".join(command["help"]["en"] for command in COMMANDS.values()))
    )
    assert missing(OPTION, (there | GONE).__contains__) == []


def test_every_command_is_there() -> None:
    def exists(words: str) -> bool:
        return words in PROSE or words in COMMANDS or words.split()[0] in COMMANDS.keys() | PROSE

    assert missing(COMMAND, exists) == []


def test_every_page_is_there() -> None:
    assert missing(PAGE, lambda page: (ROOT / page).is_file()) == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (NAME, "see select_weights"),
        (OPTION, "give --most-likely"),
        (PAGE, "docs/how-to/NAME.md"),
    ],
)
def test_what_is_not_there_is_seen(
    pattern: re.Pattern[str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "TEXTS", [("here", text)])
    test = {
        NAME: test_every_name_with_an_underscore_is_one_of_ours,
        OPTION: test_every_option_is_one_of_a_command,
        PAGE: test_every_page_is_there,
    }[pattern]
    with pytest.raises(AssertionError):
        test()
