"""How long analysts wait, and what is closed, in four acts on real processes.

    python -m tests.service.waits latency               # 1, 8 and 32 analysts at three values of answers_after
    python -m tests.service.waits flood                 # one analyst beside another's flood of late questions
    python -m tests.service.waits backup --seconds 600  # four analysts beside programs that compress
    python -m tests.service.waits stranger              # a minute of a stranger's long bodies, then three analysts

Each analyst asks one question after the other, and notes the seconds until each answer. Figures are printed as
JSON: how many were answered, the median and the longest wait, what the ledger counts, and the delays that doubled.
The exit code is 1 if a question failed, or was not answered.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from itertools import product
from pathlib import Path
from typing import Any

from discreet.ledger import Ledger
from discreet.ledger.ledger import delays_by_share
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import read_expiry, tokens_beside

from .running import Running
from .strangers import LONG, THREADS, doing, work_at_once

ROWS = 100_000
RESET = "discreet ledger reset-delays people"
_DATASET = """
[datasets.{name}]
source = "people.csv"
budget = {{ epsilon = "1000000" }}
answers_after = "{after}"
columns.age = {{ type = "integer", minimum = 0, maximum = 120 }}
questions.{name} = {{ verb = "{verb}", column = "age", epsilon = "1/1000"{more} }}
"""
_ANALYST = """
[analysts.{name}]
datasets = ["people", "slow"]
share = {{ epsilon = "10000" }}
"""
_SLOW = ", alphas = [{}]".format(", ".join(f'"{i}/65"' for i in range(1, 65)))


@dataclass
class Waits:
    """A service, and how long its analysts wait.

    Attributes:
        folder: its folder.
        after: `answers_after` of both datasets.
        number: how many analysts there are.
        over: whether it is over.
        seconds: how long each analyst waited, by the phase.
        statuses: the statuses of replies.
    """

    folder: Path
    after: str
    number: int
    over: threading.Event = field(default_factory=threading.Event)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)

    def open(self) -> None:
        """Open all budgets, and make the tokens."""
        self.folder.mkdir(exist_ok=True)
        of_both = (("people", "median", ""), ("slow", "quantiles", _SLOW))
        text = 'ledger = "budget.db"\n[server]\nwaiting = 16\n' + "".join(
            _DATASET.format(name=name, after=self.after if name == "people" else "0.1s", verb=verb, more=more)
            for name, verb, more in of_both
        )  # fmt: skip
        names = [f"a{i}" for i in range(self.number)]
        text += "".join(_ANALYST.format(name=name) for name in names)
        (self.folder / "discreet.toml").write_text(text)
        (self.folder / "people.csv").write_text(
            "age\n" + "".join(f"{i % 121}\n" for i in range(ROWS))
        )
        declared = configuration(self.folder / "discreet.toml")
        for analyst in (None, *names):
            for dataset in ("people", "slow"):
                open_described(declared, dataset, analyst, separate=dataset == "slow")
        tokens = tokens_beside(declared.path)
        self.tokens = [tokens.create("analyst", one, read_expiry("2d"))[0] for one in names]
        self.ledger = Ledger(declared.ledger)
        self.running = Running(self.folder, "--readers", "1")

    def ask(self, analyst: int, phase: str, question: str = "people") -> None:
        """Ask one question after the other."""
        own = self.seconds.setdefault(phase, [])
        while not self.over.is_set():
            begin = time.perf_counter()
            self.send(analyst, question, f"{phase} {threading.get_ident()} {begin}")
            own.append(time.perf_counter() - begin)

    def send(self, analyst: int, question: str, request: str) -> None:
        """Ask one question, again after a minute."""
        head = {
            "Authorization": f"Bearer {self.tokens[analyst]}", "Content-Type": "application/json",
            "Idempotency-Key": request,
        }  # fmt: skip
        status = 202
        while status == 202:
            one = HTTPConnection("127.0.0.1", self.running.port, timeout=120)
            one.request("POST", "/v1/answers", json.dumps({"question": question}), head)
            reply = one.getresponse()
            reply.read()
            status = reply.status
            one.close()
        self.statuses[f"{question} {status}"] += 1

    def of_all(self, phase: str) -> list[Callable[[], None]]:
        """The works in which all analysts ask."""
        return [partial(self.ask, i, phase) for i in range(self.number)]

    def send_bodies(self) -> None:
        """Send long bodies as a stranger."""
        while not self.over.is_set():
            one = HTTPConnection("127.0.0.1", self.running.port, timeout=120)
            one.request("POST", "/v1/verbs/quotes", LONG, {"Authorization": "Bearer x"})
            one.getresponse().read()
            one.close()

    def run(self, seconds: float, works: Sequence[Callable[[], None]]) -> None:
        """Do some works at once for so long."""
        self.over.clear()
        work_at_once(works, self.over, seconds, 600)

    def figures(self) -> dict[str, Any]:
        """What was counted, and waits in seconds by phase."""
        kinds = Counter(event.kind for event in self.ledger.history())
        waits = {
            phase: {
                "answers": len(each), "median": round(statistics.median(each), 3), "longest": round(max(each), 3),
            }
            for phase, each in self.seconds.items()
        }  # fmt: skip
        names = ("charged", "answered", "failed", "delayed", "given_up")
        return {
            "waits": waits, "statuses": dict(self.statuses), **{name: kinds[name] for name in names},
            "delays": self._delays(),
        }  # fmt: skip

    def _delays(self) -> dict[str, int]:
        """The delays that have doubled, by dataset and analyst."""
        budgets = self.ledger.budgets()
        delays = zip(budgets, delays_by_share(self.ledger, budgets), strict=True)
        return {f"{at.dataset} {at.analyst}": one.factor for at, one in delays if one.factor > 1}


@contextmanager
def waiting(after: str, number: int) -> Iterator[Waits]:
    """A service with so many analysts, in a folder of its own."""
    with tempfile.TemporaryDirectory() as place:
        waits = Waits(Path(place), after, number)
        waits.open()
        with waits.running:
            yield waits


Figures = dict[str, dict[str, Any]]
"""The figures of services, by name."""


def latency(seconds: float) -> Figures:
    """Waits at three values of `answers_after`, for 1, 8 and 32 analysts."""
    found = {}
    for after, number in product(("0s", "0.5s", "2s"), (1, 8, 32)):
        with waiting(after, number) as waits:
            waits.run(seconds, waits.of_all("all"))
            found[f"{after}, {number}"] = waits.figures()
    return found


def flood(seconds: float) -> Figures:
    """Waits of one analyst alone, and beside another, who keeps 16 questions waiting that are late."""
    with waiting("1s", 2) as waits:
        waits.run(seconds, [partial(waits.ask, 0, "alone")])
        late = [partial(waits.ask, 1, "the flood", "slow")] * 16
        waits.run(seconds, [partial(waits.ask, 0, "beside the flood"), *late])
        return {"flood": waits.figures()}


COMPRESS = """
import lzma
data = b"".join(b"%d," % (i * i % 99991) for i in range(2_000_000))
while True:
    lzma.compress(data)
