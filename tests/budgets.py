"""What a case may cost, and how many cases there are: `make test` stays short, and no case gets lost unseen.

Each case is of one kind: one of `markers.toml`, or `slow` if `slow.toml` names it, or else `default`. `make test`
runs the default ones, `make test-all` all but proofs. Costs are seconds of processor, of this process and of its
children that have ended, so other programs beside the tests hardly change them.
"""

import resource
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

MARKERS = Path(__file__).with_name("markers.toml")
SLOW = Path(__file__).with_name("slow.toml")
KINDS: dict[str, dict[str, Any]] = tomllib.loads(MARKERS.read_text(encoding="utf-8"))
SLOW_CASES: dict[str, list[str]] = tomllib.loads(SLOW.read_text(encoding="utf-8"))
SLOW_FROM = 0.5
"""The seconds from which `make durations` lists a case as slow: far below what a default one may cost."""


def kind_of(item: pytest.Item) -> str:
    """Return the kind of a case: by its own marker, by its file or name, or by what it was seen to cost."""
    path, _, name = item.nodeid.partition("::")
    marks = {mark.name for mark in item.iter_markers()}
    for kind, terms in KINDS.items():
        stay = terms.get("files", {}).get(path)
        if (
            kind in marks
            or (stay is not None and not any(_is_named(name, like) for like in stay))
            or any(word in name for word in terms.get("names", ()))
        ):
            return kind
    return "slow" if name in SLOW_CASES.get(path, ()) else "default"


def _is_named(name: str, like: str) -> bool:
    """Return whether a case has that name, in which `*` is any text."""
    return fnmatchcase(name, like.replace("[", "[[]"))


def mark_proofs(items: list[pytest.Item]) -> None:
    """Make proofs of all parameters but those of every run: one in `n` of a test marked `one_in(n)`.

    Of a test marked `proof_in(name, …)`, those with such a name in theirs are proofs: it is too slow there.

    In Spark, whose jobs take a second each, it is the first of each file.
    """
    seen: Counter[tuple[str, bool]] = Counter()
    for item in items:
        in_spark = "spark" in item.name
        if item.get_closest_marker("proof") is not None:
            continue
        slow = item.get_closest_marker("proof_in")
        if slow is not None and any(name in item.name for name in slow.args):
            item.add_marker("proof")
            continue
        marker = item.get_closest_marker("one_in")
        many = len(items) if in_spark else 1 if marker is None else marker.args[0]
        test = item.nodeid.partition("::" if in_spark else "[")[0], in_spark
        if seen[test] % many:
            item.add_marker("proof")
        seen[test] += 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each case the marker of its kind, and let the process that ends the run know how many there are."""
    mark_proofs(items)
    kinds = [kind_of(item) for item in items]
    for item, kind in zip(items, kinds, strict=True):
        item.add_marker(kind)
    totals = config.pluginmanager.get_plugin("totals")
    if totals is not None:
        totals.found = Counter(kinds)
    else:  # a process of pytest-xdist
        config.workeroutput["found"] = dict(Counter(kinds))  # type: ignore[attr-defined]


def seconds_used() -> float:
    """Return the seconds of processor that this process and its ended children have used."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


