"""The ids of privacy units: which values are ids, and the text that tells each from all others.

Equal ids have one text in every engine, so they are one unit wherever a table is, and the rule for rows starts
at the same place. Proof: docs/how-to/user_level_privacy.md.
"""

import hashlib
from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from ..errors import UnreadableData
from .kinds import ColumnType, plain

SALT = "discreet:"
"""The key of the rule, public and fixed: docs/how-to/user_level_privacy.md says why it is no secret."""

ID_KINDS = ("text", "integer", "decimal", "uuid", "anything", "nothing")

MOST_ZEROS = 1000
"""A number that is further from its digits than that is nobody's id: written out it would fill the memory."""

_EXACT = 2**53
"""A whole number below it is a double of its own, and no other whole number is rounded to that."""


def check_unit(of: ColumnType) -> None:
    """Raise unless values of this type identify privacy units beyond doubt."""
    if of.kind not in ID_KINDS:
        raise UnreadableData(
            f"{of.words}, cannot be the privacy_unit. Accepted: text, integers, decimals and UUIDs. Cast what is "
            "none of them: integers that pandas keeps as floats because some are missing to Int64"
        )


def id_text(value: object) -> str | None:
    """Return the text of an id, one for all that are equal; None for what is nobody's.

    A text is its own, a number its digits without zeros that say nothing, so that 7, '7' and Decimal('7.00') are
    one unit. A double is an id if it is a whole number of fewer than 54 bits, for another may have been rounded.
    """
    if isinstance(value, float):
        whole = abs(value) < _EXACT and value == int(value)
        return str(int(value)) if whole else None
    exact = plain(value) if type(value).__name__ not in ("float16", "float32") else None
    if isinstance(exact, Decimal):
        return decimal_text(exact)
    named = isinstance(exact, str | int | UUID) and not isinstance(exact, bool)
    return str(exact) if named else None


def decimal_text(number: Decimal) -> str | None:
    """Return a decimal in its fewest digits, without an exponent; None for one that is not finite, or too long."""
    if not number.is_finite():
        return None
    sign, figures, exponent = number.as_tuple()
    assert isinstance(exponent, int), "of a finite number"
    written = "".join(map(str, figures)).lstrip("0")
    digits, point = written.rstrip("0"), len(written) + exponent
    if not digits:
        return "0"
    if abs(point) > MOST_ZEROS:
        return None
    whole = digits[: max(point, 0)].ljust(point, "0") or "0"
    part = "0" * max(-point, 0) + digits[max(point, 0) :]
    return "-" * sign + whole + ("." + part if part else "")


def unit_bytes(texts: Sequence[str]) -> bytes:
    """Return what tells a unit from all others, given the text of its id in each column.

    Of several columns every text comes after its length in bytes, so no two lists of texts are put together alike.
    """
    words = [
        text.encode("utf-8", "surrogatepass") for text in texts
    ]  # there may be halves of letters
    return words[0] if len(words) == 1 else b"".join(b"%d:%b" % (len(w), w) for w in words)


def start_of_rule(of_unit: object) -> int:
    """Return where the rule begins to count for a unit: 32 bits of a hash, the same in every engine.

    Args:
        of_unit: what `unit_bytes` returns; or an id of a unit of one column.
    """
    text = of_unit if isinstance(of_unit, bytes) else unit_bytes([str(id_text(of_unit))])
    return int(hashlib.sha256(SALT.encode() + text).hexdigest()[:8], 16)
