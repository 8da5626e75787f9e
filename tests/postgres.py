"""A PostgreSQL server of our own for the tests, if there is one on this machine."""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

_PATIENCE = 30


def binaries() -> Path | None:
    """Return the folder with `initdb` and `postgres`, the newest first."""
    beside = shutil.which("initdb")
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    places = [*known, *([Path(beside).resolve().parent] if beside else [])]
    return next((p for p in places if (p / "postgres").exists() and (p / "initdb").exists()), None)


@contextmanager
def server() -> Iterator[str]:
    """Yield the URL of a fresh server on a unix socket; skip if there is none to start."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    found = binaries()
    if found is None:
        pytest.skip("no PostgreSQL server is installed (initdb and postgres were not found)")
    folder = Path(tempfile.mkdtemp(prefix="discreet-pg-"))
    who = _somebody(folder)
    data = folder / "data"
    run: dict[str, Any] = {"stdout": subprocess.DEVNULL, "cwd": folder, **who}
    made = subprocess.run(
        [found / "initdb", "-D", data, "-U", "tests", "-A", "trust", "-E", "UTF8", "--no-sync"],
        check=False, stderr=subprocess.PIPE, **run,
    )  # fmt: skip
    if made.returncode:
        shutil.rmtree(folder)
        pytest.skip(f"initdb failed: {made.stderr.decode().strip()[-200:]}")
    settings = [
        "listen_addresses=",
        f"unix_socket_directories={folder}",
        "fsync=off",
        "max_connections=60",
    ]
    options = [option for setting in settings for option in ("-c", setting)]
    with subprocess.Popen(
        [found / "postgres", "-D", data, *options], stderr=subprocess.DEVNULL, **run
    ) as running:  # a log nobody reads would fill its pipe
        try:
            url = f"postgresql://tests@/postgres?host={quote(str(folder))}"
            _await(url, running)
            yield url
        finally:
            running.send_signal(signal.SIGINT)  # the fast way: clients are not waited for
            running.wait(_PATIENCE)
            while _started:
                again = _started.pop()
                again.send_signal(signal.SIGINT)
                again.wait(_PATIENCE)
            shutil.rmtree(folder)


@contextmanager
def stopped(url: str) -> Iterator[None]:
    """Stop a server of `server` at once, as a crash does, and start it again at the end."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        [data] = connection.execute("SHOW data_directory").fetchone() or ()
    number = Path(data, "postmaster.pid").read_text().split()[0]
    command = shlex.split(Path(data, "postmaster.opts").read_text())
    os.kill(int(number), signal.SIGQUIT)
    folder = Path(data).parent
    until = time.monotonic() + _PATIENCE
    while Path(data, "postmaster.pid").exists() and time.monotonic() < until:
        time.sleep(0.02)
    yield
    again = subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=folder, **_somebody(folder))
    _started.append(again)
    _await(url, again)


_started: list["subprocess.Popen[bytes]"] = []
"""The servers that were started again."""


def _somebody(folder: Path) -> dict[str, Any]:
    """Return whom the server runs as: it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    import pwd

    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        os.chown(folder, user.pw_uid, user.pw_gid)
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL does not run as root, and there is no user postgres or nobody")


def _await(url: str, running: "subprocess.Popen[bytes]") -> None:
    """Wait until the server answers."""
    import psycopg

    until = time.monotonic() + _PATIENCE
    while running.poll() is None and time.monotonic() < until:
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    pytest.skip("the PostgreSQL server does not start")


def schema(url: str, name: str) -> str:
    """Make an empty schema, and return the URL of a connection that sees only that."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE SCHEMA "{name}"')
    return f"{url}&options=-csearch_path%3D{name}"
