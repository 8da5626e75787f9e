"""The shape of the source, measured: `make measure` prints it, and fails where a limit is passed or a figure grew.

Counts are of the syntax tree: the length of a function is without its docstring, complexity is one more than its
branches, comprehension clauses and boolean operands. Imports under `TYPE_CHECKING` and inside functions count for
circles like all others; the benchmarks are measured for lengths and circles too. Code is all that is neither blank,
docstring, comment nor import, of Python, C, templates and catalogues of messages. The figures that may not grow are
in `figures.toml`; `--write` lowers them, never raises.
"""

import ast
import math
import re
import sys
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from configparser import ConfigParser
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from io import StringIO
from pathlib import Path
from statistics import median, quantiles

from rich.console import Console
from rich.table import Table

from . import identifiers

FIGURES = Path(__file__).with_name("figures.toml")
HEAD = "# Figures of `make measure` that may not grow. `python -m bench.measure --write` lowers them.\n"
SOURCE, BENCH = Path(__file__).parents[1] / "src" / "discreet", Path(__file__).parent
IMPORT_CONTRACT = Path(__file__).parents[1] / ".importlinter"
Function = ast.FunctionDef | ast.AsyncFunctionDef
BRANCHES = (ast.If, ast.For, ast.While, ast.IfExp, ast.ExceptHandler, ast.With, ast.Assert,
            ast.comprehension, ast.match_case)  # fmt: skip


@dataclass
class File:
    """One file of the source."""

    path: Path
    text: str = field(repr=False)
    root: Path = SOURCE

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)

    @property
    def module(self) -> str:
        """The dotted name below the package, "" for the package itself."""
        parts = self.path.relative_to(self.root).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def folder(self) -> str:
        """The first folder below the package."""
        return self.module.partition(".")[0] if self.path.parent != self.root else "(top level)"

    @cached_property
    def lines(self) -> int:
        """How many lines there are."""
        return self.text.count("\n")

    @cached_property
    def docstrings(self) -> list[str]:
        """All docstrings."""
        owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        found = (ast.get_docstring(n) for n in ast.walk(self.tree) if isinstance(n, owners))
        return [text for text in found if text]

    @cached_property
    def functions(self) -> list[Function]:
        """All functions and methods."""
        return [n for n in ast.walk(self.tree) if isinstance(n, Function)]

    def comments(self) -> int:
        """Return how many comments stand in the file."""
        tokens = tokenize.generate_tokens(StringIO(self.text).readline)
        return sum(token.type == tokenize.COMMENT for token in tokens)

    def code(self) -> int:
        """Return the lines that are neither blank, docstring, comment nor import."""
        skipped = set[int]()
        for node in ast.walk(self.tree):
            is_doc = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            text = is_doc and isinstance(node.value.value, str)  # type: ignore[attr-defined]
            if text or isinstance(node, ast.Import | ast.ImportFrom):
                skipped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))  # type: ignore[attr-defined]
        rows = enumerate(self.text.splitlines(), 1)
        return sum(
            bool(row.strip()) and not row.strip().startswith("#") and number not in skipped
            for number, row in rows
        )


