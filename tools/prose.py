"""The English of the pages, counted: `make prose` prints it, and fails if a kind of page got worse.

Counts are per 1,000 words of running text, without code, tables, headings and lists of links. `prose.toml` has the
pages of each kind, the constructions that count, the words to replace, and the limits. The docstrings of public
names are a kind too, in which a sentence counts once. `--write` stores what was counted and a tenth as limits, but
never one that is worse than before or better than its target. With pages given, or `docstrings`, it prints the
sentences to rewrite.
"""

import inspect
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_suffix(".toml")
YOU, LONG, WORDS = "you", "sentences above 25 words, in 100", "words of the list"
DOCSTRINGS = "docstrings"
Figures = dict[str, float]


def sentences(page: str) -> list[str]:
    """The sentences of at least four words in a page, with X for code."""
    text = re.sub(
        r"^```.*?^```|<!--.*?-->|<[^>]+>|!\[[^\]]*\]\([^)]*\)", " ", page, flags=re.M | re.S
    )
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)(?:\{[^}]*\})?", r"\1", text)
    text = re.sub(r"``[^`]*``|`[^`]*`", "X", text)
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*#|>]|\d+\.)\s)", text):
        line = " ".join(paragraph.split())
        if not line.startswith(("#", "|", "---", ":::")):
            found += re.split(r"(?<=[.!?])\s+(?=[A-Z\"“*]|discreet )", line.lstrip("->* "))
    return [one for one in found if len(words(one)) > 3 and one.endswith((".", "!", "?", ":", "*"))]


def words(sentence: str) -> list[str]:
    """The words of a sentence."""
    return re.findall(r"[A-Za-z][A-Za-z'’-]*", sentence)


def document() -> dict[str, Any]:
    """The pages, constructions, words, targets and limits of `prose.toml`."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def patterns() -> dict[str, re.Pattern[str]]:
    """The constructions that are counted, the words of the list as one of them."""
    stored = document()
    listed = r"\b(" + "|".join(stored["words"]) + r")\b"
    return {
        name: re.compile(pattern, re.I)
        for name, pattern in (stored["constructions"] | {WORDS: listed}).items()
    }


def pages(kind: str) -> list[Path]:
    """The English pages of a kind."""
    found = {page for each in document()["kinds"][kind] for page in ROOT.glob(each)}
    return sorted(page for page in found if not page.name.endswith(".zh.md"))


def public(module: ModuleType) -> Iterator[object]:
    """Yield the public names of a module that are defined in it or below, and those of its classes."""
    for name in getattr(module, "__all__", vars(module)):
        one = getattr(module, name)
        home = getattr(one, "__module__", getattr(one, "__name__", ""))
        if name.startswith("_") or not home.startswith(module.__name__):
            continue
        yield one
        if inspect.isclass(one):
            yield from (
                inner
                for key, inner in vars(one).items()
                if key[0] != "_" and hasattr(inner, "__get__")
            )


def docstrings() -> list[str]:
    """The sentences in the docstrings of public names, each once, with every argument a paragraph."""
    import discreet

    found = [*public(discreet)]
    for module in filter(inspect.ismodule, [*found]):
        found += public(module)
    texts = {inspect.getdoc(one) or "" for one in found}
    plain = (re.sub(r"^ *(\*{0,2}\w+: |\w+:$)", "\n\n", text, flags=re.M) for text in texts)
    return sorted({one for text in plain for one in sentences(text)})


def figures(texts: Iterable[str]) -> Figures:
    """How often each construction stands in texts, per 1,000 words, and how many sentences are long."""
    found = [one for text in texts for one in sentences(text)]
    lengths = [len(words(one)) for one in found]
    counts = {
        name: 1000 * sum(len(pattern.findall(one)) for one in found) / sum(lengths)
        for name, pattern in patterns().items()
    }
    counts[LONG] = 100 * sum(length > 25 for length in lengths) / len(found)
    return {name: round(count, 2) for name, count in counts.items()}


def is_worse(name: str, count: float, limit: float) -> bool:
    """Whether a figure passes its limit; of "you" more is better."""
    return count < limit if name == YOU else count > limit


def limits(measured: Figures, targets: Figures, stored: Figures) -> Figures:
    """The limits to store: a tenth of room above what was measured, between those stored and the targets."""
    room = {n: round(c / 1.1 if n == YOU else c * 1.1, 1) for n, c in measured.items()}
    better = {n: c if is_worse(n, c, targets[n]) else targets[n] for n, c in room.items()}
    return {n: stored[n] if is_worse(n, c, stored.get(n, c)) else c for n, c in better.items()}


def write(kinds: dict[str, Figures]) -> None:
    """Store limits at the end of `prose.toml`."""
    text, stored = FILE.read_text(encoding="utf-8"), document()
    lines = []
    for kind, measured in kinds.items():
        new = limits(measured, stored["targets"], stored["limits"].get(kind, {}))
        lines += [f"\n[limits.{kind}]", *(f'"{name}" = {count}' for name, count in new.items())]
    FILE.write_text(text[: text.index("[limits]") + 9] + "\n".join(lines) + "\n", encoding="utf-8")


def findings(page: str) -> list[str]:
    """The sentences of a page that have something to rewrite, after what it is."""
    shown = []
    for one in sentences(page):
        marks = [
            f"{name} ({hit[0]})"
            for name, p in patterns().items()
            if name != YOU
            for hit in p.finditer(one)
        ]
        marks += [f"{len(words(one))} words"] * (len(words(one)) > 25)
        shown += [f"{', '.join(marks)}: {one}"] * bool(marks)
    return shown


def main(arguments: list[str]) -> int:
    """Print, store or compare the figures; return the exit code."""
    if arguments and arguments != ["--write"]:
        for name in arguments:
            text = (
                "\n\n".join(docstrings()) if name == DOCSTRINGS else Path(name).read_text("utf-8")
            )
            print("\n".join(f"{name}: {line}" for line in findings(text)))
        return 0
    kinds = {
        kind: figures(page.read_text(encoding="utf-8") for page in pages(kind))
        for kind in document()["kinds"]
    } | {DOCSTRINGS: figures(["\n\n".join(docstrings())])}
    if arguments:
        write(kinds)
    stored = document()["limits"]
    worse = [
        f"{kind}: {name} {count}, limit {stored[kind][name]}"
        for kind, measured in kinds.items()
        for name, count in measured.items()
        if is_worse(name, count, stored[kind][name])
    ]
    for kind, measured in kinds.items():
        print(f"{kind:15}", *(f"{name} {count:g}" for name, count in measured.items()), sep="  ")
    print("\n".join(worse), file=sys.stderr)
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
