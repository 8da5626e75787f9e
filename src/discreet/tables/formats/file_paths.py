"""Files: which ones paths stand for, and of which format each of them is, by its first bytes or its name.

The names of files are public.

Tables of Delta, Iceberg, Hudi and Paimon have files of rows that were removed or rewritten. Only their logs say
which rows are theirs, and a library of their own reads those. So a file in the folder of such a table is refused,
however it was named. What no folder tells is a data file outside of its table's folder.
"""

import glob
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import unquote

from ...base.arguments import file_path
from ...base.doors import fix
from ...errors import InvalidArgument, UnreadableFile
from ..engines.engine_errors import quietly
from .byte_blocks import check_bytes, name_in_zip
from .first_bytes import PACKED, SIGNATURE, refuse_other_format, told_format
from .text_form import CsvFile, TextForm
from .text_records import (
    FileState,
    file_state,
)

_PATHS = (str, os.PathLike, CsvFile)

One = str | os.PathLike[str] | CsvFile

FileNames = One | Sequence[One]

KINDS = {
    ".csv": "CSV",
    ".tsv": "CSV",
    ".txt": "CSV",
    ".json": "JSON",
    ".tab": "CSV",
    ".psv": "CSV",
    ".ndjson": "JSON",
    ".jsonl": "JSON",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
    ".xlsx": "Excel",
    ".xlsm": "Excel",
}
"""The format of a file, by its extension."""

PACKINGS = (".gz", ".zst", ".bz2", ".xz", ".zip")
"""The endings of packed files of text."""

FILE_FORMATS = (
    ".csv, .tsv, .json, .jsonl (also packed, as in .csv.gz), .xlsx, .parquet, .arrow and .feather"
)

_CALLS_OF_OTHERS = {
    ".ods": "pandas.read_excel(path)",
    ".dta": "pandas.read_stata(path)",
    ".sav": "pandas.read_spss(path)",
    **dict.fromkeys((".sas7bdat", ".xpt"), "pandas.read_sas(path)"),
}
"""What reads a file of an ending to memory, in Python."""

_HINTS = {
    ".geojson": " Of JSON an array of objects is read: jq '[.features[].properties]' FILE > rows.json",
}  # fmt: skip
"""What to do with a file of an ending that is not read."""