"""


def backup(seconds: float) -> Figures:
    """Waits of four analysts beside programs that compress."""
    with waiting("1s", 4) as waits, doing(COMPRESS, 2):
        waits.run(seconds, waits.of_all("all"))
        return {"backup": waits.figures()}


def stranger(seconds: float) -> Figures:
    """Waits of three analysts for a minute beside a stranger, then alone, then after the owner's reset."""
    with waiting("1s", 3) as waits:
        strangers = [waits.send_bodies] * THREADS
        waits.run(60.0, [*waits.of_all("beside the stranger"), *strangers])
        waits.run(seconds, waits.of_all("then"))
        command = [sys.executable, "-m", *RESET.split()]
        subprocess.run(command, cwd=waits.folder, check=True, timeout=60, capture_output=True)
        waits.run(30.0, waits.of_all(f"after {RESET}"))
        return {"stranger": waits.figures()}


ACTS: dict[str, tuple[Callable[[float], Figures], float]] = {
    "latency": (latency, 20.0), "flood": (flood, 60.0), "backup": (backup, 600.0), "stranger": (stranger, 300.0),
}  # fmt: skip


def is_well(figures: Figures) -> bool:
    """Whether nothing failed, and all was answered."""
    return all(
        not one["failed"]
        and one["charged"] == one["answered"]
        and all(status.endswith(" 200") for status in one["statuses"])
        for one in figures.values()
    )


def main() -> int:
    """The exit code."""
    options = argparse.ArgumentParser(description="How long analysts wait.")
    options.add_argument("act", choices=ACTS)
    options.add_argument("--seconds", type=float)
    said = options.parse_args()
    act, seconds = ACTS[said.act]
    found = act(said.seconds or seconds)
    print(json.dumps(found, indent=1))
    return 0 if is_well(found) else 1


if __name__ == "__main__":
    sys.exit(main())
