"""A PostgreSQL server of our own for the tests, if there is one on this machine."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

_PATIENCE = 30


def binaries() -> Path | None:
    """Return the folder with `initdb` and `postgres`, the newest first."""
    beside = shutil.which("initdb")
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    places = [*known, *([Path(beside).resolve().parent] if beside else [])]
    return next((p for p in places if (p / "postgres").exists() and (p / "initdb").exists()), None)


@contextmanager
def server(*options: str) -> Iterator[str]:
    """Yield the URL of a fresh server on a unix socket, with options of `initdb`; skip where there is none."""
    own = ["-D", "data", "-U", "tests", "-A", "trust", "-E", "UTF8", "--no-sync", *options]
    with _folder() as folder:
        _make(folder, "initdb", own)
        with _running(folder, [f"unix_socket_directories={folder}"], _on_socket(folder)) as url:
            yield url


@contextmanager
def replica(url: str) -> Iterator[str]:
    """Yield the URL of a replica of a server of `server`, which can be read and follows it."""
    source = _words_of(url)
    with _folder() as folder:
        _make(
            folder, "pg_basebackup", ["-D", "data", "-R", "-c", "fast", "--no-sync", "-d", source]
        )
        settings = [f"unix_socket_directories={folder}", "max_standby_streaming_delay=0"]
        with _running(folder, settings, _on_socket(folder)) as own:
            yield own


@contextmanager
def server_with_certificate() -> Iterator[tuple[str, Path]]:
    """Yield the URL of a server that listens to localhost over TLS alone, and of its authority the certificate."""
    with _folder() as folder, socket.socket() as free:
        _make(folder, "initdb", ["-D", "data", "-U", "tests", "-A", "trust", "--no-sync"])
        _write(folder / "data" / "pg_hba.conf", "hostssl all all 127.0.0.1/32 trust\n")
        _sign(folder)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        settings = [
            "unix_socket_directories=", "listen_addresses=127.0.0.1", f"port={port}", "ssl=on",
            f"ssl_cert_file={folder}/server.crt", f"ssl_key_file={folder}/server.key",
        ]  # fmt: skip
        url = f"postgresql://tests@localhost:{port}/postgres"
        with _running(folder, settings, url) as own:
            yield own, folder / "ca.crt"


def _write(file: Path, text: str) -> None:
    """Write what the server's user reads, whatever the umask is."""
    file.write_text(text)
    file.chmod(0o644)


def _sign(folder: Path) -> None:
    """Make a key and a certificate of localhost, by an authority of its own; skip where openssl is missing."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    _write(folder / "extension", "subjectAltName=DNS:localhost")
    new = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    for command in (
        f"req -x509 {new} -days 2 -subj /CN=authority -keyout ca.key -out ca.crt",
        f"req {new} -subj /CN=localhost -keyout server.key -out server.csr",
        "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 "
        "-extfile extension -out server.crt",
    ):
        options: dict[str, Any] = {"cwd": folder, "stderr": subprocess.PIPE, **_somebody(folder)}
        made = subprocess.run(["openssl", *command.split()], check=False, **options)
        if made.returncode:
            pytest.skip(f"openssl makes no certificate: {made.stderr.decode()}")


@contextmanager
def pool(url: str, mode: str) -> Iterator[str]:
    """Yield the URL of a PgBouncer before a server of `server`; skip where it is not installed."""
    found = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if found is None:
        pytest.skip("PgBouncer is not installed")
    with _folder() as folder:
        _write(folder / "users", '"tests" ""\n')
        _write(
            folder / "settings",
            f"[databases]\npostgres = {_words_of(url)}\n[pgbouncer]\npool_mode = {mode}\n"
            f"listen_addr =\nlisten_port = 6432\nunix_socket_dir = {folder}\nauth_type = trust\n"
            f"auth_file = {folder}/users\ndefault_pool_size = 20\n",
        )
        own = f"{_on_socket(folder)}&port=6432"
        options: dict[str, Any] = {"cwd": folder, "stderr": subprocess.DEVNULL, **_somebody(folder)}
        with subprocess.Popen([found, "-q", "settings"], **options) as running:
            try:
                _await(own, running)
                yield own
            finally:
                running.kill()


def _words_of(url: str) -> str:
    """Return the words of libpq for a server of `server`."""
    return f"host={unquote(url.partition('host=')[2])} dbname=postgres user=tests"


def _on_socket(folder: Path) -> str:
    return f"postgresql://tests@/postgres?host={quote(str(folder))}"


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder of whom the server runs as, which is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-pg-"))
    try:
        _somebody(folder)
        yield folder
    finally:
        shutil.rmtree(folder)


def _make(folder: Path, command: str, options: list[str]) -> None:
    """Make the data of a server; skip if there is none to start."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    found = binaries()
    if found is None:
        pytest.skip("no PostgreSQL server is installed (initdb and postgres were not found)")
    run: dict[str, Any] = {"stdout": subprocess.DEVNULL, "cwd": folder, **_somebody(folder)}
    made = subprocess.run([found / command, *options], check=False, stderr=subprocess.PIPE, **run)
    if made.returncode:
        pytest.skip(f"{command} failed: {made.stderr.decode().strip()[-200:]}")


@contextmanager
def _running(folder: Path, settings: list[str], url: str) -> Iterator[str]:
    """Yield the URL of a server while it runs."""
    found = binaries()
    assert found is not None
    run: dict[str, Any] = {"stdout": subprocess.DEVNULL, "cwd": folder, **_somebody(folder)}
    every = ["listen_addresses=", "fsync=off", "max_connections=60", *settings]
    options = [option for setting in every for option in ("-c", setting)]
    with subprocess.Popen(
        [found / "postgres", "-D", folder / "data", *options], stderr=subprocess.DEVNULL, **run
    ) as running:  # a log nobody reads would fill its pipe
        try:
            _await(url, running)
            yield url
        finally:
            running.send_signal(signal.SIGINT)  # the fast way: clients are not waited for
            running.wait(_PATIENCE)
            while _started:
                again = _started.pop()
                again.send_signal(signal.SIGINT)
                again.wait(_PATIENCE)


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
