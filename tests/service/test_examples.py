"""The examples around the service: what the docs show is what is there, and the programs take it."""

import re
import shutil
import ssl
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import discreet
from discreet.ledger.toml_budgets import configuration, open_described
from discreet.service.asking.tokens import read_expiry, tokens_beside
from discreet.service.queue.padding import LENGTH

from .proxies import EXAMPLES, behind_caddy, behind_nginx
from .running import Running

httpx = pytest.importorskip("httpx", reason="the extra server is not installed")
pytest.importorskip("starlette", reason="the extra server is not installed")

ROOT = Path(__file__).parents[2]
CONSTRAINTS = EXAMPLES / "constraints.txt"
PAGES = [ROOT / "docs" / "how-to" / f"{name}.md" for name in ("serve", "operate")]

TEXT = """
ledger = "budget.db"
datasets.people.source = "people.csv"
datasets.people.budget = { epsilon = "3" }
datasets.people.columns.city = { type = "string", enum = ["Bern", "Basel"] }
datasets.people.questions.city = { verb = "mode", column = "city", epsilon = 1 }
datasets.people.answers_after = "50ms"
"""


def test_the_docs_show_each_example_as_it_is() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    blocks = re.findall(r"^```text\n(.*?)^```", text, re.M | re.S)
    for example in EXAMPLES.iterdir():
        if example.name == CONSTRAINTS.name:
            continue  # a list of hashes
        assert f'--8<-- "examples/service/{example.name}"\n' in blocks, example.name
        assert f"`examples/service/{example.name}`" in text


def test_both_proxies_tell_browsers_to_ask_by_https_alone() -> None:
    for name in ("nginx.conf", "Caddyfile"):
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        assert 'Strict-Transport-Security "max-age=31536000"' in text, name
    nginx = (EXAMPLES / "nginx.conf").read_text(encoding="utf-8")
    assert "listen 80;" in nginx
    (there,) = re.findall(r"return 301 (\S+);", nginx)
    assert there == "https://data.example.org$request_uri"  # not $host, which the request says


LINE = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9-]*)==(?P<version>[0-9][0-9A-Za-z.]*)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)"
)


def test_the_container_installs_what_is_known_by_its_hash() -> None:
    text = CONSTRAINTS.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = {one["name"]: one["version"] for one in LINE.finditer(text)}
    assert len(found) == sum(not line.startswith(" ") for line in lines)
    assert not re.search(r"https?:|://|@", text)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    for one in (*project["project"]["dependencies"], *extras["server"], *extras["postgres"],
                *project["build-system"]["requires"]):  # fmt: skip
        wanted = Requirement(one)
        assert wanted.specifier.contains(found[canonicalize_name(wanted.name)]), one
    container = (EXAMPLES / "Containerfile").read_text(encoding="utf-8")
    assert "--require-hashes" in container
    assert "--no-deps" in container


def test_the_extra_has_no_version_with_a_published_weakness() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = map(Requirement, project["dependencies"] + project["optional-dependencies"]["server"])
    requirements = {one.name: one for one in wanted}
    weak = {"h11": "0.15.9", "starlette": "1.0.0", "jinja2": "3.1.5"}
    for name, version in weak.items():
        assert not requirements[name].specifier.contains(version), name


def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    unit = (EXAMPLES / "discreet.service").read_text(encoding="utf-8")
    file = tmp_path / "discreet.service"
    file.write_text(unit.replace("/opt/discreet/bin/discreet", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", file], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    """A service that may be called by the name of the examples."""
    (tmp_path / "discreet.toml").write_text(TEXT)
    (tmp_path / "people.csv").write_text("city\n" + 200 * "Bern\n")
    open_described(configuration(tmp_path / "discreet.toml"), "people")
    with Running(tmp_path, "--host", "data.example.org") as running:
        yield running


@pytest.mark.proof
def test_behind_nginx(service: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with behind_nginx(service.url, tmp_path) as front:
        check_proxy(service, tmp_path, front.url, front.authority, monkeypatch)
        led = httpx.get(f"http://127.0.0.1:{front.plain}/x?y=1", headers={"Host": "evil.example"})
        assert (led.status_code, led.headers["location"]) == (301, "https://data.example.org/x?y=1")


@pytest.mark.proof
def test_behind_caddy(service: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with behind_caddy(service.url, tmp_path) as front:
        check_proxy(service, tmp_path, front.url, front.authority, monkeypatch)


def check_proxy(
    service: Running, folder: Path, url: str, authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ask through a proxy; replies are as long as they left, names are checked, and long requests refused."""
    token, _ = tokens_beside(folder / "discreet.toml").create("owner", None, read_expiry("1d"))
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    asking = discreet.connect(url, token=token)
    assert asking.ask("city", request="r").value == "Bern"
    assert not asking.ask("city", request="r").charged
    trusting = ssl.create_default_context(cafile=str(authority))
    headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "gzip, zstd, br"}
    with httpx.Client(base_url=url, verify=trusting, headers=headers) as client:
        reply = client.get("/v1/questions", headers={"Host": "data.example.org"})
        assert (reply.status_code, reply.headers.get("content-encoding")) == (200, None)
        assert reply.headers["strict-transport-security"] == "max-age=31536000"
        assert (int(reply.headers["content-length"]), len(reply.content)) == (LENGTH, LENGTH)
        other = client.get("/v1/questions", headers={"Host": "evil.example.org"})
        assert other.status_code == 400 or not other.content  # Caddy has no such site
        long = client.post("/v1/quotes", content=b" " * (3 << 20))
        assert long.status_code in (413, 502)  # Caddy 2.6 says that it cannot send it on