def file_format(path: Path) -> str:
    """Return the format of a file by its extension; an empty text for any other."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    is_packed = bool(suffixes) and suffixes[-1] in PACKINGS
    ending = (suffixes[:-1] if is_packed else suffixes)[-1:]
    kind = KINDS.get(ending[0], "") if ending else ""
    return "" if is_packed and kind not in ("CSV", "JSON") else kind


def names_files(data: object, *, column: bool = True) -> bool:
    """Return whether data are a path, or a list of paths.

    A text alone is a path, and so is each in a list with a path of pathlib or a `CsvFile`. A list of texts alone
    may be the data, which no error may quote: they are paths if all end as files do, and a column is named.

    Args:
        data: whatever was given for a table.
        column: whether a column of it is named, or its rows are counted.
    """
    if not isinstance(data, list | tuple):
        return isinstance(data, _PATHS)
    if not are_paths(data):
        return False
    texts = [one for one in data if isinstance(one, str)]
    return len(texts) < len(data) or (column and all(map(_ends_as_file, texts)))


def are_paths(data: Sequence[object]) -> bool:
    """Return whether all in a list may be paths, by their types."""
    return bool(data) and all(isinstance(one, _PATHS) for one in data)


def refuse_mixture(data: object) -> None:
    """Raise for a list of which only some are files: it is not known whether they, or their rows, are counted.

    Texts that all end as files do may be values, too. If not all of these files are there, no error names one.

    Raises:
        InvalidArgument: without a word of what is in the list.
    """
    if not isinstance(data, list | tuple) or (names_files(data) and _are_there(data)):
        return
    if any(isinstance(one, os.PathLike | CsvFile) or _ends_as_file(one) for one in data):
        raise InvalidArgument(
            "some of the list end as files do, and not all are files that are there. If all are files or folders, "
            "give each as pathlib.Path(path). If they are values, give a dict, {column: values}"
        )


def _are_there(data: Sequence[object]) -> bool:
    """Return whether texts are paths or patterns of files that are there; with a path among them all are paths."""
    if not all(isinstance(one, str) for one in data):
        return True
    paths = [os.path.expanduser(str(one)) for one in data]
    return all(
        "\0" not in path and (os.path.lexists(path) or any(glob.iglob(path, recursive=True)))
        for path in paths
    )


def _ends_as_file(one: object) -> bool:
    return isinstance(one, str) and bool(file_format(Path(one)))


def may_span(data: object) -> bool:
    """Return whether a record of some files may span several lines, as their names and forms say."""
    return names_files(data) and any(map(_may_span, path_list(cast(FileNames, data))))


def may_have_comments(data: object) -> bool:
    """Return whether some files have a sign that begins comments, as their forms say."""
    files = path_list(cast(FileNames, data)) if names_files(data) else []
    return any(isinstance(one, CsvFile) and one.form.comment is not None for one in files)


def _may_span(one: "One") -> bool:
    if isinstance(one, CsvFile):
        return one.form.may_span
    path = Path(os.path.abspath(os.path.expanduser(one)))
    is_folder = quietly(path.is_dir, no_access(path))
    return any(file_format(file) == "CSV" for file in (_of_folder(path) if is_folder else [path]))


def path_list(data: FileNames) -> list[One]:
    """Return a path, or several, as a list."""
    return [data] if isinstance(data, str | os.PathLike | CsvFile) else list(data)


def path_in_words(several: FileNames) -> str:
    """Return the first path, and whether there are others, for messages."""
    paths = path_list(several)
    first = paths[0].path if isinstance(paths[0], CsvFile) else paths[0]
    return str(Path(os.path.abspath(first))) + (" and others" if len(paths) > 1 else "")


@dataclass(frozen=True, slots=True)
class File:
    """A file of those that are one table.

    Attributes:
        path: its path.
        form: its form, if that was given.
        partition: the columns that its folders name.
        state: its state when it was looked up, with which every pass over its text begins.
    """

    path: Path
    form: TextForm | None
    partition: Mapping[str, str | None]
    state: FileState | None


def listed_files(data: FileNames) -> list[File]:
    """Return the files that paths stand for, with their forms and partition columns.

    Raises:
        UnreadableFile: if one is there twice, by a link or another spelling: a record would count twice, and its
            answers tell twice as much about it. So it would in a file that a table of Delta or its like rewrote.
    """
    files, first_paths = _all_files(data), dict[object, Path]()
    refuse_lakes(file.path for file in files)
    for file in files if len(files) > 1 else ():
        try:
            status = file.path.stat()
        except OSError:  # it is named when it is opened
            continue
        first = first_paths.setdefault((status.st_dev, status.st_ino), file.path)
        if first is not file.path:
            raise UnreadableFile(
                f"{first} and {file.path} are the same file, so its records would count twice. "
                "Name it once"
            )
    return files


def files_of(data: FileNames) -> list[Path]:
    """Return the files that paths stand for; the names of files are public.

    Raises:
        UnreadableFile: if no file matches a pattern, or a folder cannot be looked at.
    """
    return [file.path for file in _all_files(data)]


def _all_files(data: FileNames) -> list[File]:
    return [file for one in path_list(data) for file in files_of_path(one)]


def files_of_path(one: One) -> list[File]:
    """Return the files that a path stands for."""
    form = one.form if isinstance(one, CsvFile) else None
    text = str(one.path if isinstance(one, CsvFile) else one)  # as text: it may be no path at all
    _refuse_addresses(text)
    file_path(text, "a path")
    # Not resolve(), which follows links.
    file = Path(os.path.abspath(os.path.expanduser(text)))
    if _is_pattern(file):
        paths = sorted(Path(name) for name in glob.glob(str(file), recursive=True))
        if not paths:
            raise UnreadableFile(f"no file matches {file}")
    elif quietly(file.is_dir, no_access(file)):
        return [
            File(path, form, _partition(path.relative_to(file)), file_state(path))
            for path in _of_folder(file)
        ]
    else:
        paths = [file]
    return [File(path, form, {}, file_state(path)) for path in paths]


def _partition(path: Path) -> dict[str, str | None]:
    """Return the partition columns of a path in Hive's layout."""
    pairs = [part.partition("=") for part in path.parent.parts]
    values = {unquote(name): unquote(value) for name, equals, value in pairs if equals}
    return {name: None if v == "__HIVE_DEFAULT_PARTITION__" else v for name, v in values.items()}


def _refuse_addresses(text: str) -> None:
    """Raise for addresses and queries, with the call to make instead."""
    if "://" in text[:10]:
        raise UnreadableFile(
            f"{text!r} is an address: fetch the file first, or let a connection of yours read it, "
            f"duckdb.read_parquet({text!r})"
        )
    if text.strip().partition(" ")[0].upper() in ("SELECT", "FROM", "WITH"):
        raise UnreadableFile("a query needs a connection: discreet.scan_query(query, connection)")


def _is_pattern(file: Path) -> bool:
    """Return whether a path has wildcards and is no file itself."""
    return any(c in "*?[" for c in str(file)) and not os.path.lexists(file)


def no_access(file: Path) -> UnreadableFile:
    """Return the error for a file that cannot be opened."""
    return UnreadableFile(f"{file} cannot be opened: permission denied, or its name is too long")


