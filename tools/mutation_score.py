"""Breaks the source in hundreds of places, one at a time, and counts how many breaks the tests of that file see.

`make mutants`. Which files, how many breaks for each, the seed and the tests of a file are in
tools/mutants.toml, with the breaks that change nothing (and why), and those that no test sees (and why).
What is seen is written to docs/reference/mutation_score.md.
A break is chosen by a hash of the seed, the file and the line's own text, so that a change elsewhere leaves it.

Outcomes are stored in build/mutants.json by the text of the file and of its tests: a run that is stopped goes on.
"""

import argparse
import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
SOURCE = Path("src", "discreet")
PAGE = ROOT / "docs" / "reference" / "mutation_score.md"
BEGIN, END = "<!-- written by make mutants -->", "<!-- end -->"
STORED = ROOT / "build" / "mutants.json"
CONFIGURATION = tomllib.loads(Path(__file__).with_name("mutants.toml").read_text(encoding="utf-8"))
WITHOUT_A_FILE = tomllib.loads((ROOT / "tests" / "without_a_file.toml").read_text(encoding="utf-8"))

OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is not": "is", "is": "is not",
    "not in": "in", "in": "not in", "+": "-", "-": "+", "*": "//", "/": "*", "//": "*", "%": "//",
    "**": "*", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "and": "or", "or": "and",
}  # fmt: skip
"""What stands in place of an operator."""

IN_C = re.compile(r"(?<= )(<=|>=|==|!=|<|>|\+|-|\*|&&|\|\||>>|<<)(?= )|(?<![\w.])(\d+)(?![\w.])")
NOT_CODE = re.compile(
    r"/\*.*?\*/|//[^\n]*|^\s*#(?!\s*define)[^\n]*|\"[^\"\n]*\"", re.DOTALL | re.MULTILINE
)
COMPILE = "import sys; from pathlib import Path; sys.path.insert(0, '.'); import hatch_build; " \
          "hatch_build._FLAGS[0] = '-O1'; hatch_build.compiled(Path(sys.argv[1]), Path(sys.argv[2]))"  # fmt: skip
"""It optimizes less than an install: three times as fast, and what the program computes is the same."""

LIBRARIES = {"_kernel.so": "kernel.c", "_settle.abi3.so": "settle.c"}
INCLUDED_BY = {"kernel.c": ["_kernel.so", "_settle.abi3.so"], "settle.c": ["_settle.abi3.so"]}
"""The libraries of a file of C. No function of a stale one is called, so no break of it would be seen."""

NO_PROGRAM, EQUIVALENT, NOT_TRIED = "no program", "equivalent", "not tried"
UNCOUNTED = (NO_PROGRAM, EQUIVALENT, NOT_TRIED)
NO_TESTS = 5  # pytest's word for it
C_OPERATORS = {**OPERATORS, "*": "+", "&&": "||", "||": "&&"}


@dataclass(frozen=True)
class Mutant:
    """One break of one file: what stands between two bytes is replaced.

    Args:
        path: the file, below src/discreet.
        begin: the first byte that is replaced.
        end: the byte after the last.
        text: what is there.
        replacement: what stands there instead.
        line: the number of the line.
        key: what it is called in tools/mutants.toml.
    """

    path: str
    begin: int
    end: int
    text: str
    replacement: str
    line: int
    key: str

    def apply(self, source: bytes) -> bytes:
        """Return the broken file."""
        return source[: self.begin] + self.replacement.encode() + source[self.end :]

    def __str__(self) -> str:
        return f"{self.key}  {self.path}:{self.line}: {self.text!r} → {self.replacement!r}"


Break = tuple[int, int, str]
"""The first byte, the byte after the last, and what stands there instead."""


