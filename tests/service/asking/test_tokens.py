"""Tokens: shown once, kept as hashes, refused when they are revoked, expired, or anything but what was made."""

import base64
import datetime as dt
import hashlib
import hmac
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

import discreet
from discreet import Connection
from discreet.cli import run
from discreet.errors import InvalidArgument, NotAllowed, UnknownName, UnreadableFile
from discreet.service.asking import tokens as of
from discreet.service.asking.operations import QUESTIONS
from discreet.service.asking.tokens import ROLES, Tokens, read_expiry, tokens_beside
from discreet.tables.verb_table import VERBS

from .test_connect import write_files

LATER = dt.datetime(2999, 1, 1, tzinfo=dt.UTC)


@pytest.fixture
def made(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path / "discreet.tokens")


def test_a_token_has_256_bits_and_is_kept_as_a_hash(made: Tokens, tmp_path: Path) -> None:
    texts = {made.create("owner", None, LATER)[0] for _ in range(20)}
    assert len(texts) == 20
    for text in texts:
        secret = text.removeprefix("discreet_")
        assert len(base64.urlsafe_b64decode(secret + "=")) == 32
        (kept,) = [one for one in made.list_all() if one.id == made.find(text).id]
        assert kept.hashed == hashlib.sha256(text.encode()).hexdigest()
        for file in tmp_path.iterdir():
            assert secret not in file.read_text()
        assert secret not in f"{kept!r}{kept}{kept.as_dict()}"
        assert kept.hashed not in f"{kept!r}{kept}{kept.as_dict()}"
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}


def test_what_is_no_token_is_refused_in_the_same_words(made: Tokens) -> None:
    text, _ = made.create("auditor", None, LATER)
    wrong = [
        "", "discreet_", text[:-1], text + "A", text.lower(), f" {text}", f"{text}\n", text.upper(), "x" * 10**6,
        "\ud800", "\0", text.removeprefix("discreet_"), made.list_all()[0].hashed, made.list_all()[0].id,
        None, 1, b"x",
        text.encode(), [text], "discreet_" + "é" * 43, text[:-1] + ("A" if text[-1] != "A" else "B"),
    ]  # fmt: skip
    told = set()
    for one in wrong:
        with pytest.raises(NotAllowed) as caught:
            made.find(one)
        told.add(str(caught.value))
    assert told == {"this token is not valid: it is unknown, was revoked, or has expired"}
    assert made.find(text).role == "auditor"


