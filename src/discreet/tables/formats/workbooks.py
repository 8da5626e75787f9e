"""Workbooks (.xlsx, .xlsm): a sheet as the bytes of a CSV file in UTF-8, row by row.

The text of a cell depends on that cell and its style alone: docs/how-to/files.md has the rules. A
workbook is a zip archive of XML, and both can be made to unpack to more than a machine holds. So parts have limits,
no document type is read, and what a sheet needs at once are its shared texts and a row.

Side channels: memory depends on the shared texts, up to `MOST_SHARED_TEXTS`.
"""

import posixpath
import re
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from xml.parsers import expat

from ...base.doors import fix
from ...errors import UnreadableFile
from .archives import DamagedFile, undamaged
from .date_texts import serial_text

CONTENT = "[Content_Types].xml"
"""The part that every workbook has."""

MOST_UNPACKED = 4 << 30
"""Bytes of a part."""
MOST_RATIO = 1000
"""A part has at most so many bytes for each of its packed ones."""
MOST_SHARED_TEXTS = 128 << 20
"""Bytes of memory of all shared texts."""
MOST_COLUMNS, MOST_ROWS = 1 << 14, 1 << 20
LONGEST_TEXT = 1 << 24
"""Characters of a text; a longer one is unreadable."""

_MOST_DEPTH, _LONGEST_TAG, _MOST_SMALL = 64, 1 << 20, 64 << 20
_READ_BYTES, _BLOCK_CHARACTERS = 1 << 16, 1 << 20
_UNREADABLE = "\ufffd"
_FIGURES = "0123456789"
_TO_QUOTE = re.compile('[",\r\n]').search
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_TIMES, _ELAPSED = (*range(18, 22), 45, 47), 46
_DATES = (*range(14, 18), 22, *range(27, 37), *range(50, 59))
"""Numbers of formats that every workbook has."""


_T = TypeVar("_T")


class _Part(NamedTuple):
    """A part that another one names.

    Attributes:
        kind: the end of the type of their relation.
        path: where it is in the archive.
    """

    kind: str
    path: str


class Sheet(NamedTuple):
    """A sheet of a workbook.

    Attributes:
        name: its name.
        is_hidden: whether it is shown only to those who know of it.
        path: where it is in the archive.
    """

    name: str
    is_hidden: bool
    path: str


class _Workbook(NamedTuple):
    """The sheets of a workbook, and its parts.

    Attributes:
        sheets: the sheets of cells.
        parts: the parts by their kinds.
        is_1904: whether its days count from 1904.
    """

    sheets: list[Sheet]
    parts: Mapping[str, str]
    is_1904: bool


def is_workbook(archive: zipfile.ZipFile) -> bool:
    """Return whether an archive is a workbook, or a document of its kin."""
    return CONTENT in archive.namelist()


def sheet_blocks(
    archive: zipfile.ZipFile, file: Path, sheet: str | None, skip: int = 0
) -> Iterator[bytes]:
    """Return the bytes of a sheet as CSV: the sheet of a name, or the only one that is not hidden.

    Each row begins on the line of its number, as long as no cell above it has several lines.

    Args:
        archive: the workbook.
        file: its path.
        sheet: the name of the sheet, if there are several.
        skip: how many rows are left out, so that each is an empty line.

    Raises:
        UnreadableFile: if it is not known which sheet is meant, or the workbook is damaged.
    """
    book, path = check_sheet(archive, file, sheet)

    def rows() -> _Rows:
        texts = _shared_texts(archive, book)
        return _Rows(texts, _styles(archive, book), is_1904=book.is_1904, skip=skip)

    return _blocks(archive, path, _from_book(rows, file))


def check_sheet(archive: zipfile.ZipFile, file: Path, sheet: str | None) -> tuple[_Workbook, str]:
    """Return a workbook and the path of the sheet of a name, or of the only one that is not hidden.

    Raises:
        UnreadableFile: if it is not known which sheet is meant, or the workbook is damaged.
    """
    book = _from_book(partial(_read_book, archive), file)
    path = _chosen(book, file, sheet).path
    _from_book(partial(_check_part, archive, path, MOST_UNPACKED), file)
    return book, path


def _from_book(work: Callable[[], _T], file: Path) -> _T:
    """Return the result of work on a workbook; raise if that is damaged, without a word of it."""
    failure = UnreadableFile(
        f"{file} is a workbook that is damaged, has a password, or unpacks to more than its size "
        "allows. Open it and save it again as .xlsx, or save its sheet as CSV UTF-8"
    )
    return undamaged(work, failure)


