"""The time from a fresh interpreter to an import, and to the first answer."""

import os
import subprocess
import sys
from functools import partial
from tempfile import TemporaryDirectory

from .race import Contender, Run, Watch, race
from .results import Line, Row, Target, compared

FIRST_SELECT = "import discreet; discreet.select([1.0, 2.0], sensitivity=1, epsilon=1)"
OURS = "import discreet"
OURS_USED = "and first select"
PROGRAMS = {
    OURS: "import discreet",
    OURS_USED: FIRST_SELECT,
    "import numpy": "import numpy",
    "import opendp.prelude": "import opendp.prelude",
    "import diffprivlib": "import diffprivlib",
}
BARE = "bare interpreter"
NUMPY = "import numpy"


def imports(watch: Watch) -> Row:
    """Return the row of import times, the start of the bare interpreter taken off."""
    programs = {BARE: "pass", **PROGRAMS}
    with TemporaryDirectory() as cache:
        contenders = [
            Contender(name, partial(_fresh, code, cache)) for name, code in programs.items()
        ]
        timings = race(contenders, 21, watch)
    beyond = {name: timings[name].beyond(timings[BARE]) for name in PROGRAMS}
    used = Line(OURS_USED, beyond.pop(OURS_USED))
    ours, *peers = compared(beyond, Target(0.150))
    note = (
        "Ratios are of `import discreet` alone, which leaves numpy and the rest to the first use."
    )
    return Row("import, less a bare start", [ours, used, *peers], [note])


def first_select(watch: Watch, *, kept: bool = True) -> Row:
    """Return the row of the first answer by numpy's import, the start of the bare interpreter taken off.

    Args:
        watch: as for all rows.
        kept: whether bytecode is kept, as after an installation; else all is compiled each time.
    """
    programs = {BARE: "pass", OURS_USED: FIRST_SELECT, NUMPY: "import numpy"}
    with TemporaryDirectory() as cache:
        contenders = [
            Contender(name, partial(_fresh, code, cache, kept=kept))
            for name, code in programs.items()
        ]
        timings = race(contenders, 151 if kept else 5, watch)
    beyond = {name: timings[name].beyond(timings[BARE]) for name in (OURS_USED, NUMPY)}
    title = "first select" if kept else "first select, no bytecode kept"
    return Row(f"{title}, less a bare start", compared(beyond, Target(1.3, NUMPY)))


def _fresh(code: str, cache: str, *, kept: bool = True) -> Run:
    """Return a run of the code in a fresh interpreter.

    Bytecode is kept in `cache`, whatever this environment says about keeping it: the first turn compiles
    and is not timed, as after any installation. Where it is not to be kept that folder stays empty.
    """
    environment = {
        key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"
    }
    environment["PYTHONPYCACHEPREFIX"] = cache
    if not kept:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return partial(_run, [sys.executable, "-P", "-c", code], environment)


def _run(command: list[str], environment: dict[str, str]) -> None:
    """Run a program to its end; raise what it says last if it fails."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2])