def parts_without_types(node: ast.AST) -> list[ast.AST] | None:
    """Return what is visited of a node that has annotations, or is an import; None of any other."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Import() | ast.ImportFrom():
            return []
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]
        case ast.AnnAssign():
            return [] if node.value is None else [node.value]
        case ast.ClassDef():
            return [*node.body]
    return None


class Places(ast.NodeVisitor):
    """The places of a Python file that can be broken."""

    def __init__(self, source: bytes) -> None:
        self.source, self.breaks = source, list[Break]()
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.statements = 0
        self.visit(ast.parse(source))

    def _begin(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)

    def _between(self, left: ast.expr, right: ast.expr) -> None:
        """Replace the operator between two operands."""
        begin, end = self._end(left), self._begin(right)
        between = re.sub(rb"#[^\n]*", lambda part: b" " * len(part[0]), self.source[begin:end])
        operator = re.search(rb"[^\s()\\]+(?:\s+(?:not|in)\b)?", between)
        if operator is not None and (text := operator[0].decode()) in OPERATORS:
            self.breaks.append((begin + operator.start(), begin + operator.end(), OPERATORS[text]))

    def _negate(self, condition: ast.expr) -> None:
        begin, end = self._begin(condition), self._end(condition)
        self.breaks.append((begin, end, f"(not ({self.source[begin:end].decode()}))"))

    def _drop(self, statement: ast.stmt) -> None:
        self.breaks.append((self._begin(statement), self._end(statement), "pass"))

    def visit(self, node: ast.AST) -> None:
        """Count statements, and break what can be broken of them and of their parts."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        self.statements += isinstance(node, ast.stmt)
        parts = parts_without_types(node)
        if parts is None:
            break_it = getattr(self, f"visit_{type(node).__name__}", None)
            if break_it is not None:
                break_it(node)
            self.generic_visit(node)
        for part in parts or ():
            self.visit(part)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Replace each comparison."""
        for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
            self._between(left, right)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Replace the operator, but not of texts and types."""
        sides = ast.unparse(node.left), ast.unparse(node.right)
        is_type = isinstance(node.op, ast.BitOr) and any(
            side == "None" or side[0] in "\"'" or side[0].isupper() for side in sides
        )
        if not is_type and not any(re.match("f?[\"']", side) for side in sides):
            self._between(node.left, node.right)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Replace `and` by `or`, and back."""
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right)

    def visit_If(self, node: ast.If) -> None:
        """Negate the condition."""
        self._negate(node.test)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Negate the condition."""
        self._negate(node.test)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Add one to a whole number."""
        if type(node.value) is int:
            self.breaks.append((self._begin(node), self._end(node), str(node.value + 1)))

    def visit_Expr(self, node: ast.Expr) -> None:
        """Leave out a call, as of a check."""
        if isinstance(node.value, ast.Call):
            self._drop(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Raise nothing."""
        self._drop(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Leave out a sign, or a negation."""
        if isinstance(node.op, ast.USub | ast.Not):
            begin = self._begin(node)
            length = 1 if isinstance(node.op, ast.USub) else len("not ")
            self.breaks.append((begin, begin + length, ""))

    def generic_visit(self, node: ast.AST) -> None:
        """Go on, but not into the words of an error."""
        if not isinstance(node, ast.JoinedStr):
            super().generic_visit(node)


def breaks_in_c(source: str) -> tuple[list[Break], int]:
    """Return the places of a C file that can be broken, and how many statements it has."""
    hidden = NOT_CODE.sub(lambda part: re.sub(r"[^\n]", "~", part[0]), source)
    breaks = []
    for place in IN_C.finditer(hidden):
        text = place[0]
        replacement = str(int(text) + 1) if text.isdigit() else C_OPERATORS[text]
        begin = len(source[: place.start()].encode())
        breaks.append((begin, begin + len(text.encode()), replacement))
    return breaks, hidden.count(";")


def mutants_of(path: str) -> list[Mutant]:
    """Return the breaks of a file that are tried: so many for its statements, by the hash of the seed."""
    source = (ROOT / SOURCE / path).read_bytes()
    if path.endswith(".c"):
        breaks, statements = breaks_in_c(source.decode())
    else:
        places = Places(source)
        breaks, statements = places.breaks, places.statements
    seen = Counter[str]()
    mutants = []
    for begin, end, replacement in sorted(breaks):
        start = source.rfind(b"\n", 0, begin) + 1
        line = source[start : source.find(b"\n", end)].strip().decode()
        text = source[begin:end].decode()
        words = f"{path}|{line}|{text}|{replacement}"
        seen[words] += 1
        key = hashlib.sha256(f"{words}|{seen[words]}".encode()).hexdigest()[:10]
        number = source.count(b"\n", 0, begin) + 1
        mutants.append(Mutant(path, begin, end, text, replacement, number, key))
    many = max(1, round(statements / CONFIGURATION["statements_per_mutant"]))
    seed = CONFIGURATION["seed"]
    mutants.sort(key=lambda one: hashlib.sha256(f"{seed}|{one.key}".encode()).digest())
    return sorted(mutants[:many], key=lambda one: one.begin)


def tests_of(path: str) -> list[str]:
    """Return the files of tests of a file of the source."""
    folder, stem = Path(path).parent.as_posix(), Path(path).stem
    pattern = "test_*.py" if stem == "__init__" else f"test_{stem}.py"
    own = [f"{folder}/{file.name}" for file in sorted((ROOT / "tests" / folder).glob(pattern))]
    names, proofs = WITHOUT_A_FILE.get(folder, ("", ""))
    shared = proofs.split() if stem in names.split() else []
    files = dict.fromkeys([*own, *shared, *CONFIGURATION["tests"].get(path, [])])
    if not files:
        sys.exit(f"mutants: no file of tests is known for {path}: list it in tools/mutants.toml")
    return [f"tests/{name}" for name in files]


class Copies:
    """Copies of the repository, in which the source is broken, one for each test that runs at once."""

    def __init__(self, number: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-")
        self._free: SimpleQueue[Path] = SimpleQueue()
        self._moment = time.time_ns() // 10**9
        unwanted = shutil.ignore_patterns(
            ".venv", ".git", "build", "site", "node_modules", "*_cache", "__pycache__"
        )
        for i in range(number):
            copy = Path(self._folder.name) / str(i)
            shutil.copytree(ROOT, copy, ignore=unwanted, symlinks=True)
            self._free.put(copy)

    def test(self, mutant: Mutant | None, runs: list[list[str]], longest: float) -> str:
        """Return what tests say of a break: "seen by" a test, "unseen", "endless", or "no program" of it.

        Args:
            mutant: the break; None for the source as it is.
            runs: the tests of one run after the other, up to the first that sees it.
            longest: how many seconds each may take.
        """
        copy = self._free.get()
        try:
            if mutant is None:
                return self._run(copy, runs[-1], longest)
            file = copy / SOURCE / mutant.path
            libraries = _libraries(file)
            before = {each: each.read_bytes() for each in (file, *libraries) if each.exists()}
            try:
                self._replace(file, mutant.apply(before[file]))
                return self._test_broken(copy, libraries, runs, longest)
            finally:
                for each, content in before.items():
                    self._replace(each, content)
        finally:
            self._free.put(copy)

    def _test_broken(
        self, copy: Path, libraries: list[Path], runs: list[list[str]], longest: float
    ) -> str:
        """Compile what is C, and run tests; what a break was seen by before needs the first library alone."""
        for tests in runs[:-1]:
            if not all(map(_compile, libraries[:1])):
                return NO_PROGRAM
            outcome = self._run(copy, tests, longest)
            if "::" in outcome:  # it failed, and was not only called something else before
                return outcome
        is_program = all(map(_compile, libraries))
        return self._run(copy, runs[-1], longest) if is_program else NO_PROGRAM

    def _replace(self, file: Path, content: bytes) -> None:
        """Write a file with a time of its own: byte code of another text is not taken for it."""
        file.unlink(missing_ok=True)
        file.write_bytes(content)
        self._moment += 2
        os.utime(file, (self._moment, self._moment))

    def _run(self, copy: Path, tests: list[str], longest: float) -> str:
        environment = {
            **os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONPYCACHEPREFIX": str(copy / "pyc"),
        }  # fmt: skip
        options = ["-q", "-x", "-p", "no:cacheprovider", "--color=no", "-k"]
        command = [sys.executable, "-m", "pytest", *options, "not spark and not dask", *tests]
        try:
            done = subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, text=True, timeout=longest
            )
        except subprocess.TimeoutExpired:
            return "endless"
        if done.returncode in (0, NO_TESTS):
            return "unseen"
        test = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - |$)", done.stdout, re.M)
        return f"seen by {test[1] if test else 'how it ended: ' + str(done.returncode)}"


def _libraries(file: Path) -> list[Path]:
    """Return what a file of C is compiled to; nothing for Python."""
    return [file.with_name(name) for name in INCLUDED_BY.get(file.name, [])]


def _compile(library: Path) -> bool:
    """Compile a library again, and return whether its source is a program."""
    library.unlink(missing_ok=True)
    source = library.with_name(LIBRARIES[library.name])
    command = [sys.executable, "-c", COMPILE, str(source), str(library)]
    subprocess.run(command, cwd=library.parents[3], check=False, capture_output=True)
    return library.exists()


def text_digest(path: str, tests: list[str]) -> str:
    """Return a digest of the text of a file and of its tests, for which an outcome holds."""
    digest = hashlib.sha256((ROOT / SOURCE / path).read_bytes())
    for test in tests:
        digest.update((ROOT / test).read_bytes())
    return digest.hexdigest()[:12]


class Session:
    """One run over all files, with the outcomes that are stored."""

    def __init__(self, copies: Copies | None, mutants: list[Mutant], *, takes_older: bool) -> None:
        self.copies, self._takes_older = copies, takes_older
        self.older = set[str]()
        """The breaks whose outcome is of an older text of the file or of its tests."""
        # The texts of now, which the copies have: who edits a test meanwhile gets no outcome of the new text.
        self._texts = {
            path: text_digest(path, tests_of(path)) for path in {one.path for one in mutants}
        }
        self.outcomes: dict[str, str] = json.loads(STORED.read_text()) if STORED.exists() else {}
        self._longest: dict[tuple[str, ...], float] = {}

    def outcome(self, mutant: Mutant) -> str:
        """Return what the tests of the file say of a break; nothing is asked of one that changes nothing."""
        if mutant.key in CONFIGURATION["equivalent"]:
            return EQUIVALENT
        tests = tests_of(mutant.path)
        key = f"{mutant.key}-{self._texts[mutant.path]}"
        older = self._older_outcome(mutant.key) if self._takes_older else None
        if key not in self.outcomes and older is not None:
            self.older.add(mutant.key)
            return older
        if self.copies is None:
            return self.outcomes.get(key, NOT_TRIED)
        if key not in self.outcomes:
            runs = [*self._seen_before(mutant), tests]
            outcome = self.copies.test(mutant, runs, self._limit(tests))
            self.outcomes[key] = outcome
            STORED.parent.mkdir(exist_ok=True)
            STORED.write_text(json.dumps(dict(self.outcomes), indent=0))
            print(f"{mutant}: {outcome}", flush=True)
        return self.outcomes[key]

    def _older_outcome(self, key: str) -> str | None:
        """Return the last outcome of a break, of any text; None of a hole without a reason, or if there is none."""
        outcomes = [text for name, text in self.outcomes.items() if name.startswith(f"{key}-")]
        is_known = outcomes and (outcomes[-1] != "unseen" or key in CONFIGURATION["unseen"])
        return outcomes[-1] if is_known else None

    def _seen_before(self, mutant: Mutant) -> list[list[str]]:
        """Return the test that saw the same break of an older text, to be run first: most often it still does."""
        earlier = (text for key, text in self.outcomes.items() if key.startswith(f"{mutant.key}-"))
        found = {text.removeprefix("seen by "): None for text in earlier if "::" in text}
        known = tuple(f"{file}::" for file in tests_of(mutant.path))
        return [[test] for test in found if test.startswith(known)][-1:]

    def _limit(self, tests: list[str]) -> float:
        """Return how many seconds tests may take: five times what they take of the source as it is."""
        name = tuple(tests)
        if name not in self._longest:
            begin = time.monotonic()
            assert self.copies is not None
            if self.copies.test(None, [tests], 1200) != "unseen":
                sys.exit(f"mutants: {' '.join(tests)} fail of the source as it is")
            self._longest[name] = 60 + 5 * (time.monotonic() - begin)
        return self._longest[name]


def files(pattern: str) -> Iterator[str]:
    """Return the files of the source that are broken."""
    folder = ROOT / SOURCE
    for path in sorted(
        each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()
    ):
        if any(fnmatch(path, each) for each in CONFIGURATION["files"]) and fnmatch(path, pattern):
            yield path


def main() -> None:
    """Break, test and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "files", nargs="?", default="*", help="a pattern of files, such as 'sampling/*'"
    )
    parser.add_argument("--list", action="store_true", help="print the breaks, and try none")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(
        "--untried", action="store_true", help="try only breaks that no text has an outcome of"
    )
    parser.add_argument(
        "--stored", action="store_true", help="try nothing, and write the page of what is stored"
    )
    terms = parser.parse_args()
    mutants = [mutant for path in files(terms.files) for mutant in mutants_of(path)]
    if terms.list:
        print(*mutants, f"{len(mutants)} breaks", sep="\n")
        return
    copies = None if terms.stored else Copies(terms.jobs)
    session = Session(copies, mutants, takes_older=terms.untried or terms.stored)
    with ThreadPoolExecutor(terms.jobs) as pool:
        outcomes = list(pool.map(session.outcome, mutants))
    if terms.files == "*":
        write_page(mutants, outcomes, session.older)
    sys.exit(report(mutants, outcomes))