def _chosen(book: _Workbook, file: Path, sheet: str | None) -> Sheet:
    """Return the sheet of a name, or the only one that is not hidden."""
    visible = [one for one in book.sheets if not one.is_hidden]
    candidates = [one for one in book.sheets if one.name == sheet] if sheet is not None else visible
    if len(candidates) == 1:
        return candidates[0]
    names = ", ".join(repr(one.name) for one in visible)
    if sheet is not None:
        raise UnreadableFile(f"{file} has no sheet {sheet!r}. Its sheets are {names}")
    if not visible:
        raise UnreadableFile(
            f"{file} has no sheet that is shown. Name one, with {fix('a sheet', sheet='NAME')}"
        )
    raise UnreadableFile(
        f"{file} has the sheets {names}. Say which one: {fix('a sheet', sheet=visible[0].name)}"
    )


def _read_book(archive: zipfile.ZipFile) -> _Workbook:
    """Return the contents of the part that names all others."""
    whole = next(one for one in _relations(archive, "").values() if one.kind == "officeDocument")
    relations = _relations(archive, whole.path)
    sheets, is_1904 = list[Sheet](), False

    def settings(attributes: Mapping[str, str]) -> None:
        nonlocal is_1904
        is_1904 = attributes.get("date1904", "0") in ("1", "true")

    def sheet(attributes: Mapping[str, str]) -> None:
        part = relations[next(id for name, id in attributes.items() if name.endswith(":id"))]
        if part.kind == "worksheet":
            is_hidden = attributes.get("state", "visible") != "visible"
            sheets.append(Sheet(attributes["name"], is_hidden, part.path))

    _parse_small(archive, whole.path, workbookPr=settings, sheet=sheet)
    if not sheets:
        raise DamagedFile
    return _Workbook(sheets, {one.kind: one.path for one in relations.values()}, is_1904)


def _relations(archive: zipfile.ZipFile, path: str) -> dict[str, _Part]:
    """Return the parts that a part names, by their ids there."""
    folder, name = posixpath.split(path)
    parts = dict[str, _Part]()

    def relation(attributes: Mapping[str, str]) -> None:
        if attributes.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, attributes["Target"]))
            parts[attributes["Id"]] = _Part(attributes["Type"].rpartition("/")[2], target[1:])

    relations = posixpath.join(folder, "_rels", f"{name}.rels")
    _parse_small(archive, relations, Relationship=relation)
    return parts


def _styles(archive: zipfile.ZipFile, book: _Workbook) -> dict[str, str]:
    """Return the meaning of numbers in a style of cells, "date" or "time", by the style's number."""
    formats, styles, is_of_cells = dict[str, str](), list[str](), False

    def number_format(attributes: Mapping[str, str]) -> None:
        formats[attributes["numFmtId"]] = format_meaning(attributes["formatCode"])

    def others(_: object) -> None:
        nonlocal is_of_cells
        is_of_cells = False

    def of_cells(_: object) -> None:
        nonlocal is_of_cells
        is_of_cells = True

    def style(attributes: Mapping[str, str]) -> None:
        if is_of_cells:
            number = attributes.get("numFmtId", "0")
            styles.append(formats[number] if number in formats else _built_in(number))

    starts = {"numFmt": number_format, "cellXfs": of_cells, "cellStyles": others, "dxfs": others}
    if "styles" in book.parts:
        _parse_small(archive, book.parts["styles"], **starts, xf=style)
    return {str(i): meaning for i, meaning in enumerate(styles) if meaning}


def _built_in(number: str) -> str:
    if number.isascii() and number.isdigit():
        return "date" if int(number) in _DATES else "time" if int(number) in _TIMES else ""
    return ""


def format_meaning(code: str) -> str:
    """Return the meaning of a number in a format: "date", "time", or "" for a number, as elapsed hours are."""
    first = re.sub(r'"[^"]*"?|\\.|_.|\*.', "", code).partition(";")[0].lower()
    if re.search(r"\[(h+|m+|s+)\]", first):
        return ""
    letters = {*re.sub(r"\[[^\]]*\]?", "", first)}
    if letters & {*"dy"} or ("m" in letters and not letters & {*"hs"}):
        return "date"
    return "time" if letters & {*"hs"} else ""