def length(function: Function) -> int:
    """Return the lines of a function without its docstring."""
    whole = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    documented = ast.get_docstring(function) is not None
    return whole - ((first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0)


def complexity(function: Function) -> int:
    """Return one more than the branches, comprehension clauses and boolean operands of a function."""
    nodes = list(ast.walk(function))
    operands = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    return 1 + operands + sum(isinstance(node, BRANCHES) for node in nodes)


def imported(file: File, modules: set[str]) -> Iterator[str]:
    """Yield our own modules that a file imports anywhere in it."""
    package = file.module.split(".")
    if file.path.name != "__init__.py":
        del package[-1]
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        above = package[: len(package) - node.level + 1]
        base = ".".join([*above, *((node.module or "").split(".") if node.module else [])])
        for name in node.names:
            inner = f"{base}.{name.name}".strip(".")
            yield inner if inner in modules else base


def circles(files: list[File]) -> list[str]:
    """Return the modules of one circle of imports, of all kinds, if there is one."""
    modules = {file.module for file in files}
    # A package imports its modules to name them; that is no circle of its own.
    graph = {
        file.module: {m for m in imported(file, modules) if m and m != file.module}
        for file in files
        if file.module and file.path.name != "__init__.py"
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def defined(tree: ast.Module) -> Iterator[str]:
    """Yield the names that are defined at the top of a module."""
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def homonyms(files: list[File], *, private: bool = False, least: int = 2) -> dict[str, list[str]]:
    """Return the public or the private names at the top of at least so many modules, with the modules."""
    modules: dict[str, list[str]] = defaultdict(list)
    for file in files:
        for name in set(defined(file.tree)):
            if name.startswith("_") == private:
                modules[name].append(file.module)
    return {name: where for name, where in sorted(modules.items()) if len(where) >= least}


@dataclass
class Fact:
    """One row of the table: what is measured, in words, and as a number beside the most it may be.

    A figure may not grow beyond the lowest so far, unless it `may_grow` up to its most.
    """

    name: str
    words: str
    value: float | None = None
    most: float | None = None
    may_grow: bool = False


def of_functions(files: list[File]) -> Iterator[Fact]:
    """Yield how long, branched, annotated and documented the functions are."""
    functions = [function for file in files for function in file.functions]
    public = [f for f in functions if not f.name.startswith("_")]
    documented = sum(ast.get_docstring(f) is not None for f in public) / len(public)
    annotated = sum(f.returns is not None for f in functions) / len(functions)
    yield Fact("functions", f"{len(functions):,}")
    for name, numbers, most in (
        ("lines of a function", [length(f) for f in functions], 40),
        ("complexity", [complexity(f) for f in functions], None),
    ):
        middle, tenth, highest = median(numbers), quantiles(numbers, n=10)[8], max(numbers)
        words = f"{middle:.0f}, {tenth:.0f}, {highest}"
        yield Fact(f"{name}: median, p90, most", words, highest, most)
    yield Fact("return annotated", f"{annotated:.1%}")
    yield Fact("public functions documented", f"{documented:.0%}")


ODD = re.compile(
    r"\b(what|who|whom|whose|somebody|someone|nobody|nothing|anybody|everybody)\b", re.IGNORECASE
)


def of_bench(files: list[File]) -> Iterator[Fact]:
    """Yield how long the functions of the benchmarks are, and whether their modules are in a circle."""
    longest, circle = max(length(f) for file in files for f in file.functions), circles(files)
    yield Fact("bench: lines of a function, most", f"{longest}", longest, 40)
    words = " > ".join(circle) or "0"
    yield Fact("bench: modules in a circle of imports", words, len(circle), 0)


def of_prose(files: list[File]) -> Iterator[Fact]:
    """Yield how much is said beside the code, and how much in words that the field does not use."""
    texts = [text for file in files for text in file.docstrings]
    words = Counter(w.lower() for text in texts for w in re.findall(r"[A-Za-z']+", text))
    own = 1000 * (words["what"] + words["each"]) / words.total()
    firsts = [text.partition("\n")[0] for text in texts]
    odd = 100 * sum(bool(ODD.search(first)) for first in firsts) / len(firsts)
    lines = sum(file.lines for file in files)
    functions = sum(len(file.functions) for file in files)
    comments = sum(f.comments() for f in files)
    yield Fact("comments, share of lines", f"{comments / lines:.1%}")
    said = sum(text.count("\n") + 1 for text in texts) + comments
    yield Fact("lines of docstrings and comments, per function", f"{said / functions:.2f}")
    yield Fact("'what' and 'each', per 1,000 docstring words", f"{own:.1f}", own, 3)
    yield Fact("first sentences with what, who or nobody, in 100", f"{odd:.1f}", odd, 1)


# Rooms in which a letter may be the name that the literature has.
MATHEMATICS = {"sampling", "privacy", "mechanisms", "scores", "audit", "attacks", "planning"}


def of_names(files: list[File]) -> Iterator[Fact]:
    """Yield how many names are participles, say nothing, or stand for different things."""
    trees, lines = [file.tree for file in files], sum(file.lines for file in files)
    forms = identifiers.participles(trees)
    often = ", ".join(f"{name} {n}" for name, n in forms.most_common(12))
    share = 1000 * forms.total() / lines
    yield Fact("participles as names, per 1,000 lines", f"{share:.1f}  {often}", share, 8)
    share = 1000 * identifiers.measured_first(trees) / lines
    yield Fact("of them of the first list", f"{share:.1f}", share, 8)
    empty = identifiers.vague(trees)
    often = ", ".join(f"{name} {n}" for name, n in empty.most_common())
    yield Fact("names that say nothing", f"{empty.total()}  {often}", empty.total())
    prose = [file.tree for file in files if not MATHEMATICS & {*file.path.parts}]
    letters = identifiers.letters(prose)
    yield Fact("single letters outside mathematics", f"{letters}", letters)
    same, private = homonyms(files), homonyms(files, private=True, least=4)
    yield Fact("names in two modules", f"{len(same)}  {', '.join(same)}", len(same), 9)
    words = f"{len(private)}  {', '.join(private)}"
    yield Fact("private names in more than three modules", words, len(private), 12)
    twice = repeated(files)
    yield Fact("file names twice", f"{len(twice)}  {', '.join(twice)}", len(twice), 8)


def repeated(files: list[File]) -> list[str]:
    """Return the names that two files have, but for those that every folder may have."""
    stems = Counter(file.path.stem for file in files)
    usual = {"__init__", "__main__", "contract"}
    return sorted(stem for stem, n in stems.items() if n > 1 and stem not in usual)


def of_types(files: list[File]) -> Iterator[Fact]:
    """Yield how often types are not said, and functions not named."""
    nodes = [node for file in files for node in ast.walk(file.tree)]
    counts = {
        "Any": sum(isinstance(node, ast.Name) and node.id == "Any" for node in nodes),
        "lambdas": sum(isinstance(node, ast.Lambda) for node in nodes),
        "type: ignore": sum(len(re.findall("type: ignore", file.text)) for file in files),
    }
    most = {"Any": 15, "lambdas": 3}
    lines = sum(file.lines for file in files)
    for name, n in counts.items():
        share = 1000 * n / lines
        yield Fact(f"{name}, per 1,000 lines", f"{n}, {share:.1f}", share, most.get(name))


def other_code() -> int:
    """Return the lines of code that are C, templates, style and catalogues of messages."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*"))
             if path.suffix in {".c", ".html", ".css", ".md", ".po", ".jinja", ".toml"}]  # fmt: skip
    uncommented = (re.sub(r"/\*.*?\*/|\{#.*?#\}", "", text, flags=re.DOTALL) for text in texts)
    rows = (row.strip() for text in uncommented for row in text.splitlines())
    return sum(
        bool(row) and not row.startswith(("//", "# ", "#:", "#,", "#include")) for row in rows
    )


def layers() -> list[str]:
    """Return the layers of the import contract, the highest first."""
    contract = ConfigParser()
    contract.read(IMPORT_CONTRACT, encoding="utf-8")
    return contract["importlinter:contract:layers"]["layers"].split("\n")[1:]


def of_house(files: list[File]) -> Iterator[Fact]:
    """Yield how many names, layers and files a reader meets, and how many modules a module needs."""
    modules = {file.module for file in files}
    top = {file.path.relative_to(SOURCE).parts[0] for file in files}
    yield Fact("names at the top", f"{len(top)}", len(top), 14, may_grow=True)
    yield Fact("layers", f"{len(layers())}", len(layers()), 10, may_grow=True)
    (folder, most), *_ = Counter(file.path.parent for file in files).most_common(1)
    yield Fact(
        "files of the largest folder",
        f"{most}  {folder.relative_to(SOURCE)}",
        most,
        40,
        may_grow=True,
    )
    needs = {file.module: len(set(imported(file, modules))) for file in files if file.module}
    total = sum(needs.values())
    yield Fact("imports of own modules: all, per module", f"{total:,}, {total / len(needs):.2f}")
    often = sorted(needs, key=lambda module: -needs[module])[:5]
    words = ", ".join(f"{module} {needs[module]}" for module in often)
    yield Fact("the most that one imports", words, needs[often[0]], 30, may_grow=True)
    yield Fact("imports inside functions and conditions", f"{sum(map(late_imports, files))}")


def late_imports(file: File) -> int:
    """Return how many imports are not at the left margin of a file."""
    return sum(
        isinstance(node, ast.Import | ast.ImportFrom) and node.col_offset > 0
        for node in ast.walk(file.tree)
    )


def facts(files: list[File]) -> Iterator[Fact]:
    """Yield all that is measured."""
    sizes = [file.lines for file in files]
    code, other = sum(file.code() for file in files), other_code()
    circle = circles(files)
    yield Fact("files", f"{len(files)}")
    yield Fact("lines", f"{sum(sizes):,}")
    words = f"{code + other:,}: {code:,} of Python, {other:,} of C, templates, catalogues"
    yield Fact("lines of code", words)
    yield Fact("lines of a file: median, most", f"{median(sizes):.0f}, {max(sizes)}")
    yield from of_house(files)
    yield from of_functions(files)
    yield from of_types(files)
    yield from of_prose(files)
    yield Fact("modules in a circle of imports", " > ".join(circle) or "0", len(circle), 0)
    yield from of_names(files)


def grown(measured: list[Fact], kept: dict[str, float]) -> list[str]:
    """Return the figures that are above those of before, or above their limits if they are new, in words."""
    most = {fact.name: kept.get(fact.name, fact.most) for fact in measured}
    return [
        f"{fact.name}: {fact.value:.2f}, and may be {limit:.2f}"
        for fact in measured
        if fact.value is not None and (limit := most[fact.name]) is not None
        if fact.value > limit + 0.005
    ]


def lowered(measured: list[Fact], kept: dict[str, float]) -> dict[str, float]:
    """Return the figures to keep: of those before and now the lower ones, rounded up to two digits."""
    pairs = (
        (fact.name, fact.value) for fact in measured if fact.value is not None and not fact.may_grow
    )
    least = {name: min(value, kept.get(name, value)) for name, value in pairs}
    return {name: math.ceil(value * 100) / 100 for name, value in least.items()}


def read(root: Path) -> list[File]:
    """Return all files of Python below a folder."""
    return [
        File(path, path.read_text(encoding="utf-8"), root) for path in sorted(root.rglob("*.py"))
    ]


def print_tables(files: list[File], measured: list[Fact]) -> None:
    """Print what was measured, and the lines of each folder."""
    console, table = Console(), Table("", "measured", "limit", title="The source of discreet")
    for fact in measured:
        table.add_row(fact.name, fact.words, "" if fact.most is None else f"{fact.most:g}")
    console.print(table)
    folders = Table("folder", "files", "lines", "code", "participles per 1,000 lines")
    for folder in sorted({file.folder for file in files}):
        inside = [file for file in files if file.folder == folder]
        rows = sum(f.lines for f in inside), sum(f.code() for f in inside)
        forms = identifiers.participles([f.tree for f in inside]).total()
        share = f"{1000 * forms / rows[0]:.1f}"
        folders.add_row(folder, f"{len(inside)}", *(f"{n:,}" for n in rows), share)
    console.print(folders)


def main() -> int:
    """Print the tables, unless `--check` is given; return whether a figure grew or passed its limit."""
    files = read(SOURCE)
    measured = [*facts(files), *of_bench(read(BENCH))]
    kept = tomllib.loads(FIGURES.read_text(encoding="utf-8"))
    if "--write" in sys.argv:
        rows = (f'"{name}" = {value:g}\n' for name, value in lowered(measured, kept).items())
        FIGURES.write_text(HEAD + "".join(rows), encoding="utf-8")
    if "--check" not in sys.argv:
        print_tables(files, measured)
    worse = grown(measured, kept)
    print(*worse, sep="\n", end="\n" if worse else "")
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())
