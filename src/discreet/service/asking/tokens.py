"""Tokens: the callers, their roles, and until when they may ask. A token is shown once, and only its hash is kept.

A token has 256 random bits, so its SHA-256 tells nothing about it, and nobody finds a second text with that hash.
"""

import datetime as dt
import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from ...base.arguments import choice, exact_text, read_name
from ...base.file_permissions import is_writable_by_others, private_opener, replaced_private
from ...errors import InvalidArgument, NotAllowed, UnknownName, UnreadableFile, preview

ROLES = ("owner", "analyst", "auditor")
"""The owner may do everything, an analyst asks, and an auditor sees the record and asks no question."""

_BYTES = 32
_SECONDS_FOR_WRITERS = 10.0
"""Seconds to wait for other writers."""

_PREFIX = "discreet_"
_SHAPE = re.compile(rf"{_PREFIX}[A-Za-z0-9_-]{{43}}", re.ASCII)
_DAYS = re.compile(r"([1-9][0-9]{0,3})d", re.ASCII)
NOT_VALID = "this token is not valid: it is unknown, was revoked, or has expired"
_VERSION = 1
"""Of the file."""


@dataclass(frozen=True, slots=True)
class Token:
    """The stored record of a token.

    Attributes:
        id: its name in lists; not a part of the token.
        role: "owner", "analyst" or "auditor".
        analyst: the analyst. None for other roles.
        created: when it was made, UTC.
        expires: the time from which on it is rejected, UTC.
        hashed: the SHA-256 of the token, or empty if it is told to somebody.
        parent: the id of the token that it was made with, without which it is not valid. None if it was made at the
            command line, or in this process.
        has_ended: whether it was seen to have expired.
    """

    id: str
    role: str
    analyst: str | None
    created: str
    expires: str
    hashed: str = field(default="", repr=False)
    parent: str | None = None
    has_ended: bool = field(default=False, repr=False)

    @property
    def expiry(self) -> dt.datetime:
        """The time from which on it is rejected."""
        return dt.datetime.fromisoformat(self.expires)

    def is_expired(self, now: dt.datetime) -> bool:
        """Return whether it has expired, now or at any time that was seen."""
        return self.has_ended or self.expiry <= now

    def as_dict(self) -> dict[str, object]:
        """Return the token without its hash, ready for JSON."""
        kept = {"hashed", "has_ended"}
        return {name: value for name, value in asdict(self).items() if name not in kept}

    def __str__(self) -> str:
        whose = self.role if self.analyst is None else f"{self.role} {self.analyst}"
        parent_text = "" if self.parent is None else f", made with {self.parent}"
        return f"{self.id}  {whose}, until {self.expires[:16].replace('T', ' ')} UTC{parent_text}"


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was made just now.

    Attributes:
        text: the token, which cannot be shown again.
        kept: its stored record.
    """

    text: str = field(repr=False)
    kept: Token

    def as_dict(self) -> dict[str, object]:
        """Return the token and its stored record, ready for JSON. Whoever has it can ask."""
        return {"token": self.text, **self.kept.as_dict()}

    def __str__(self) -> str:
        return f"{self.kept}. It is not shown again"


class Tokens:
    """The tokens of a description, in a file beside it that only its owner can read and write.

    Args:
        path: the file. It is made with the first token.
    """

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(
        self, role: str, analyst: str | None, expires: dt.datetime, parent: Token | None = None
    ) -> tuple[str, Token]:
        """Make a token, keep its hash, and return the token, which cannot be shown again, with its record.

        Args:
            role: one of `ROLES`.
            analyst: the analyst, for that role.
            expires: the time from which on it is rejected. If that of the parent is earlier, that one.
            parent: the token that it is made with: with it it ends, and with it it is revoked.

        Raises:
            InvalidArgument: if the role and the analyst do not go together, or it would have expired.
            NotAllowed: if the parent is not valid any more.
        """
        role_name = choice(role, "role", ROLES)
        if (role_name == "analyst") == (analyst is None):
            raise InvalidArgument("an analyst goes with the role analyst, and with no other")
        whose = None if analyst is None else read_name(analyst, "analyst")
        now = _now()
        if expires <= now:
            raise InvalidArgument("expires must be a time to come")
        text = _PREFIX + secrets.token_urlsafe(_BYTES)
        token = Token(
            secrets.token_hex(6),
            role_name,
            whose,
            _time_text(now),
            _time_text(expires),
            _hash_token(text),
        )
        if parent is not None:
            ends = min(token.expires, parent.expires)  # both in UTC, to the second
            token = replace(token, parent=parent.id, expires=ends)

        def add_token(tokens: list[Token]) -> list[Token]:
            if parent is not None and parent.id not in {one.id for one in _valid(tokens)}:
                raise NotAllowed(NOT_VALID)  # it was revoked just now
            return [*tokens, token]

        self._change(add_token)
        return text, token

    def list_all(self) -> list[Token]:
        """Return all tokens that were not revoked, expired ones too, the oldest first."""
        return list(self._read())

    def valid(self) -> list[Token]:
        """Return all tokens that have neither expired nor were revoked, nor their parents.

        A token that was seen to have expired is noted in the file, so that it stays so if the clock goes back.
        """
        now, tokens = _now(), self._read()
        ended = {one.id for one in tokens if not one.has_ended and one.is_expired(now)}
        if not ended <= _SEEN_TO_END:
            _SEEN_TO_END.update(ended)  # if it cannot be written now, this process knows it
            with suppress(UnreadableFile):
                self._change(lambda tokens: _ended(tokens, ended), patience=0)
        return _valid((one for one in tokens if one.id not in _SEEN_TO_END), now)

    def revoke(self, identity: str) -> list[Token]:
        """Forget a token by its id, and all that were made with it: from now on they are rejected.

        Returns:
            The token, and those that were made with it.

        Raises:
            UnknownName: if there is none.
        """
        family: list[Token] = []

        def remove(tokens: list[Token]) -> list[Token]:
            family.extend(_with_descendants(tokens, exact_text(identity)))
            return [one for one in tokens if one not in family]

        self._change(remove)
        if not family:
            raise UnknownName(f"there is no token {preview(identity)}. See discreet token list")
        return family

    def check(self, identity: str) -> None:
        """Raise unless the token of an id is still valid.

        Raises:
            NotAllowed: if it was revoked, or has expired.
        """
        if identity not in {one.id for one in self.valid()}:
            raise NotAllowed(NOT_VALID)

    def find(self, text: object) -> Token:
        """Return the stored record of a valid token.

        All that is wrong with a token is told in the same words, and every hash is compared in constant time. What
        has not the form of a token costs no hash, and what has it costs one.

        Raises:
            NotAllowed: if it is none that was made here, was revoked, or has expired.
        """
        token_text = exact_text(text) or ""
        if _SHAPE.fullmatch(token_text):
            digest = _hash_token(token_text)
            fitting = [one for one in self.valid() if hmac.compare_digest(one.hashed, digest)]
            if fitting:
                return fitting[0]
        raise NotAllowed(NOT_VALID)

    def _read(self) -> tuple[Token, ...]:
        try:
            with open(self._path, "rb") as file:
                if not is_writable_by_others(file):
                    return _parse_tokens(file.read())
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            failure = UnreadableFile(f"{self._path} cannot be read, or is not a file of tokens")
        else:
            failure = UnreadableFile(
                f"{self._path} can be written by others, who could make tokens: chmod 600 it"
            )
        raise failure

    def _change(
        self, change: Callable[[list[Token]], list[Token]], patience: float | None = None
    ) -> None:
        """Replace the tokens in one step, one writer after the other."""
        try:
            self._replace(change, _SECONDS_FOR_WRITERS if patience is None else patience)
        except UnreadableFile:
            raise
        except OSError as error:
            why = error.strerror
        else:
            return
        raise UnreadableFile(f"{self._path} cannot be written: {why}")

    def _replace(self, change: Callable[[list[Token]], list[Token]], patience: float) -> None:
        with self._lock_file(patience):
            tokens = change(list(self._read()))
            with replaced_private(self._path) as file:
                plain = {"version": _VERSION, "tokens": [asdict(one) for one in tokens]}
                json.dump(plain, file, indent=1)

    @contextmanager
    def _lock_file(self, patience: float) -> Iterator[None]:
        """Hold the lock file beside the file, where there are such locks."""
        if find_spec("fcntl") is None:
            yield
            return
        with open(f"{self._path}-lock", "w", opener=private_opener) as lock:
            until = time.monotonic() + patience
            while not _is_locked(lock):
                if time.monotonic() > until:
                    raise UnreadableFile(f"{self._path} has been locked for too long. Retry")
                time.sleep(0.01)
            yield


def read_expiry(text: str) -> dt.datetime:
    """Return when a token expires: after so many days, such as "90d", or as a date such as 2027-01-31 begins, UTC.

    Raises:
        InvalidArgument: if it is neither.
    """
    if days := _DAYS.fullmatch(text):
        return _now() + dt.timedelta(days=int(days[1]))
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        pass
    else:
        return dt.datetime.combine(day, dt.time(), dt.UTC)
    raise InvalidArgument(
        f"expires must be days such as 90d or a date such as 2027-01-31, got {preview(text)}"
    )


def tokens_beside(description: Path) -> Tokens:
    """Return the tokens of a description: discreet.tokens beside discreet.toml."""
    return Tokens(description.absolute().with_suffix(".tokens"))


_SEEN_TO_END: set[str] = set()
"""The ids of tokens that this process has seen to expire: they stay so if the clock goes back."""


def _ended(tokens: Iterable[Token], ids: Collection[str]) -> list[Token]:
    """Return tokens, of which those of some ids are noted to have expired."""
    return [replace(one, has_ended=one.has_ended or one.id in ids) for one in tokens]


def _valid(tokens: Iterable[Token], now: dt.datetime | None = None) -> list[Token]:
    """Return the tokens that have not expired and have no parent, or one that is valid too."""
    now, valid_tokens = now or _now(), dict[str | None, Token]()
    for one in tokens:  # a parent is made before its children
        if not one.is_expired(now) and (one.parent is None or one.parent in valid_tokens):
            valid_tokens[one.id] = one
    return list(valid_tokens.values())


def _with_descendants(tokens: list[Token], identity: str | None) -> list[Token]:
    """Return the token of an id, and all that were made with it, or with one of those."""
    family: dict[str | None, Token] = {}
    for one in tokens:
        if one.id == identity or one.parent in family:
            family[one.id] = one
    return list(family.values())


@lru_cache(maxsize=2)
def _parse_tokens(text: bytes) -> tuple[Token, ...]:
    """Return the tokens of the text of a file, which is read for every request, and is mostly the same."""
    plain: dict[str, Any] = json.loads(text.decode("utf-8"))
    if plain.get("version") != _VERSION:
        raise ValueError("of another version")
    return tuple(map(_token, plain["tokens"]))


def _token(plain: dict[str, Any]) -> Token:
    """Return a token from its fields. A value of another kind is rejected."""
    token = Token(**plain)
    texts = (
        token.id, token.created, token.expires, token.hashed, token.analyst or "", token.parent or "",
    )  # fmt: skip
    is_whole = all(isinstance(text, str) for text in texts) and type(token.has_ended) is bool
    is_whole = is_whole and token.role in ROLES and len(token.hashed) == 64
    if (
        not is_whole
        or (token.role == "analyst") == (token.analyst is None)
        or token.expiry.tzinfo is None
    ):
        raise ValueError("no token")
    token.hashed.encode("ascii")
    return token


def _is_locked(lock: IO[str]) -> bool:
    """Return whether an open file could be locked now."""
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _hash_token(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _time_text(at: dt.datetime) -> str:
    return at.astimezone(dt.UTC).isoformat(timespec="seconds")


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