def write_page(mutants: list[Mutant], outcomes: list[str], older: set[str]) -> None:
    """Write to the page how many breaks of each file are seen, and the others with their reasons."""
    equivalent, reasons = CONFIGURATION["equivalent"], CONFIGURATION["unseen"]
    counts, unseen = dict[str, Counter[str]](), list[Mutant]()
    for one, outcome in zip(mutants, outcomes, strict=True):
        kind = outcome.split()[0] if outcome not in UNCOUNTED else "changes nothing"
        kind = NOT_TRIED if outcome == NOT_TRIED else kind
        counts.setdefault(one.path, Counter())[kind] += 1
        unseen += [one] if kind == "unseen" else []
    counts["all"] = sum(counts.values(), Counter[str]())
    kinds = ["seen", "endless", "unseen", "changes nothing"]
    rows = [
        f"| `{path}` | {count.total()} | {' | '.join(str(count[kind]) for kind in kinds)} |"
        for path, count in counts.items()
    ]
    lists = [
        [
            "### Unseen",
            *(_line(one, reasons.get(one.key, "no reason is known yet")) for one in unseen),
        ],
        [
            "### What changes nothing",
            *(_line(one, equivalent[one.key]) for one in mutants if one.key in equivalent),
        ],
    ]
    total = counts["all"]
    tried = total.total() - total["changes nothing"] - total[NOT_TRIED]
    score = f"Of {tried} breaks that change something the tests of their own file see {tried - total['unseen']}: " \
            f"**{1 - total['unseen'] / max(1, tried):.1%}**."  # fmt: skip
    if total[NOT_TRIED]:
        waiting = Counter(
            one.path for one, outcome in zip(mutants, outcomes, strict=True) if outcome == NOT_TRIED
        )
        score += f" Not tried yet: {_numbers(waiting)}."
    if older:
        many = Counter(one.path for one in mutants if one.key in older)
        score += f" {many.total()} outcomes are of an older text of the file or of its tests: {_numbers(many)}."
    table = "\n".join([f"| file | breaks | {' | '.join(kinds)} |", "|---" * 6 + "|", *rows])
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    written = ["\n\n".join([title, "\n".join(lines) or "None."]) for title, *lines in lists]
    body = "\n\n".join([BEGIN, score, table, *written, END])
    PAGE.write_text(f"{before}{body}{after}", encoding="utf-8")


