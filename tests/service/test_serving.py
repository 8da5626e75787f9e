"""Where a service listens, and how it is reached."""

import gc

import pytest

import discreet
from discreet.errors import InvalidArgument
from discreet.service.serving import read_address


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
