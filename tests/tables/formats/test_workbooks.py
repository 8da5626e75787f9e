"""Workbooks: against openpyxl, a reader that is not ours, and what must not be read."""

import csv
import io
import tracemalloc
import zipfile
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path
from random import Random
from typing import Any

import pytest

import discreet
from discreet.errors import InvalidArgument, UnreadableFile
from discreet.tables.formats import workbooks
from discreet.tables.formats.archives import DamagedFile
from discreet.tables.formats.byte_blocks import open_bytes
from discreet.tables.formats.text_form import TextForm
from discreet.tables.formats.workbooks import format_meaning

openpyxl = pytest.importorskip("openpyxl")

SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def rows_of(file: Path, sheet: str | None = None) -> list[list[str]]:
    """Return the rows as text; those without a value are empty."""
    with open_bytes(file, TextForm(sheet=sheet)) as stream:
        text = stream.read().decode()
    return [row for row in csv.reader(io.StringIO(text, newline="")) if row]


def relations(*kinds: tuple[str, str]) -> str:
    lines = "".join(
        f'<Relationship Id="r{i}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(kinds, 1)
    )
    return f'<Relationships xmlns="{PACKAGE}">{lines}</Relationships>'


def write(file: Path, rows: str = "", parts: Mapping[str, str | bytes] | None = None) -> Path:
    """Write a workbook of one sheet, in which parts are replaced."""
    whole: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{SPREADSHEET}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            ("worksheet", "worksheets/s.xml"), ("sharedStrings", "/xl/shared.xml"), ("styles", "styles.xml")
        ),
        "xl/shared.xml": f'<sst xmlns="{SPREADSHEET}"><si><t>Bern</t></si></sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{SPREADSHEET}"><cellXfs><xf/><xf numFmtId="14"/></cellXfs>'
        "</styleSheet>",
        "xl/worksheets/s.xml": f'<worksheet xmlns="{SPREADSHEET}"><sheetData>{rows}</sheetData></worksheet>',
        **(parts or {}),
    }  # fmt: skip
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in whole.items():
            archive.writestr(name, content)
    return file