def _of_folder(folder: Path) -> list[Path]:
    """Return the files in a folder and below, but hidden ones and those with names that begin with `_`."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    visible = [
        path
        for path in files
        if not any(part[0] in "._" for part in path.relative_to(folder).parts)
    ]
    if not visible:
        refuse_lakes([folder / "*"])  # one without rows has a log and no files
        raise UnreadableFile(
            f"{folder} is a directory without files. Accepted in it: {FILE_FORMATS}"
        )
    return visible


def format_of(one: File) -> str:
    """Return the format of a file: by its first bytes, or else by its ending. A workbook is read as CSV is.

    Raises:
        UnreadableFile: if it is none that is read.
    """
    return "CSV" if one.form is not None else _kind_by_start(one.path, start_of(one.path))


def kind_and_start(one: File) -> tuple[str, bytes]:
    """Return the format of a file and its first bytes; raise if they are the signature of another one."""
    start = start_of(one.path)
    kind = "CSV" if one.form is not None else _kind_by_start(one.path, start)
    refuse_other_format(one.path, start, PACKED if kind in ("CSV", "JSON") else (kind,))
    return kind, start


def _kind_by_start(file: Path, start: bytes) -> str:
    """Return the format of a file of which no form is given."""
    signature = told_format(start)
    if signature is not None and signature.kind in ("Parquet", "Arrow"):
        return signature.kind
    kind = file_format(file)
    if signature is not None and signature.kind == "zip":
        name = name_in_zip(file)
        kind = "CSV" if name is None else file_format(Path(name))
    elif kind not in ("CSV", "JSON"):
        refuse_other_format(file, start, (kind, *PACKED))
        check_bytes(file, TextForm())  # what is packed says what it is, too
    if kind in ("", "Excel"):
        raise UnreadableFile(
            f"{file} is not one of {FILE_FORMATS}, by its bytes and its name.{_hint(file)}"
        )
    return kind


def _hint(path: Path) -> str:
    """Return the advice for a file of an ending that is not read."""
    ending = path.suffix.lower()
    if ending in _CALLS_OF_OTHERS:
        return f" {fix('a table', table=_CALLS_OF_OTHERS[ending])}"
    return (
        _HINTS.get(ending)
        or f" If it is CSV, name it .csv, or say its form: {fix('the form of a file')}"
    )


def start_of(file: Path) -> bytes:
    """Return the first bytes of a regular file."""
    return quietly(_read_start, no_access(file), file)


def _read_start(file: Path) -> bytes:
    if file.is_dir():
        raise UnreadableFile(f"{file} is a directory. Accepted: one file, {FILE_FORMATS}")
    if not file.exists():
        raise UnreadableFile(f"{file} does not exist")
    if not file.is_file():
        raise UnreadableFile(f"{file} is not a regular file. Accepted: {FILE_FORMATS}")
    with file.open("rb") as stream:
        start = stream.read(SIGNATURE)
    if not start:
        raise UnreadableFile(f"{file} is empty: not even a header line or a schema is there")
    return start


class _Format(NamedTuple):
    name: str
    is_table: Callable[[str], bool]
    advice: str


def _has(*names: str) -> Callable[[str], bool]:
    """Return whether all of these are in a folder, which may have wildcards."""

    def is_table(folder: str) -> bool:
        return all(
            os.path.isdir(os.path.join(folder, name.partition("/")[0]))
            and ("/" not in name or bool(glob.glob(os.path.join(glob.escape(folder), name))))
            for name in names
        )

    return is_table


_FORMATS = (
    _Format("a Delta table", _has("_delta_log"), "give deltalake.DeltaTable({folder!r})"),
    _Format(
        "an Iceberg table",
        _has("data", "metadata/*.metadata.json"),
        "give what pyiceberg reads: table.scan().to_arrow()",
    ),
    _Format(
        "a Hudi table",
        _has(".hoodie"),
        "give what hudi reads: pyarrow.Table.from_batches("
        "HudiTableBuilder.from_base_uri({folder!r}).build().read_snapshot())",
    ),
    _Format(
        "a Paimon table",
        _has("schema/schema-*", "snapshot/*"),
        "give what pypaimon reads: table_read.to_arrow(splits)",
    ),
)


def refuse_lakes(files: Iterable[Path]) -> None:
    """Raise if a file, or the target of its link, is in the folder of a table that a format governs, or below it.

    Raises:
        UnreadableFile: with the folder, and the object to give. The names of files are public.

    Side channels: time depends on the number of files and folders.
    """
    formats, real = dict[str, _Format | None](), dict[str, str]()
    for file in files:
        path = str(file)
        folder = os.path.dirname(path)
        if folder not in real:
            real[folder] = os.path.realpath(folder)
        targets = {folder, real[folder]}
        if os.path.islink(path):
            targets.add(os.path.dirname(os.path.realpath(path)))
        for target in targets:
            _refuse_lake(file, target, formats)


def _refuse_lake(file: Path, folder: str, formats: dict[str, "_Format | None"]) -> None:
    """Raise if a folder, or one above it, is that of such a table; the answers are remembered by folder."""
    while folder not in formats:
        formats[folder] = next((one for one in _FORMATS if one.is_table(folder)), None)
        if formats[folder] is not None or os.path.dirname(folder) == folder:
            break
        folder = os.path.dirname(folder)
    lake = formats[folder]
    if lake is not None:
        raise UnreadableFile(
            f"{file} is in {folder}, {lake.name}: its files hold rows that were removed or "
            "rewritten, and would count. To ask about the table, "
            f"{fix('rows of now', give=lake.advice.format(folder=folder))}"
        )
