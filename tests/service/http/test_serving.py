"""Where a service listens, and how it is reached."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
from discreet.errors import InvalidArgument
from discreet.service.http.serving import address_to_open, read_address
from discreet.tables.datasets.configuration import Configuration


def test_addresses() -> None:
    assert read_address("127.0.0.1:8765") == ("127.0.0.1", 8765)
    assert read_address("[::1]:80") == ("::1", 80)
    for wrong in (
        "",
        "127.0.0.1",
        ":80",
        "a:0",
        "a:65536",
        "a b:80",
        "http://a:80",
        "a:80\n",
        "٣:80",
    ):
        with pytest.raises(InvalidArgument, match="listen must be"):
            read_address(wrong)


def test_the_address_that_a_browser_opens() -> None:
    def configuration(**server: str) -> Configuration:
        return Configuration(Path("discreet.toml"), None, {}, {}, {}, {}, server)

    assert address_to_open(configuration()) == "http://127.0.0.1:8765/"
    assert address_to_open(configuration(listen="data.test:80")) == "http://data.test:80/"
    assert address_to_open(configuration(listen="data.test:80"), "[::]:90") == "http://[::1]:90/"
    assert address_to_open(configuration(), "0.0.0.0:90") == "http://127.0.0.1:90/"
    with pytest.raises(InvalidArgument, match="listen must be"):
        address_to_open(configuration(), "nowhere")


def test_a_service_wants_a_token() -> None:
    pytest.importorskip("httpx", reason="the extra server is not installed")
    with pytest.raises(InvalidArgument, match="wants a token"):
        discreet.connect("https://data.test")
    with pytest.raises(InvalidArgument, match="leave out analyst"):
        discreet.connect("https://data.test", token="t", analyst="ann")
    with pytest.raises(InvalidArgument, match="names and passwords"):
        discreet.connect("https://a:b@data.test", token="t")
    with pytest.raises(InvalidArgument, match="URL"):
        discreet.connect("https://a:port", token="t")
    assert repr(discreet.connect("https://data.test", token="t")) == "Connection(https://data.test)"


def test_a_connection_that_is_forgotten_is_closed() -> None:
    httpx = pytest.importorskip("httpx", reason="the extra server is not installed")
    closed: list[bool] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx.Client, "close", lambda _: closed.append(True))
        connection = discreet.connect("http://127.0.0.1:9", token="t")
        assert not closed
        del connection
        gc.collect()
    assert closed


def test_the_log_has_nothing_of_the_package_of_assistants() -> None:
    """It logs every request that it refuses with a traceback, in which are words of whoever asked."""
    code = (
        "import logging; from discreet.service.http import serving; serving._log(); "
        "logging.getLogger('mcp.server').error('WORDS'); logging.getLogger('discreet.access').info('{}')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert "access" in ended.stderr
    assert "WORDS" not in ended.stderr
