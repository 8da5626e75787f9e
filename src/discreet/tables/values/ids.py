"""The ids of privacy units: which values are ids, and the text that tells one from all others.

Equal ids have one text in every engine, so they are one unit wherever a table is, and the rule for rows starts
at the same place. Proof: docs/how-to/user_level_privacy.md.
"""

import hashlib
from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from ...errors import UnreadableData
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
            f"{of.words}, cannot be the privacy_unit. Accepted: text, integers, decimals and "
            "UUIDs. Cast what is none of them: integers that pandas keeps as floats because some "
            "are missing to Int64"
        )


def id_text(value: object) -> str | None:
    """Return the text of an id, one for all that are equal; None for a value that is no id.

    A text is its own, a number its digits without zeros that say nothing, so that 7, '7' and Decimal('7.00') are
    one unit. A double is an id if it is a whole number of fewer than 54 bits, for another may have been rounded.
    """
    if isinstance(value, float):
        whole = abs(value) < _EXACT and value == int(value)
        return str(int(value)) if whole else None
    exact = plain(value) if type(value).__name__ not in ("float16", "float32") else None
    if isinstance(exact, Decimal):
        return decimal_text(exact)
    is_id = isinstance(exact, str | int | UUID) and not isinstance(exact, bool)
    return str(exact) if is_id else None


def decimal_text(number: Decimal) -> str | None:
    """Return a decimal in its fewest digits, without an exponent; None for one that is not finite, or too long."""
    if not number.is_finite():
        return None
    sign, figures, exponent = number.as_tuple()
    assert isinstance(exponent, int), "of a finite number"
    significant = "".join(map(str, figures)).lstrip("0")
    digits, point = significant.rstrip("0"), len(significant) + exponent
    if not digits:
        return "0"
    if abs(point) > MOST_ZEROS:
        return None
    whole = digits[: max(point, 0)].ljust(point, "0") or "0"
    part = "0" * max(-point, 0) + digits[max(point, 0) :]
    return "-" * sign + whole + ("." + part if part else "")


def unit_bytes(texts: Sequence[str]) -> bytes:
    """Return the bytes that tell a unit from all others, given the texts of its id in all columns.

    Of several columns every text comes after its length in bytes, so no two lists of texts are put together alike.
    """
    words = [
        text.encode("utf-8", "surrogatepass") for text in texts
    ]  # there may be halves of letters
    # "Equal pairs, and no others, are put together alike" in docs/how-to/user_level_privacy.md.
    return words[0] if len(words) == 1 else b"".join(b"%d:%b" % (len(w), w) for w in words)


def start_of_rule(of_unit: object) -> int:
    """Return where the rule begins to count for a unit: 32 bits of a hash, the same in every engine.

    Args:
        of_unit: the bytes that `unit_bytes` returns; or an id of a unit of one column.
    """
    text = of_unit if isinstance(of_unit, bytes) else unit_bytes([str(id_text(of_unit))])
    return int(hashlib.sha256(SALT.encode() + text).hexdigest()[:8], 16)


# The same texts as expressions of DuckDB's SQL.

_JSON_TOKENS = r"""("(?:[^"\\]|\\.)*")|(-?[0-9][0-9.eE+-]*)"""
"""A text in JSON, or a number."""

_JSON_NUMERAL = r"^(-?)([0-9]+)[.]?([0-9]*)(?:[eE]([+-]?)0*([0-9]*))?$"


def sql_decimal_text(column: str) -> str:
    """Return the expression of a decimal in its fewest digits; DuckDB leaves out the zero before the point."""
    plain = f"regexp_replace(CAST({column} AS VARCHAR), '^(-?)[.]', '\\10.')"
    return f"CASE WHEN contains({plain}, '.') THEN rtrim(rtrim({plain}, '0'), '.') ELSE {plain} END"


def sql_json_id(line: str, pointer: str) -> str:
    """Return the expression of the id at a place of a JSON object: of a text or a number, else null.

    Whole numbers come as they are written. Others DuckDB would round to doubles, so their line is read once more
    with its numbers in quotes; no line holds the character that marks them.
    """
    tokens = _JSON_TOKENS.replace("'", "''")
    with_marks = f"regexp_replace({line}, '{tokens}', '\\1\x01\\2\x01', 'g')"
    with_quotes = f"replace(replace({with_marks}, '\x01\x01', ''), '\x01', '\"')"
    exact = sql_numeral_text(f"json_extract_string({with_quotes}, {pointer})")
    return (
        f"CASE json_type({line}, {pointer}) WHEN 'VARCHAR' THEN json_extract_string({line}, {pointer})"
        f" WHEN 'UBIGINT' THEN json_extract_string({line}, {pointer})"
        f" WHEN 'BIGINT' THEN json_extract_string({line}, {pointer})"
        f" WHEN 'DOUBLE' THEN {exact} END"
    )


def sql_numeral_text(text: str) -> str:
    """Return the expression of a number, as JSON writes it, in its fewest digits and without an exponent.

    It is 0.DIGITS times ten to POINT.
    """
    names = "['sign', 'whole', 'part', 'side', 'power']"
    parts = f"regexp_extract({text}, '{_JSON_NUMERAL}', {names})"
    significant = "ltrim(n.whole || n.part, '0')"
    power = "CASE WHEN n.power = '' THEN 0 ELSE (n.side || n.power)::INTEGER END"
    point = f"length({significant}) - length(n.part) + {power}"
    position = f"[{{s: n.sign, d: rtrim({significant}, '0'), p: {point}}}]"
    steps = (
        f"list_transform([{parts}], lambda n: CASE WHEN {significant} = '' THEN '0'"
        f" WHEN length(n.power) <= 6 THEN list_transform({position}, lambda m: {_SPELLED_DECIMAL})[1] END)"
    )
    return f"({steps})[1]"


_SPELLED_DECIMAL = (
    f"CASE WHEN abs(m.p) <= {MOST_ZEROS} THEN m.s || CASE WHEN m.p <= 0 THEN '0.' || repeat('0', -m.p) || m.d"
    " WHEN m.p >= length(m.d) THEN rpad(m.d, m.p::INTEGER, '0')"
    " ELSE left(m.d, m.p) || '.' || substr(m.d, m.p + 1) END END"
)
