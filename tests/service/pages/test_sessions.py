"""Sessions: kept on the server by their hash, over as soon as their token is, and for their owner's eyes alone."""

import datetime as dt
import os
from pathlib import Path

import pytest

from discreet.errors import UnreadableFile
from discreet.service.asking.tokens import tokens_beside
from discreet.service.pages.sessions import LASTING, Sessions, form_secret

from .person import LATER, Served


def test_a_session_lasts_until_it_ends(tmp_path: Path) -> None:
    at = [1000.0]
    sessions = Sessions(tmp_path / "s", lambda: at[0])
    assert sessions.token_of("nobody") is None
    name = sessions.begin("t1")
    assert sessions.token_of(name) == "t1"
    at[0] += LASTING - 1
    assert Sessions(tmp_path / "s", lambda: at[0]).token_of(name) == "t1"
    at[0] += 1
    assert sessions.token_of(name) is None


def test_a_session_is_ended_alone_or_with_all_of_its_token(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path / "s")
    one, two, three = (sessions.begin(token) for token in ("t1", "t1", "t2"))
    assert len({one, two, three}) == 3
    sessions.end(one)
    assert [sessions.token_of(name) for name in (one, two, three)] == [None, "t1", "t2"]
    sessions.end_all("t1")
    assert [sessions.token_of(name) for name in (two, three)] == [None, "t2"]


def test_the_file_tells_no_name_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    name = Sessions(path).begin("t1")
    assert name.encode() not in path.read_bytes()
    assert form_secret(name).encode() not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_a_file_that_others_may_write_is_refused(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path / "s")
    name = sessions.begin("t1")
    (tmp_path / "s").chmod(0o622)
    with pytest.raises(UnreadableFile, match="chmod 600"):
        sessions.token_of(name)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_text("no database, but long enough to look like one" * 100)
    path.chmod(0o600)
    with pytest.raises(UnreadableFile, match="not a file of sessions"):
        Sessions(path).token_of("x")


def test_what_was_asked_is_kept_once(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path / "s")
    assert sessions.forms_of("ann") == {}
    sessions.remember("ann", "r", {"question": "a"})
    sessions.remember("ann", "r", {"question": "b"})
    sessions.remember("", "r", {"question": "c"})
    assert sessions.forms_of("ann") == {"r": {"question": "a"}}
    assert sessions.forms_of("") == {"r": {"question": "c"}}


def test_a_session_is_over_when_its_token_is_revoked(served: Served) -> None:
    known = tokens_beside(Path("discreet.toml"))
    text, kept = known.create("analyst", "ann", LATER)
    person = served.person()
    assert person.enter(text).status_code == 303
    assert person.get("/budgets").status_code == 200
    known.revoke(kept.id)
    assert person.get("/budgets").headers["location"] == "/login"
    assert person.enter(text).status_code == 401


def test_a_session_is_over_when_its_token_expires(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = dt.datetime.now(dt.UTC)
    # One that ends before all others: what was seen to have expired stays so in the file of this service.
    text, _ = tokens_beside(Path("discreet.toml")).create(
        "analyst", "ann", at + dt.timedelta(days=1)
    )
    person = served.person()
    assert person.enter(text).status_code == 303
    assert person.get("/budgets").status_code == 200
    monkeypatch.setattr("discreet.service.asking.tokens._now", lambda: at + dt.timedelta(days=2))
    assert person.get("/budgets").headers["location"] == "/login"
    monkeypatch.undo()
    assert person.get("/budgets").headers["location"] == "/login", (
        "it ended, and does not begin again"
    )


def test_logging_in_again_ends_the_session_before(served: Served) -> None:
    person, thief = served.person("ann"), served.person()
    thief.cookies = dict(person.cookies)
    assert thief.get("/budgets").status_code == 200
    from .person import Read

    anew = served.person()
    form = Read(anew.get("/login").text).form("/login")
    anew.cookies |= person.cookies
    assert anew.submit(form, token=served.tokens["ann"]).status_code == 303
    assert thief.get("/budgets").status_code == 303
    assert anew.get("/budgets").status_code == 200
