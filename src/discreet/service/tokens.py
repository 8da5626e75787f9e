"""Tokens: who asks, with which role, and until when. A token is shown once, and only its hash is kept.

A token has 256 random bits, so its SHA-256 tells nothing about it, and nobody finds a second text with that hash.
"""

import datetime as dt
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..arguments import choice, exact_text, read_name
from ..errors import InvalidArgument, NotAllowed, UnknownName, UnreadableFile, shown
from ..private_files import open_private, private_opener

ROLES = ("owner", "analyst", "auditor")
"""The owner may do everything, an analyst asks, and an auditor sees what was done and asks nothing."""

_BYTES = 32
_PREFIX = "discreet_"
_SHAPE = re.compile(rf"{_PREFIX}[A-Za-z0-9_-]{{43}}", re.ASCII)
_DAYS = re.compile(r"([1-9][0-9]{0,3})d", re.ASCII)
_WRITABLE_BY_OTHERS = 0o022
_FIELDS = ("id", "role", "analyst", "created", "expires", "hashed")


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token.

    Attributes:
        id: its name in lists; not a part of the token.
        role: "owner", "analyst" or "auditor".
        analyst: the analyst; None for other roles.
        created: when it was made, UTC.
        expires: the time from which on it is refused, UTC.
        hashed: the SHA-256 of the token; empty where it is told to somebody.
    """

    id: str
    role: str
    analyst: str | None
    created: str
    expires: str
    hashed: str = field(default="", repr=False)

    def is_expired(self, now: dt.datetime) -> bool:
        """Return whether it has expired."""
        return dt.datetime.fromisoformat(self.expires) <= now

    def as_dict(self) -> dict[str, object]:
        """Return the token without its hash, ready for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "hashed"}

    def __str__(self) -> str:
        whose = self.role if self.analyst is None else f"{self.role} {self.analyst}"
        return f"{self.id}  {whose}, until {self.expires[:16].replace('T', ' ')} UTC"


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was made just now.

    Attributes:
        text: the token, which cannot be shown again.
        kept: what is kept of it.
    """

    text: str = field(repr=False)
    kept: Token

    def as_dict(self) -> dict[str, object]:
        """Return the token and what is kept of it, ready for JSON. Whoever has it can ask."""
        return {"token": self.text, **self.kept.as_dict()}

    def __str__(self) -> str:
        return f"{self.kept}; it is not shown again"


class Tokens:
    """The tokens of a description, in a file beside it that only its owner can read and write.

    Args:
        path: the file; it is made with the first token.
    """

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(self, role: str, analyst: str | None, expires: dt.datetime) -> tuple[str, Token]:
        """Make a token, keep its hash, and return the token, which cannot be shown again, with what is kept.

        Raises:
            InvalidArgument: if the role and the analyst do not go together, or it would have expired.
        """
        named = choice(role, "role", ROLES)
        if (named == "analyst") == (analyst is None):
            raise InvalidArgument("an analyst goes with the role analyst, and with no other")
        whose = None if analyst is None else read_name(analyst, "analyst")
        now = _now()
        if expires <= now:
            raise InvalidArgument("expires must be a time to come")
        text = _PREFIX + secrets.token_urlsafe(_BYTES)
        made = Token(
            secrets.token_hex(6), named, whose, _written(now), _written(expires), _hashed(text)
        )
        self._change(lambda known: [*known, made])
        return text, made

    def listed(self) -> list[Token]:
        """Return all tokens that were not revoked, expired ones too, the oldest first."""
        return self._read()

    def valid(self) -> list[Token]:
        """Return all tokens that have neither expired nor were revoked."""
        now = _now()
        return [one for one in self._read() if not one.is_expired(now)]

    def revoke(self, identity: str) -> Token:
        """Forget a token by its id: from now on it is refused.

        Raises:
            UnknownName: if there is none.
        """
        found = [one for one in self._read() if one.id == exact_text(identity)]
        if not found:
            raise UnknownName(f"there is no token {shown(identity)}; see discreet token list")
        self._change(lambda known: [one for one in known if one.id != found[0].id])
        return found[0]

    def find(self, text: object) -> Token:
        """Return what is kept of a valid token.

        All that is wrong with a token is told in the same words, and every hash is compared in constant time.

        Raises:
            NotAllowed: if it is none that was made here, was revoked, or has expired.
        """
        given = exact_text(text) or ""
        hashed = _hashed(given)
        fitting = [one for one in self.valid() if hmac.compare_digest(one.hashed, hashed)]
        if fitting and _SHAPE.fullmatch(given):
            return fitting[0]
        raise NotAllowed("this token is not valid: it is unknown, was revoked, or has expired")

    def _read(self) -> list[Token]:
        try:
            with open(self._path, encoding="utf-8") as file:
                mode = os.fstat(file.fileno()).st_mode
                found = [_token(one) for one in json.load(file)["tokens"]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError):
            found = None
        if found is None:
            raise UnreadableFile(f"{self._path} cannot be read, or is no file of tokens")
        if os.name == "posix" and mode & _WRITABLE_BY_OTHERS:
            raise UnreadableFile(
                f"{self._path} can be written by others, who could make tokens: chmod 600 it"
            )
        return found

    def _change(self, change: Callable[[list[Token]], list[Token]]) -> None:
        """Replace the tokens in one step, one writer after the other."""
        try:
            self._replace(change)
        except UnreadableFile:
            raise
        except OSError as error:
            why = error.strerror
        else:
            return
        raise UnreadableFile(f"{self._path} cannot be written: {why}")

    def _replace(self, change: Callable[[list[Token]], list[Token]]) -> None:
        with self._locked():
            changed = change(self._read())
            tokens_beside = self._path.with_name(f"{self._path.name}-new")
            tokens_beside.unlink(missing_ok=True)
            with open_private(tokens_beside) as file:
                json.dump(
                    {"version": 1, "tokens": [asdict(one) for one in changed]}, file, indent=1
                )
                file.flush()
                os.fsync(file.fileno())
            os.replace(tokens_beside, self._path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock file beside the file, where there are such locks."""
        try:
            import fcntl
        except ImportError:
            yield
            return
        with open(f"{self._path}-lock", "w", opener=private_opener) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
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
        f"expires must be days such as 90d or a date such as 2027-01-31, got {shown(text)}"
    )


def tokens_beside(description: Path) -> Tokens:
    """Return the tokens of a description: discreet.tokens beside discreet.toml."""
    return Tokens(description.absolute().with_suffix(".tokens"))


def _token(plain: dict[str, Any]) -> Token:
    """Return a token from its fields; a value of another kind is refused."""
    token = Token(*(plain[name] for name in _FIELDS))
    texts = (token.id, token.created, token.expires, token.hashed, token.analyst or "")
    if token.role not in ROLES or not all(isinstance(text, str) for text in texts):
        raise ValueError("no token")
    if (token.role == "analyst") == (token.analyst is None) or len(token.hashed) != 64:
        raise ValueError("no token")
    if dt.datetime.fromisoformat(token.expires).tzinfo is None:
        raise ValueError("no token")
    token.hashed.encode("ascii")
    return token


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _written(at: dt.datetime) -> str:
    return at.astimezone(dt.UTC).isoformat(timespec="seconds")


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
