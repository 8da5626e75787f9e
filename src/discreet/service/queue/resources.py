"""The limits of a reader: one question can take neither the memory nor the disk of the others."""

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...tables.datasets.configuration import Configuration
from ...tables.engines.database import CONFIG

ONE_THREAD = dict.fromkeys(
    (
        "DISCREET_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
        "POLARS_MAX_THREADS", "RAYON_NUM_THREADS",
    ),
    "1",
)  # fmt: skip
"""The environment in which engines take one thread. It must be set before they are imported."""

_FIRST_TO_END = 800
"""How soon the kernel ends a reader where memory is short, of 1,000: before all other parts of the service."""


@dataclass(frozen=True, slots=True)
class ReaderLimits:
    """The limits of a reader.

    Attributes:
        memory: the most bytes of memory. None for as many as there are.
        spill_folder: the folder for the data that the memory of engines does not hold; None: they may not.
        spill: the most bytes there. None for as many as there are.
    """

    memory: int | None = None
    spill_folder: str | None = None
    spill: int | None = None


def reader_limits(configuration: Configuration) -> ReaderLimits:
    """Return the limits of readers; files that engines spill never lie on the ledger's disk."""
    ledger = configuration.ledger
    at_server = ledger is None or "://" in ledger
    folder = folder_for_spills(None if at_server else Path(str(ledger)).absolute().parent)
    sizes = (configuration.server.get(key) for key in ("reader_memory", "reader_spill"))
    memory, spill = (None if size is None else size << 20 for size in sizes)
    return ReaderLimits(memory, folder, spill)


def set_limits(limits: ReaderLimits) -> None:
    """Set the limits of this process, for good."""
    with suppress(OSError):  # where there is no such file, the kernel chooses
        Path("/proc/self/oom_score_adj").write_text(str(_FIRST_TO_END))
    CONFIG["threads"] = 1
    if limits.memory is not None:
        from resource import RLIMIT_DATA, setrlimit

        CONFIG["memory_limit"] = f"{limits.memory * 3 // 4}B"  # the rest is Python's
        setrlimit(RLIMIT_DATA, (limits.memory, limits.memory))
    if limits.spill_folder is None:
        CONFIG["max_temp_directory_size"] = "0B"
        return
    os.environ["TMPDIR"] = os.environ["SPARK_LOCAL_DIRS"] = limits.spill_folder
    tempfile.tempdir = limits.spill_folder
    if limits.spill is not None:
        CONFIG["max_temp_directory_size"] = f"{limits.spill}B"


def stop_databases_after(seconds: float) -> None:
    """Let PostgreSQL give up the next statements of this process after so long: it would not see a client end."""
    os.environ["PGOPTIONS"] = f"-c statement_timeout={max(1, round(1000 * seconds))}"


def folder_for_spills(ledger: Path | None, folders: Iterable[str] | None = None) -> str | None:
    """Return a folder of temporary files on another disk than the ledger, or None if there is none.

    Args:
        ledger: the folder of the ledger. None if a server keeps it.
        folders: where they may be. By default those of this machine.
    """
    for folder in (tempfile.gettempdir(), "/var/tmp") if folders is None else folders:
        with suppress(OSError):
            if ledger is None or os.stat(folder).st_dev != os.stat(ledger).st_dev:
                return folder
    return None