def _numbers(by_path: Counter[str]) -> str:
    return ", ".join(f"`{path}` {number}" for path, number in sorted(by_path.items()))


def _line(mutant: Mutant, reason: str) -> str:
    """Return a line about a break; without its line's number, which moves."""
    text, replacement = (" ".join(each.split()) for each in (mutant.text, mutant.replacement))
    change = f"`{text}` left out" if replacement in ("", "pass") else f"`{text}` → `{replacement}`"
    return f"- `{mutant.path}` {change} ({mutant.key}): {reason}"


def report(mutants: list[Mutant], outcomes: list[str]) -> int:
    """Print the score, and which breaks no test sees; return 1 if fewer than 95 % are seen."""
    reasons = CONFIGURATION["unseen"]
    counted = [
        (one, outcome)
        for one, outcome in zip(mutants, outcomes, strict=True)
        if outcome not in UNCOUNTED
    ]
    unseen = [one for one, outcome in counted if outcome == "unseen"]
    for one in unseen:
        print(f"{one}: {reasons.get(one.key, 'NO REASON')}")
    score = 1 - len(unseen) / max(1, len(counted))
    print(
        f"{len(mutants)} breaks, {len(mutants) - len(counted)} that change nothing; of {len(counted)} "
        f"{len(counted) - len(unseen)} are seen by the tests of their file: {score:.1%}"
    )
    return int(score < 0.95 or any(one.key not in reasons for one in unseen))


if __name__ == "__main__":
    main()