def test_every_hash_is_compared_in_constant_time(
    made: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [made.create("owner", None, LATER)[0] for _ in range(5)]
    compared: list[str] = []

    def compare(ours: str, theirs: str, real: Callable[..., bool] = hmac.compare_digest) -> bool:
        compared.append(theirs)
        return real(ours, theirs)

    monkeypatch.setattr("hmac.compare_digest", compare)
    for text in (*texts, "discreet_" + "A" * 43):
        compared.clear()
        with suppress(NotAllowed):
            made.find(text)
        assert len(compared) == 5


def test_an_expired_token_stays_expired_when_the_clock_goes_back(
    made: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for a process that starts later, and for one that could not note it; a new one is not hurt by it."""
    start = dt.datetime.now(dt.UTC)
    days = {"now": 0}
    monkeypatch.setattr(of, "_now", lambda: start + dt.timedelta(days=days["now"]))
    parent_text, parent = made.create("owner", None, start + dt.timedelta(days=20))
    short_text, short = made.create("auditor", None, start + dt.timedelta(days=9), parent)
    long_text, _ = made.create("auditor", None, LATER)
    assert {made.find(text).id for text in (parent_text, short_text)} == {parent.id, short.id}
    days["now"] = 10
    for text in (short_text, "discreet_" + "A" * 43):
        with pytest.raises(NotAllowed):
            made.find(text)
    days["now"] = 0
    of._parse_tokens.cache_clear()  # another process
    for known in (made, Tokens(made._path)):
        with pytest.raises(NotAllowed):
            known.find(short_text)
        assert known.find(parent_text).id == parent.id
        assert known.find(long_text)
        with pytest.raises(NotAllowed):
            known.check(short.id)
    monkeypatch.setattr(Tokens, "_replace", _unwritable)
    days["now"] = 30
    with pytest.raises(NotAllowed):
        made.find(parent_text)
    days["now"] = 0
    with pytest.raises(NotAllowed):
        made.find(parent_text)
    monkeypatch.undo()
    assert made.find(made.create("owner", None, LATER)[0])


def _unwritable(*_: object) -> None:
    raise OSError(30, "Read-only file system")


def test_a_revoked_token_is_refused(made: Tokens) -> None:
    (first, kept), (second, _) = (made.create("owner", None, LATER) for _ in range(2))
    assert made.revoke(kept.id) == [kept]
    with pytest.raises(NotAllowed):
        made.find(first)
    assert made.find(second)
    with pytest.raises(UnknownName, match="discreet token list"):
        made.revoke(kept.id)


def test_a_token_expires_at_its_time(made: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    text, kept = made.create("owner", None, LATER)
    for seconds, valid in ((-1, True), (0, False), (1, False), (-1, False)):  # one is set back
        now = LATER + dt.timedelta(seconds=seconds)
        monkeypatch.setattr(of, "_now", lambda now=now: now)
        if valid:
            assert made.find(text) == kept
        else:
            with pytest.raises(NotAllowed):
                made.find(text)
    monkeypatch.setattr(of, "_now", lambda: LATER)
    with pytest.raises(InvalidArgument, match="a time to come"):
        made.create("owner", None, LATER)


def test_a_token_ends_with_the_one_it_was_made_with(
    made: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = LATER - dt.timedelta(days=9)
    _, first = made.create("owner", None, soon)
    text, second = made.create("owner", None, LATER, first)
    youngest, third = made.create("analyst", "ann", LATER, second)
    assert (second.expires, third.expires) == (first.expires, first.expires)
    assert (first.parent, second.parent, third.parent) == (None, first.id, second.id)
    assert f"made with {second.id}" in str(third)
    sooner = made.create("auditor", None, soon - dt.timedelta(days=1), first)[1]
    assert sooner.expires < first.expires
    monkeypatch.setattr(of, "_now", lambda: soon)
    assert made.valid() == []
    for one in (text, youngest):
        with pytest.raises(NotAllowed):
            made.find(one)


def test_a_token_is_revoked_with_all_that_were_made_with_it(made: Tokens) -> None:
    kept = made.create("owner", None, LATER)[1]
    family = [made.create("owner", None, LATER)]
    for _ in range(3):
        family.append(made.create("owner", None, LATER, family[-1][1]))
    other = made.create("auditor", None, LATER, kept)[1]
    assert [one.id for one in made.revoke(family[1][1].id)] == [one.id for _, one in family[1:]]
    assert [one.id for one in made.valid()] == [kept.id, family[0][1].id, other.id]
    with pytest.raises(NotAllowed):  # it was revoked while it made one
        made.create("owner", None, LATER, family[1][1])
    assert len(made.list_all()) == 3


def test_a_token_without_its_parent_is_not_valid(made: Tokens, tmp_path: Path) -> None:
    _, kept = made.create("owner", None, LATER)
    text, _ = made.create("owner", None, LATER, kept)
    file = tmp_path / "discreet.tokens"
    plain = json.loads(file.read_text())
    for tokens in (plain["tokens"][1:], plain["tokens"][::-1]):
        file.write_text(json.dumps({**plain, "tokens": tokens}))
        with pytest.raises(NotAllowed):
            made.find(text)


def test_expiries_are_days_or_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    now = dt.datetime(2030, 1, 1, 12, tzinfo=dt.UTC)
    monkeypatch.setattr(of, "_now", lambda: now)
    assert read_expiry("1d") == now + dt.timedelta(days=1)
    assert read_expiry("2030-02-01") == dt.datetime(2030, 2, 1, tzinfo=dt.UTC)
    for wrong in ("", "d", "0d", "-1d", "1.5d", "99999d", "tomorrow", "2030-02-30", "٣d"):
        with pytest.raises(InvalidArgument, match="expires must be"):
            read_expiry(wrong)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("analyst", [None, "ann"])
def test_an_analyst_goes_with_its_role(made: Tokens, role: str, analyst: str | None) -> None:
    if (role == "analyst") == (analyst is not None):
        assert made.find(made.create(role, analyst, LATER)[0]).analyst == analyst
    else:
        with pytest.raises(InvalidArgument, match="role analyst"):
            made.create(role, analyst, LATER)


def test_many_who_make_tokens_lose_none(made: Tokens) -> None:
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda _: made.create("owner", None, LATER)[0], range(40)))
    assert len({made.find(text).id for text in texts}) == 40


@pytest.mark.parametrize(
    "content",
    [
        "", "{}", "[]", "null", '{"version": 1, "tokens": 1}', '{"version": 1, "tokens": [1]}',
        '{"version": 1, "tokens": [{}]}', "\xff",
        *(
            json.dumps({"version": 1, "tokens": [
                {"id": "a", "role": "owner", "analyst": None, "created": "2030-01-01",
                 "expires": "2030-01-01T00:00:00+00:00", "hashed": "0" * 64} | wrong
            ]})
            for wrong in (
                {"role": "king"}, {"role": "analyst"}, {"analyst": "ann"}, {"expires": "2030-01-01T00:00:00"},
                {"expires": "soon"}, {"hashed": ""}, {"hashed": "é" * 64}, {"hashed": 1}, {"id": None},
                {"parent": 1}, {"has_ended": 1}, {"more": 1},
            )
        ),
        '{"version": 3, "tokens": []}', '{"tokens": []}', "[" * 100_000,
    ],
)  # fmt: skip
def test_a_damaged_file_lets_nobody_in(made: Tokens, tmp_path: Path, content: str) -> None:
    (tmp_path / "discreet.tokens").write_bytes(content.encode("latin-1"))
    for asks in (
        lambda: made.find("discreet_" + "A" * 43),
        lambda: made.create("owner", None, LATER),
    ):
        with pytest.raises(UnreadableFile, match="not a file of tokens"):
            asks()


def test_a_file_that_others_can_write_lets_nobody_in(made: Tokens, tmp_path: Path) -> None:
    text, _ = made.create("owner", None, LATER)
    for mode in (0o620, 0o602, 0o666):
        (tmp_path / "discreet.tokens").chmod(mode)
        with pytest.raises(UnreadableFile, match="chmod 600"):
            made.find(text)


def test_who_cannot_write_is_given_no_token_and_told_why(
    made: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, kept = made.create("owner", None, LATER)
    monkeypatch.setattr("os.replace", _unwritable)
    for change in (lambda: made.create("owner", None, LATER), lambda: made.revoke(kept.id)):
        with pytest.raises(UnreadableFile, match=r"discreet\.tokens cannot be written"):
            change()
    assert made.list_all() == [kept]
    assert made.find(text) == kept


# Who a token lets in, and to what.


def ask_about_age(verb: str, c: Connection) -> object:
    return getattr(c, verb)("people", "age", epsilon="1/8")


OPERATIONS: dict[str, Callable[[Connection], object]] = {
    "questions": lambda c: c.questions(),
    "rights": lambda c: c.rights(),
    "columns": lambda c: c.columns("people"),
    "quote": lambda c: c.quote("typical-age"),
    "quote_free": lambda c: c.quote_free("mode", "people", "city", epsilon="1/8"),
    "budgets": lambda c: c.budgets(),
    "releases": lambda c: c.releases(),
    "ask": lambda c: c.ask("typical-age"),
    "ask_free": lambda c: c.ask_free("mode", "people", "city", epsilon="1/8"),
    **{
        verb: partial(ask_about_age, verb)
        for verb, facts in VERBS.items()
        if not facts.needs
    },
    "top_k": lambda c: c.top_k("people", "city", k=1, epsilon="1/8"),
    "quantile": lambda c: c.quantile("people", "age", alpha="1/4", epsilon="1/8"),
    "quantiles": lambda c: c.quantiles("people", "age", alphas=["1/4"], epsilon="1/8"),
    "sql": lambda c: c.sql(f"SELECT {_CLAUSE} MODE(city) FROM people"),
    "open_budget": lambda c: c.open_budget("people"),
    "extend_budget": lambda c: c.extend_budget("rivals", epsilon=99),
    "renew_budget": lambda c: c.renew_budget("rivals", "2027"),
    "reopen": lambda c: c.reopen("rivals"),
    "call": lambda c: c.call(QUESTIONS),
    "create_token": lambda c: c.create_token("auditor"),
    "tokens": lambda c: c.tokens(),
    "revoke_token": lambda c: c.revoke_token(c.create_token("auditor").kept.id),
    "chain": lambda c: c.chain(),
    "audit": lambda c: c.audit(),
}  # fmt: skip

_CLAUSE = "WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.125)"
OF_A_DELTA = {"keys"}
"""What these budgets, which count no delta, cannot pay: tests/service/test_released_numbers.py."""

IN_HAND = {"allow", "allow_simulation", "for_analyst", "limit", "simulate"}
"""What the owner of data in hand does besides, of which a service knows nothing."""

SEES = {"call", "rights", "questions", "columns", "quote", "quote_free", "budgets", "releases"}
OWNS = {
    "open_budget", "extend_budget", "renew_budget", "reopen", "create_token", "tokens", "revoke_token",
}  # fmt: skip
ALLOWED = {
    "owner": {*OPERATIONS},
    "auditor": SEES | {"chain", "audit"},
    "ann": SEES | {"ask", "ask_free", "mode", "median"},  # those are her verbs
    "bob": SEES - {"quote_free"} | {"ask"},  # he has none
}


def test_the_matrix_of_operations_is_complete() -> None:
    public = {name for name in vars(Connection) if not name.startswith("_")}
    assert public - IN_HAND - OF_A_DELTA == {*OPERATIONS}
    assert {*ALLOWED} - {"ann", "bob"} == {*ROLES} - {"analyst"}


def test_every_operation_of_every_role(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files()
    known = tokens_beside(Path("discreet.toml"))
    owner = discreet.connect()
    for who, allowed in ALLOWED.items():
        role, analyst = (who, None) if who in ROLES else ("analyst", who)
        text, kept = known.create(role, analyst, LATER)
        connection = discreet.connect("discreet.toml", token=text)
        for name, operation in OPERATIONS.items():
            if name in allowed:
                operation(connection)
                continue
            before = owner.budgets()
            with pytest.raises((NotAllowed, InvalidArgument)) as caught:
                operation(connection)
            forbidden = who == "auditor" or name in OWNS | {"chain", "audit"}
            assert forbidden == isinstance(caught.value, NotAllowed), (who, name)
            assert owner.budgets() == before, (who, name)
        known.revoke(kept.id)
        for operation in OPERATIONS.values():
            with pytest.raises(NotAllowed, match="not valid"):
                operation(connection)


def test_a_token_decides_who_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files()
    text, _ = tokens_beside(Path("discreet.toml")).create("analyst", "ann", LATER)
    assert (
        repr(discreet.connect("discreet.toml", token=text)) == "Connection(discreet.toml, as ann)"
    )
    assert text not in repr(discreet.connect("discreet.toml", token=text))
    with pytest.raises(InvalidArgument, match="leave out analyst"):
        discreet.connect("discreet.toml", token=text, analyst="bob")
    for wrong in ("", "x", text[:-1]):
        with pytest.raises(NotAllowed):
            discreet.connect("discreet.toml", token=wrong)
    Path("discreet.toml").write_text(
        Path("discreet.toml").read_text().replace("analysts.ann", "analysts.amy")
    )
    with pytest.raises(UnknownName, match="no analyst 'ann'"):
        discreet.connect("discreet.toml", token=text)


def test_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files()
    create = ["token", "create", "--role", "analyst", "--analyst", "ann"]
    assert run([*create, "--expires", "7d"]) == 0
    out, err = capsys.readouterr()
    assert discreet.connect("discreet.toml", token=out.strip()).budgets()[0].analyst == "ann"
    assert "analyst ann, until" in err
    assert run(["token", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert {*listed} == {"id", "role", "analyst", "created", "expires", "parent"}
    assert run(["token", "list"]) == 0
    assert out.strip() not in (shown := capsys.readouterr().out)
    assert shown.startswith(listed["id"])
    assert run(["token", "revoke", listed["id"]]) == 0
    with pytest.raises(NotAllowed):
        discreet.connect("discreet.toml", token=out.strip())
    for wrong in (["--analyst", "mallory"], ["--expires", "never"], ["--role", "king"]):
        assert run([*create, *wrong]) == 2
    assert run([*create, "--json"]) == 0
    assert "token" in json.loads(capsys.readouterr().out)


def test_who_writes_for_too_long_is_not_waited_for(
    made: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([False] * 3)
    monkeypatch.setattr(of, "_is_locked", lambda _: next(looks))
    monkeypatch.setattr(of, "_SECONDS_FOR_WRITERS", 0.0)
    with pytest.raises(UnreadableFile, match=r"locked for too long. Retry"):
        made.create("owner", None, LATER)
    assert not made.list_all()