_BEGUN = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Look at the clock of the processor before a case."""
    item.stash[_BEGUN] = seconds_used()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
    """Note what a phase of a case has cost, and fail a case that passes and costs more than its kind may."""
    report = yield
    now = seconds_used()
    seconds, item.stash[_BEGUN] = now - item.stash[_BEGUN], now
    kind = kind_of(item)
    report.user_properties = [("kind", kind), ("seconds", seconds)]
    most = KINDS[kind].get("seconds")
    if call.when == "call" and report.passed and most is not None and seconds > most:
        report.outcome = "failed"
        report.longrepr = (
            f"This case took {seconds:.1f} s of processor, and one of the kind {kind!r} may take {most} s "
            "(tests/markers.toml). Make it cheaper, or run `make durations`, or mark it `proof`."
        )
    return report


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that `make durations` gives."""
    parser.addoption(
        "--store-budgets", action="store_true", help="write slow.toml and markers.toml"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Add up what the cases cost, in the process that ends the run."""
    if not hasattr(config, "workerinput"):  # of pytest-xdist
        config.pluginmanager.register(Totals(config), "totals")


class Totals:
    """How many cases were found of each kind, and what those that ran have cost."""

    def __init__(self, config: pytest.Config) -> None:
        self.found: Counter[str] = Counter()
        self._config = config
        self._ran: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()
        self._calls: dict[str, tuple[str, float]] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the counts of a process that ran tests: all of them find the same cases."""
        self.found = Counter(getattr(node, "workeroutput", {}).get("found", self.found))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what a phase of a case has cost."""
        noted: dict[str, Any] = dict(report.user_properties)
        if "kind" not in noted:  # its process has died
            return
        self._seconds[noted["kind"]] += noted["seconds"]
        self._ran[noted["kind"]] += report.when == "setup"
        if report.when == "call":
            self._calls[report.nodeid] = noted["kind"], noted["seconds"]

    def _of_all_files(self) -> bool:
        return self._config.args_source is pytest.Config.ArgsSource.TESTPATHS and bool(self.found)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Store what was found and measured, if asked to; else fail if there are fewer cases than are stored."""
        if not self._of_all_files():
            return
        if self._config.getoption("--store-budgets"):
            store(self.found, self._calls)
        elif fewer(self.found):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was run, what it has cost, what was left out, and how to run that."""
        if not self._of_all_files():
            return
        for kind in filter(self._ran.get, KINDS):
            cost = f"{self._ran[kind]:,} cases, {self._seconds[kind]:,.0f} s of processor"
            terminalreporter.write_line(f"{kind}: {cost}")
        for line in [*left_out(self.found - self._ran), *fewer(self.found)]:
            terminalreporter.write_line(line)


def left_out(cases: Counter[str]) -> list[str]:
    """Return what to say of the cases that a run has left out."""
    others = Counter({kind: cases[kind] for kind in KINDS if kind != "proof"})
    each = ", ".join(f"{kind} {others[kind]:,}" for kind in filter(others.get, KINDS))
    said = []
    if others.total():
        said.append(f"left out: {others.total():,} cases ({each}); `make test-all` runs them")
    if cases["proof"]:
        said.append(f"left out: {cases['proof']:,} long proofs; `make proofs` runs them")
    return said


def fewer(found: Counter[str]) -> list[str]:
    """Return what to say of each kind that has fewer cases than are stored."""
    return [
        f"{kind}: {found[kind]:,} cases, and tests/markers.toml has {terms['cases']:,}. "
        "If you moved or deleted some on purpose, run `make cases` and say why in the commit."
        for kind, terms in KINDS.items()
        if found[kind] < terms["cases"]
    ]


def store(found: Counter[str], calls: dict[str, tuple[str, float]]) -> None:
    """Write the number of cases, and which are slow if they were run."""
    import tomlkit  # `make core` does without

    found = Counter(found)
    if calls:
        slow: defaultdict[str, list[str]] = defaultdict(list)
        for nodeid, (kind, seconds) in sorted(calls.items()):
            if kind in {"default", "slow"} and seconds >= SLOW_FROM:
                path, _, name = nodeid.partition("::")
                slow[path].append(name)
        moved = sum(map(len, slow.values())) - found["slow"]
        found.update(slow=moved, default=-moved)
        about = f"# The cases of {SLOW_FROM} s of processor or more, by file. `make durations` writes this.\n"
        SLOW.write_text(about + tomlkit.dumps(slow), encoding="utf-8")
    markers = tomlkit.parse(MARKERS.read_text(encoding="utf-8"))
    for kind in KINDS:
        markers[kind]["cases"] = found[kind]
    MARKERS.write_text(tomlkit.dumps(markers), encoding="utf-8")
