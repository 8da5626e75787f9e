"""The texts of ids as expressions of DuckDB's SQL: see `ids`."""

from .ids import MOST_ZEROS

_TOKENS = r"""("(?:[^"\\]|\\.)*")|(-?[0-9][0-9.eE+-]*)"""
"""A text in JSON, or a number."""

_NUMERAL = r"^(-?)([0-9]+)[.]?([0-9]*)(?:[eE]([+-]?)0*([0-9]*))?$"


def decimal_text(column: str) -> str:
    """Return the expression of a decimal in its fewest digits; DuckDB leaves out the zero before the point."""
    plain = f"regexp_replace(CAST({column} AS VARCHAR), '^(-?)[.]', '\\10.')"
    return f"CASE WHEN contains({plain}, '.') THEN rtrim(rtrim({plain}, '0'), '.') ELSE {plain} END"


def json_id(line: str, pointer: str) -> str:
    """Return the expression of the id at a place of a JSON object: of a text or a number, else null.

    Whole numbers come as they are written. Others DuckDB would round to doubles, so their line is read once more
    with its numbers in quotes; no line holds the character that marks them.
    """
    marked = f"regexp_replace({line}, '{_quoted(_TOKENS)}', '\\1\x01\\2\x01', 'g')"
    quoted = f"replace(replace({marked}, '\x01\x01', ''), '\x01', '\"')"
    exact = numeral_text(f"json_extract_string({quoted}, {pointer})")
    return (
        f"CASE json_type({line}, {pointer}) WHEN 'VARCHAR' THEN json_extract_string({line}, {pointer})"
        f" WHEN 'UBIGINT' THEN json_extract_string({line}, {pointer})"
        f" WHEN 'BIGINT' THEN json_extract_string({line}, {pointer})"
        f" WHEN 'DOUBLE' THEN {exact} END"
    )


def numeral_text(text: str) -> str:
    """Return the expression of a number, as JSON writes it, in its fewest digits and without an exponent.

    It is 0.DIGITS times ten to POINT.
    """
    names = "['sign', 'whole', 'part', 'side', 'power']"
    taken = f"regexp_extract({text}, '{_NUMERAL}', {names})"
    written = "ltrim(n.whole || n.part, '0')"
    power = "CASE WHEN n.power = '' THEN 0 ELSE (n.side || n.power)::INTEGER END"
    point = f"length({written}) - length(n.part) + {power}"
    placed = f"[{{s: n.sign, d: rtrim({written}, '0'), p: {point}}}]"
    steps = (
        f"list_transform([{taken}], lambda n: CASE WHEN {written} = '' THEN '0'"
        f" WHEN length(n.power) <= 6 THEN list_transform({placed}, lambda m: {_SPELLED})[1] END)"
    )
    return f"({steps})[1]"


_SPELLED = (
    f"CASE WHEN abs(m.p) <= {MOST_ZEROS} THEN m.s || CASE WHEN m.p <= 0 THEN '0.' || repeat('0', -m.p) || m.d"
    " WHEN m.p >= length(m.d) THEN rpad(m.d, m.p::INTEGER, '0')"
    " ELSE left(m.d, m.p) || '.' || substr(m.d, m.p + 1) END END"
)


def _quoted(text: str) -> str:
    return text.replace("'", "''")