_Actions = Mapping[str, Callable[..., None]]
"""What to do at elements, by their names."""


def _by_local_name(actions: _Actions, name: str) -> Callable[..., None] | None:
    """Return the action at an element of any namespace."""
    return actions.get(name.rpartition(":")[2])


def _parser(starts: _Actions, ends: _Actions) -> Any:
    """Return a parser of XML that acts at the starts and ends of elements, and refuses document types and depth."""
    parser, depth = expat.ParserCreate(), 0
    parser.buffer_text, parser.buffer_size = True, _READ_BYTES
    at_start, at_end = starts.get, ends.get

    def begin(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _MOST_DEPTH:
            raise DamagedFile
        action = at_start(name) or (_by_local_name(starts, name) if ":" in name else None)
        if action is not None:
            action(attributes)

    def finish(name: str) -> None:
        nonlocal depth
        depth -= 1
        action = at_end(name) or (_by_local_name(ends, name) if ":" in name else None)
        if action is not None:
            action()

    def refuse(*_: object) -> None:
        raise DamagedFile

    parser.StartElementHandler, parser.EndElementHandler = begin, finish
    parser.StartDoctypeDeclHandler = refuse
    return parser


def _check_part(archive: zipfile.ZipFile, path: str, most: int) -> None:
    """Raise for a part that is not there, or unpacks to more than it may."""
    part, size = archive.getinfo(path), archive.start_dir  # all parts are before the directory
    packed = max(min(part.compress_size, size), 1)
    if part.file_size > min(most, MOST_RATIO * packed) or part.flag_bits & 1:
        raise DamagedFile


def _feed(archive: zipfile.ZipFile, path: str, parser: Any, most: int) -> Iterator[None]:
    """Parse a part, and yield after each block."""
    _check_part(archive, path, most)
    fed = 0
    with archive.open(path) as stream:
        while block := stream.read(_READ_BYTES):
            parser.Parse(block, False)
            fed += len(block)
            if fed - parser.CurrentByteIndex > _LONGEST_TAG:
                raise DamagedFile
            yield
    parser.Parse(b"", True)
    yield


def _parse_small(archive: zipfile.ZipFile, path: str, **starts: Callable[..., None]) -> None:
    for _ in _feed(archive, path, _parser(starts, {}), _MOST_SMALL):
        pass


def _plain_text(text: str) -> str:
    """Return a text, in which signs that XML cannot hold are spelled as _x000D_."""
    spelled = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return spelled.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _quoted(text: str) -> str:
    """Return a text as a cell of CSV."""
    return '"' + text.replace('"', '""') + '"'


class _Texts:
    """The text of an element: its runs `t`, without those of how it is read aloud."""

    def __init__(self) -> None:
        self._pieces, self.size, self._aloud = list[str](), 0, 0
        self._parser: Any = None

    def parser(self, starts: _Actions, ends: _Actions) -> Any:
        """Return a parser that collects texts, and acts at other elements."""
        own_starts = {"t": self.begin, "rPh": self._begin_aloud}
        own_ends = {"t": self.end, "rPh": self._end_aloud}
        self._parser = _parser({**own_starts, **starts}, {**own_ends, **ends})
        return self._parser

    def _begin_aloud(self, _: object) -> None:
        self._aloud += 1

    def _end_aloud(self) -> None:
        self._aloud -= 1

    def begin(self, _: object) -> None:
        """Begin a run of text."""
        if not self._aloud:
            self._parser.CharacterDataHandler = self._add

    def end(self) -> None:
        """End a run of text."""
        self._parser.CharacterDataHandler = None

    def _add(self, text: str) -> None:
        self.size += len(text)
        if self.size <= LONGEST_TEXT:
            self._pieces.append(text)

    def take(self) -> str:
        """Return the text as a cell of CSV, and begin the next one."""
        text = "".join(self._pieces) if self.size <= LONGEST_TEXT else _UNREADABLE
        self._pieces, self.size = [], 0
        if "_x" in text:
            text = _plain_text(text)
        return _quoted(text) if _TO_QUOTE(text) else text


def _shared_texts(archive: zipfile.ZipFile, book: _Workbook) -> list[str]:
    """Return the texts that cells share, as cells of CSV."""
    texts_of_cells, memory = list[str](), 0
    if "sharedStrings" not in book.parts:
        return texts_of_cells

    def end() -> None:
        nonlocal memory
        texts_of_cells.append(texts.take())
        memory += sys.getsizeof(texts_of_cells[-1]) + 8
        if memory > MOST_SHARED_TEXTS:
            raise DamagedFile

    texts = _Texts()
    parser = texts.parser({}, {"si": end})
    for _ in _feed(archive, book.parts["sharedStrings"], parser, MOST_UNPACKED):
        pass
    return texts_of_cells


class _Rows:
    """The rows of a sheet as lines of CSV: those that the parser has read, and that were not taken yet."""

    def __init__(
        self, shared: list[str], styles: Mapping[str, str], *, is_1904: bool, skip: int
    ) -> None:
        self._shared, self._styles, self._is_1904, self._skip = shared, styles, is_1904, skip
        self._texts = texts = _Texts()
        starts = {"c": self._begin_cell, "v": texts.begin, "row": self._begin_row}
        ends = {"c": self._end_cell, "v": texts.end, "row": self._end_row}
        self.parser = texts.parser(starts, ends)
        self._places: dict[str, int] = {}
        self.lines, self.size, self._row, self._place = list[str](), 0, 0, 0
        self._cells, self._kind, self._style, self._number = dict[int, str](), "n", "0", ""

    def _begin_cell(self, attributes: Mapping[str, str]) -> None:
        place = attributes.get("r")
        if place is None:
            self._place += 1
        else:
            letters = place.removesuffix(self._number)
            self._place = self._places.get(letters) or self._column(place)
        if self._place > MOST_COLUMNS:
            raise DamagedFile
        self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "0")

    def _column(self, place: str) -> int:
        """Return the number of the column in a place such as B7."""
        letters, number = place.rstrip(_FIGURES), 0
        if not (
            letters.isascii() and letters.isalpha() and letters.isupper() and len(letters) <= 3
        ):
            raise DamagedFile
        for letter in letters:
            number = 26 * number + ord(letter) - 64
        self._places[letters] = number
        return number

    def _begin_row(self, attributes: Mapping[str, str]) -> None:
        """Begin a row; those that are left out before it are empty lines."""
        before = self._row
        self._number = attributes.get("r", str(before + 1))
        self._row = int(self._number)
        if not before < self._row <= MOST_ROWS:
            raise DamagedFile
        if self._row > before + 1:
            self.lines.append("\n" * (self._row - before - 1))
        self._place, self._cells = 0, {}

    def _end_cell(self) -> None:
        text = self._texts.take() if self._texts.size else ""
        if self._kind not in _OF_TEXTS and text:
            text = self._text(text)
        if text:
            self._cells[self._place] = text

    def _text(self, value: str) -> str:
        """Return the text of a cell that is no text itself, as a cell of CSV."""
        kind = self._kind
        if kind == "n":
            meaning = self._styles.get(self._style)
            return serial_text(value, meaning, is_1904=self._is_1904) if meaning else value.strip()
        if kind == "s":
            known = value.isascii() and value.isdigit() and len(value) < 10
            return (
                self._shared[int(value)]
                if known and int(value) < len(self._shared)
                else _UNREADABLE
            )
        if kind == "b":
            return {"1": "true", "0": "false"}.get(value.strip(), _UNREADABLE)
        return _UNREADABLE  # an error, such as #DIV/0!

    def _end_row(self) -> None:
        cells = self._cells if self._row > self._skip else {}
        if len(cells) == max(cells, default=0):  # in their order, in most files
            line = ",".join(cells[i] for i in range(1, len(cells) + 1))
        else:
            line = ",".join([cells.get(i, "") for i in range(1, max(cells) + 1)])
        self.lines.append(f"{line}\n")
        self.size += len(line)


_OF_TEXTS = ("str", "inlineStr", "d")
"""The kinds of cells whose values are texts themselves."""


def _blocks(archive: zipfile.ZipFile, path: str, rows: _Rows) -> Iterator[bytes]:
    """Yield the lines of a sheet."""
    steps = _feed(archive, path, rows.parser, MOST_UNPACKED)
    is_over = False
    while not is_over:
        is_over = undamaged(partial(next, steps, rows), DamagedFile()) is rows
        if rows.size > _BLOCK_CHARACTERS or is_over:
            yield "".join(rows.lines).encode()
            rows.lines, rows.size = [], 0
