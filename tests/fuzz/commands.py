"""The command line, called in this process with arguments that a shell might pass."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from discreet import cli
from discreet.cli.exit_codes import EXIT_CODES, INTERRUPTED, TERMINATED

from . import canary
from .examples import Arguments, Target, world

PREFIX = "discreet "
_CODES = {each.code for each in EXIT_CODES} - {INTERRUPTED, TERMINATED}


class ToldTheCanary(Exception):
    """A command printed something private."""


def _run(*words: Any) -> int:
    """Run a command as `main` does, and look at what it prints."""
    streams = sys.stdout, sys.stderr
    printed = [io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in streams]
    sys.stdout, sys.stderr = printed
    try:
        # A service does not end by itself, and its settings replace the handlers of all logs.
        with patch("uvicorn.Config"), patch("discreet.service.http.serving._run"):
            code = cli.run([str(word) for word in words])
    finally:
        sys.stdout, sys.stderr = streams
    for stream in printed:
        stream.flush()
        if canary.in_text(stream.buffer.getvalue().decode("utf-8", "replace")):
            raise ToldTheCanary
    if code not in _CODES:
        raise AssertionError(f"a command ended with {code}")
    return code


def _file() -> Path:
    return world().csv


def _written(name: str, text: str) -> Path:
    """Return a file with this text."""
    path = world().folder / name
    path.write_text(text)
    return path


_RELEASE = "--epsilon 1"
_COMMANDS: list[str] = [
    "mode FILE c --candidates tea,coffee --epsilon 1 --json",
    "count FILE --epsilon 1", "count FILE c --privacy-unit who --by g --groups x,y --max-groups 2 --epsilon 1 --json",
    "counts FILE c --candidates tea,coffee --privacy-unit who --max-candidates 1 --rho 0.1",
    "counts FILE c --delta 1e-6 --most 5 --other 1/10 --epsilon 1 --json",
    "keys FILE c --delta 1e-6 --minimum-count 2 --privacy-unit who --max-groups 2 --epsilon 1",
    "plan --epsilon 1 --delta 1e-6 --max-groups 2 --json",
    "sum FILE n --minimum 0 --maximum 10 --step 0.5 --scale 3", "mean FILE n --minimum 0 --maximum 10 --epsilon 1",
    "count-distinct FILE c --epsilon 1 --where 'n > 1'",
    "variance FILE n --minimum 0 --maximum 10 --epsilon 1",
    "standard-deviation FILE n --minimum 0 --maximum 10 --rho 1",
    "mode FILE c --candidates-from DRINKS --candidates-column c --epsilon 1",
    "mode FILE c --candidates tea --ledger LEDGER --dataset people --rho 0.001 --mechanism exponential",
    "mode FILE c --candidates tea --privacy-unit who --by g --groups x,y --max-groups 2 --epsilon 1",
    "top-k FILE c --candidates tea,coffee --k 1 --method peeling --epsilon 1 --neighbors replace_one",
    "median FILE n --lo 0 --hi 120 --step 0.5 --epsilon 1 --max-contributions 1",
    "quantile FILE n --alpha 0 --lo 0 --hi 120 --step 2 --rho 1 --json",
    "quantile FILE n --alpha 0.9 --lo 0 --hi 120 --scale 2",
    "quantiles FILE n --alphas 0.25,0.5 --lo 0 --hi 120 --epsilon 1 --delta 1e-6 --method independent --request r",
    "bounds FILE n --epsilon 1 --q 0.9 --digits 1 --json",
    "best-price FILE n --hi 10 --step 0.5 --supply 2 --units 1 --epsilon 1 --continuous",
    "best-price FILE n --hi 10 --epsilon 1 --report OUT.html",
    "mode FILE c --candidates tea --mechanism noisy_max --mechanism-option noise=gumbel --epsilon 1",
    "median FILE n --lo 0 --hi 9 --epsilon 1 --ledger LEDGER --dataset people --dry-run",
    "select SCORES --sensitivity 1 --epsilon 1 --json", "noise laplace VALUE --sensitivity 1 --epsilon 1 --lo 0 --hi 9",
    "noise randomized-response VALUE --candidates 1,2 --epsilon 1", "compare VOTES votes --epsilons 0.1,1 --json",
    "mode FILE c --candidates tea --epsilon 1 --format csv", "ledger extend LEDGER --dataset people --epsilon 2000000",
    "profile FILE --epsilon 1 --delta 1e-6 --privacy-unit who --at-most 100 --draft",
    "sql SELECT", "mcp --analyst nobody", "tally --json", "tally --clear", "mode FILE c --csv delimiter=, --csv quote= --candidates tea --epsilon 1 --no-tally",
    "profile FILE --epsilon 1 --columns n,c --texts n --ledger LEDGER --dataset people --json",
    "describe FILE --header --name people", "check people --not-private",
    "check people n --epsilon 1 --request r --json", "check people --epsilon 0.1 --max-contributions 2 --dry-run",
    "plan --candidates 100 --epsilon 1 --spread 2 --confidence 0.9 --json", "plan --candidates 100 --error 5",
    "plan --scores DRINKS --column c --epsilon 1", "attack --list", "attack underflow --json",
    "audit exact --scores 0,1,2 --neighbor 1,1,2 --sensitivity 1 --epsilon 1 --json",
    "audit laws --law 1/2,1/2 --neighbor 1/3,2/3 --epsilon 1 --delta 0.1",
    "audit samples DRINKS DRINKS --confidence 0.9",
    "audit exact --scores 0,1 --neighbor 1,1 --report OUT.html --sensitivity 1 --epsilon 1",
    "ledger show LEDGER --dataset people --report OUT.html", "ledger verify LEDGER --write-checkpoint OUT.json",
    "describe --schema", "ask middle --request r --dry-run", "serve TOML --listen 127.0.0.1:8765 --host a --workers 2 --readers 3",
    "token create --role owner --config TOML", "token list --config TOML --json", "ledger show LEDGER --json", "ledger open LEDGER --dataset people --epsilon 1000000", "ledger history LEDGER --dataset people",
    "ledger verify LEDGER --head abc", "ledger history LEDGER --export OUT.csv", "ledger open NEW --dataset d --rho 1 --delta 0.1",
]  # fmt: skip


def targets() -> list[Target]:
    """Return one target for each command line."""
    return [Target(f"{PREFIX}{line}", lambda: _run, [_words(line)]) for line in _COMMANDS]


def _words(line: str) -> Callable[[], Arguments]:
    def words() -> Arguments:
        folder = world().folder
        places = {
            "FILE": _file(),
            "DRINKS": world().candidates,
            "LEDGER": world().ledger_file,
            "NEW": folder / "l.db",
            "TOML": world().description,
            "SCORES": _written("scores.csv", "tea,3\nmilk,1/2\n"),
            "VALUE": _written("value.txt", "2\n"),
            "VOTES": _written("votes.csv", "votes\n3\n1\n"),
        }
        return [
            str(places.get(word, folder / word if word.startswith("OUT") else word))
            for word in line.split()
        ], {}

    return words
