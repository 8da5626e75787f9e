"""The proxies of the examples before a service, on free ports of this machine."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from .running import free_port

httpx = pytest.importorskip("httpx", reason="the extra server is not installed")

EXAMPLES = Path(__file__).parents[2] / "examples" / "service"


class Front(NamedTuple):
    """A proxy that answers.

    Attributes:
        url: its address.
        authority: the certificate with which it is trusted.
        plain: the port at which it sends callers to HTTPS; None where it has none.
    """

    url: str
    authority: Path
    plain: int | None = None


def program(name: str) -> str:
    """The path of a program; the test is skipped where there is none."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@contextmanager
def behind_nginx(service: str, folder: Path) -> Iterator[Front]:
    """Run nginx before the service at an address, with the site of the examples."""
    found, port, plain = program("nginx"), free_port(), free_port()
    certificate = folder / "fullchain.pem"
    subprocess.run(
        [
            program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-batch",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
            "-out", certificate, "-keyout", folder / "privkey.pem",
        ],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    site = _changed(
        "nginx.conf", ("listen 443", f"listen 127.0.0.1:{port}"), ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("/etc/ssl/discreet", str(folder)), ("127.0.0.1:8765", service.removeprefix("http://")),
    )  # fmt: skip
    (folder / "site.conf").write_text(site)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr;"
        "worker_rlimit_nofile 4096; events { worker_connections 2048; }"
        "http { gzip on; gzip_types application/json; access_log off;"
        f"{temporary} include {folder}/site.conf; }}"
    )
    url = f"https://localhost:{port}"
    with _running([found, "-c", folder / "nginx.conf"], url, folder / "nginx.log"):
        yield Front(url, certificate, plain)


@contextmanager
def behind_caddy(service: str, folder: Path) -> Iterator[Front]:
    """Run Caddy before the service at an address, with the site of the examples."""
    found, port = program("caddy"), free_port()
    names = f"\nhttps://localhost:{port}, https://data.example.org:{port} {{\n\ttls internal"
    site = _changed(
        "Caddyfile", ("\ndata.example.org {", names), ("127.0.0.1:8765", service.removeprefix("http://"))
    )  # fmt: skip
    options = (
        "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n"
        f"\tstorage file_system {folder}/caddy\n}}\n"
    )
    file = folder / "Caddyfile"
    file.write_text(options + site)
    url = f"https://localhost:{port}"
    command: list[str | Path] = [found, "run", "--config", file, "--adapter", "caddyfile"]
    with _running(command, url, folder / "caddy.log"):
        yield Front(url, folder / "caddy" / "pki" / "authorities" / "local" / "root.crt")


def _changed(example: str, *changes: tuple[str, str]) -> str:
    """The text of an example with what is otherwise here."""
    site = (EXAMPLES / example).read_text(encoding="utf-8")
    for said, here in changes:
        assert said in site
        site = site.replace(said, here)
    return site


@contextmanager
def _running(command: list[str | Path], url: str, log: Path) -> Iterator[None]:
    """Run a proxy until it answers, and end it after."""
    with (
        log.open("w") as file,
        subprocess.Popen(
            command, stdout=file, stderr=file, env={**os.environ, "HOME": str(log.parent)}
        ) as running,
    ):
        try:
            _await(url, log)
            yield
        finally:
            running.terminate()


def _await(url: str, log: Path) -> None:
    for _ in range(200):
        try:
            httpx.get(f"{url}/healthz", verify=False).raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(log.read_text()[-3000:])