def text_of(value: Any) -> str:
    """Return the text that a value of openpyxl has by the rules."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        whole = value.time() == time()
        return value.date().isoformat() if whole else value.isoformat(" ", "auto")
    return repr(value) if isinstance(value, float) else str(value)


def test_cells_are_those_of_openpyxl(tmp_path: Path) -> None:
    random, book = Random(1), openpyxl.Workbook()
    sheet, values = (
        book.active,
        ["Bern", "Zürich", 'a "b", c\nd', "  x ", "_x0041_", "#", "𝄞", "=", ""],
    )
    for i in range(300):
        moment = datetime(1990 + i % 40, 1 + i % 12, 1 + i % 28, i % 24, i % 60)
        choices = [*values, None, i, i / 7, -1e-9, True, False, moment, moment.date()]
        sheet.append([i, *(random.choice(choices) for _ in range(7))])
    book.save(tmp_path / "t.xlsx")
    theirs = openpyxl.load_workbook(tmp_path / "t.xlsx", data_only=True).active.iter_rows(
        values_only=True
    )
    for ours, other in zip(rows_of(tmp_path / "t.xlsx"), theirs, strict=True):
        cells = [text_of(value) for value in other]
        while cells[-1] == "":
            cells.pop()
        assert [cell.replace("A", "_x0041_") if cell == "A" else cell for cell in ours] == cells


def test_each_kind_of_cell_has_the_text_of_its_value_and_style(tmp_path: Path) -> None:
    cells = {
        '<c t="s"><v>0</v></c>': "Bern", '<c t="s"><v>1</v></c>': "\ufffd", '<c t="s"><v>x</v></c>': "\ufffd",
        '<c t="s"><v>99999999999999999999</v></c>': "\ufffd", "<c><v>007.50</v></c>": "007.50",
        '<c><f>1+1</f><v>2</v></c>': "2", '<c t="str"><f>x</f><v>a,b</v></c>': "a,b",
        '<c t="b"><v>1</v></c>': "true", '<c t="b"><v>0</v></c>': "false", '<c t="b"><v>2</v></c>': "\ufffd",
        '<c t="e"><v>#DIV/0!</v></c>': "\ufffd", '<c t="new"><v>1</v></c>': "\ufffd",
        '<c t="inlineStr"><is><r><t>a</t></r><r><t> b</t></r><rPh><t>c</t></rPh></is></c>': "a b",
        '<c t="d"><v>2024-02-03</v></c>': "2024-02-03", '<c s="1"><v>45292</v></c>': "2024-01-01",
        '<c s="9"><v>45292</v></c>': "45292", '<c s="x"><v>45292</v></c>': "45292",
        '<c t="str"><v>_x000D_a_xD83D__xFFFF_</v></c>': "\ra\ufffd\uffff",
        '<c t="str"><v>_xD834__xDD1E_</v></c>': "𝄞", "<c><f>now()</f></c>": "", "<c/>": "", '<c s="1"/>': "",
    }  # fmt: skip
    for cell, text in cells.items():
        file = write(tmp_path / "t.xlsx", f"<row>{cell}<c><v>9</v></c></row>")
        assert rows_of(file) == [[text, "9"]], cell


def test_places_and_rows_that_are_left_out(tmp_path: Path) -> None:
    rows = (
        '<row r="2"><c r="B2"><v>1</v></c><c r="AA2"><v>2</v></c><c><v>3</v></c></row>'
        '<row r="5" hidden="1"><c r="A5"><v>4</v></c></row><row><c r="B6" t="str"><v></v></c></row><row/>'
        '<row><c r="C8"><v>5</v></c><c r="A8"><v>6</v></c></row>'
    )
    with open_bytes(write(tmp_path / "t.xlsx", rows)) as stream:
        lines = stream.read().decode().split("\n")
    assert lines == ["", "," + "1" + "," * 25 + "2,3", "", "", "4", "", "", "6,,5", ""]


def test_other_prefixes_and_other_days(tmp_path: Path) -> None:
    cell = '<x:row><x:c s="1"><x:v>366</x:v></x:c></x:row>'
    sheet = f'<x:worksheet xmlns:x="{SPREADSHEET}"><x:sheetData>{cell}</x:sheetData></x:worksheet>'
    book = (
        f'<workbook xmlns="{SPREADSHEET}" xmlns:r="{OFFICE}"><workbookPr date1904="true"/><sheets>'
        '<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>'
    )
    file = write(tmp_path / "t.xlsx", parts={"xl/worksheets/s.xml": sheet, "xl/workbook.xml": book})
    assert rows_of(file) == [["1905-01-01"]]


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        ("General", ""), ("0.00E+00", ""), ('0 "days"', ""), ("[Red]0;[Blue]0", ""), ("#,##0.00_d", ""),
        ("0\\d", ""),
        ("yyyy-mm-dd", "date"), ("[$-409]d/m/yy h:mm AM/PM;@", "date"), ("mmm", "date"), ("DD.MM.YYYY", "date"),
        ("h:mm", "time"), ("mm:ss.0", "time"), ("[h]:mm:ss", ""), ("[mm]:ss", ""), ('"d', ""), ("", ""),
        ("*y0", ""),
    ],
)  # fmt: skip
def test_a_format_says_what_a_number_is(code: str, meaning: str) -> None:
    assert format_meaning(code) == meaning


def test_questions_about_a_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "people"
    book.active.append(["name", "city", "age", "day"])
    for i in range(400):
        book.active.append(
            [f"p{i}", "Bern" if i % 4 else "Zürich", i % 50, date(2024, 1, 1 + i % 5)]
        )
    book.active.append([])
    book.active["A500"].number_format = "0.0"  # it has a style alone
    hidden = book.create_sheet("old")
    hidden.append(["city"])
    hidden.append(["Basel"])
    hidden.sheet_state = "hidden"
    for name in ("t.xlsx", "t.xlsm", "t.bin", "t.csv"):
        book.save(tmp_path / name)
        asked: dict[str, Any] = {"candidates": ["Bern", "Zürich"], "epsilon": 100}
        counted = discreet.counts(tmp_path / name, "city", **asked).value
        assert counted == {"Bern": 300, "Zürich": 100}
        assert discreet.count(tmp_path / name, epsilon=100).value == 400
        old = discreet.scan_csv(tmp_path / name, sheet="old")
        assert discreet.count(old, epsilon=100).value == 1
        rows = discreet.scan_csv(tmp_path / name, names=["a", "b", "c", "d"])
        assert discreet.count(rows, epsilon=100).value == 401
        days = discreet.DateGrid("2024-01-01", "2024-01-09", "1 day")
        middle = discreet.median(tmp_path / name, "day", candidates=days, epsilon=100).value
        assert str(middle) == "2024-01-03"


@pytest.mark.parametrize("skip", [3, 4])
def test_rows_above_the_header_are_skipped_whatever_is_in_them(tmp_path: Path, skip: int) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Of last year,\nby city\n"])
    book.active["B2"] = "x\n\n"
    for i in range(5, 13):
        city, age = ("city", "age") if i == 5 else ("Bern", 5)
        book.active[f"A{i}"], book.active[f"B{i}"] = city, age
    book.save(tmp_path / "t.xlsx")
    data = discreet.scan_csv(tmp_path / "t.xlsx", skip=skip)
    counts = discreet.counts(data, "city", candidates=["Bern", "city"], epsilon=1000).value
    assert counts == {"Bern": 7, "city": 0}
    rows = discreet.scan_csv(tmp_path / "t.xlsx", skip=skip, names=["city"])
    assert discreet.count(rows, epsilon=1000).value == 8


def test_a_sheet_of_several_is_named(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["zq7"])
    book.create_sheet("b").append(["city"])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(
        UnreadableFile, match=r"the sheets 'Sheet', 'b'\. Say which one.*sheet=\"Sheet\""
    ):
        discreet.count(tmp_path / "t.xlsx", epsilon=1)
    with pytest.raises(UnreadableFile, match=r"no sheet 'c'\. Its sheets are 'Sheet', 'b'"):
        discreet.count(discreet.scan_csv(tmp_path / "t.xlsx", sheet="c"), epsilon=1)
    assert rows_of(tmp_path / "t.xlsx", "b") == [["city"]]


@pytest.mark.filterwarnings("ignore:multiline")
@pytest.mark.parametrize(
    "words", [{"decimal": ","}, {"encoding": "cp1252"}, {"delimiter": ";"}, {"quote": ""}, {"multiline": False}]
)  # fmt: skip
def test_words_of_text_are_none_of_a_workbook(tmp_path: Path, words: dict[str, Any]) -> None:
    file = write(tmp_path / "t.xlsx", "<row><c><v>1</v></c></row>")
    with pytest.raises(InvalidArgument, match=rf"^{next(iter(words))} is of a file of text"):
        discreet.count(discreet.scan_csv(file, **words), epsilon=1)


def test_a_sheet_is_none_of_a_file_of_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(InvalidArgument, match="sheet is of a workbook"):
        discreet.count(discreet.scan_csv(tmp_path / "t.csv", sheet="a"), epsilon=1)
    for wrong in ("", 5, "a" * 256):
        with pytest.raises(InvalidArgument, match="sheet must be the name"):
            discreet.scan_csv(tmp_path / "t.csv", sheet=wrong)  # type: ignore[arg-type]


# What is made to take a machine.

LETTERS = b"A" * (40 << 20)
ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'


def _sheet(rows: str, before: str = "") -> dict[str, str]:
    return {
        "xl/worksheets/s.xml": f'{before}<worksheet xmlns="{SPREADSHEET}"><sheetData>{rows}</sheetData></worksheet>'
    }


ATTACKS: dict[str, dict[str, str | bytes]] = {
    "a letter, shared": {"xl/shared.xml": b"<sst><si><t>" + LETTERS + b"</t></si></sst>"},
    "a letter, in a cell": {"xl/worksheets/s.xml": b"<worksheet><row><c t='str'><v>" + LETTERS},
    "a letter, in a tag": {"xl/worksheets/s.xml": b"<worksheet x='" + LETTERS},
    "zeros": {"xl/worksheets/s.xml": bytes(40 << 20)},
    "elements in elements": {"xl/worksheets/s.xml": b"<c>" * (1 << 20)},
    "empty texts": {"xl/shared.xml": b"<sst>" + b"<si/>" * (1 << 20)},
    "settings": {"xl/workbook.xml": b"<workbook>" + LETTERS},
    "entities": {**_sheet("<row><c t='str'><v>&b;</v></c></row>", ENTITIES)},
    "another document type": {**_sheet("", '<!DOCTYPE x SYSTEM "file:///etc/passwd">')},
    "a column that is none": {**_sheet("<row><c r='XFE1'><v>1</v></c></row>")},
    "columns that are none": {**_sheet("<row>" + "<c><v>1</v></c>" * 20_000 + "</row>")},
    "a row that is none": {**_sheet("<row r='1048577'/>")},
    "a row of letters": {**_sheet("<row r='x'/>")},
    "a row twice": {**_sheet("<row r='2'/><row r='2'/>")},
    "no end": {"xl/worksheets/s.xml": "<worksheet><sheetData>"},
    "no sheet": {"xl/_rels/workbook.xml.rels": relations(("worksheet", "gone.xml"))},
    "no relation": {"xl/_rels/workbook.xml.rels": relations(("theme", "theme.xml"))},
    "no workbook": {"_rels/.rels": relations(("officeDocument", "word/document.xml"))},
}


@pytest.mark.parametrize("names", [None, ["a"]])
@pytest.mark.parametrize("attack", ATTACKS)
def test_what_is_made_to_take_a_machine_is_refused(
    attack: str, names: list[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbooks, "MOST_RATIO", 10**9 if "empty" in attack else 1000)
    monkeypatch.setattr(workbooks, "MOST_SHARED_TEXTS", 8 << 20)
    file = write(tmp_path / "t.xlsx", parts=ATTACKS[attack])
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableFile, match="damaged"):
            discreet.count(discreet.scan_csv(file, names=names), epsilon=1)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_limits_hold_where_a_ratio_does_not_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbooks, "MOST_RATIO", 10**9)
    monkeypatch.setattr(workbooks, "LONGEST_TEXT", 1 << 20)
    for attack in ("a letter, in a tag", "elements in elements", "zeros"):
        file = write(tmp_path / "t.xlsx", parts=ATTACKS[attack])
        with pytest.raises(DamagedFile):
            rows_of(file)
    file = write(tmp_path / "t.xlsx", parts=ATTACKS["a letter, in a cell"])
    tracemalloc.start()
    with pytest.raises(DamagedFile):
        rows_of(file)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 16 << 20


def test_a_text_that_is_too_long_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbooks, "LONGEST_TEXT", 1000)
    rows = "".join(f"<row><c t='str'><v>{'a' * n}</v></c></row>" for n in (1000, 1001))
    assert rows_of(write(tmp_path / "t.xlsx", rows)) == [["a" * 1000], ["\ufffd"]]


def test_two_far_cells_are_two_rows(tmp_path: Path) -> None:
    rows = "<row r='1'><c r='A1'><v>1</v></c></row><row r='1048576'><c r='XFD1048576'><v>2</v></c></row>"
    file = write(tmp_path / "t.xlsx", rows)
    tracemalloc.start()
    assert [len(row) for row in rows_of(file)] == [1, 16384]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 16 << 20


def test_damage_is_told_without_a_cell(tmp_path: Path) -> None:
    rows = "".join(f"<row><c t='str'><v>zq7{i * 7919}</v></c></row>" for i in range(20_000))
    content = write(tmp_path / "t.xlsx", rows).read_bytes()
    at = content.index(b"xl/worksheets/s.xml") + 2000
    for damage in (content[:-20], content[:at] + b"\xff" * 300 + content[at + 300 :]):
        (tmp_path / "t.xlsx").write_bytes(damage)
        for names in (None, ["a"]):
            with pytest.raises(UnreadableFile, match="damaged") as told:
                discreet.count(discreet.scan_csv(tmp_path / "t.xlsx", names=names), epsilon=1)
            assert "zq7" not in repr(told.value)


@pytest.mark.parametrize(("depth", "is_read"), [(61, True), (62, False)])
def test_elements_are_nested_up_to_a_depth(tmp_path: Path, depth: int, is_read: bool) -> None:
    row = "<row><c><v>1</v></c></row>"
    sheet = f"<worksheet>{'<x>' * (depth - 1)}{row}{'</x>' * (depth - 1)}</worksheet>"
    file = write(tmp_path / "t.xlsx", parts={"xl/worksheets/s.xml": sheet})
    if is_read:
        assert rows_of(file) == [["1"]]
    else:
        with pytest.raises(DamagedFile):
            rows_of(file)
