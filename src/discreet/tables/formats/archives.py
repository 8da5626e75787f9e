"""Zip archives of one file of text: which file it is."""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from ...base.error_boundary import replacing
from ...errors import UnreadableFile

_T = TypeVar("_T")


class DamagedFile(Exception):
    """The packed bytes end early, are no such packing, or go beyond a limit."""


def undamaged(work: Callable[[], _T], failure: Exception) -> _T:
    """Return the result of work on packed bytes; raise a failure in place of its error, which may quote them.

    Args:
        work: what unpackers and parsers do. They raise errors of many kinds for damaged bytes.
        failure: the error in place of theirs.
    """
    return replacing(work, lambda _: failure, (MemoryError,))


_ENCRYPTED = 1
"""The bit of a member with a password."""


_DOCUMENTS = {
    "xl/workbook.bin": "a binary workbook (.xlsb). Save it as .xlsx",
    "content.xml": "a document of OpenOffice (.ods). Save its sheet as .xlsx",
    "word/document.xml": "a document of Word. Save the table in it as .xlsx",
    "ppt/presentation.xml": "a presentation. Save the table in it as .xlsx",
    "Index/Document.iwa": "a document of Numbers or Pages. Export it as .xlsx",
}
"""Archives that are documents, by the name of a part."""


def refuse_document(archive: zipfile.ZipFile, file: Path) -> None:
    """Raise for an archive that is a document without a table that is read.

    Raises:
        UnreadableFile: with what it is.
    """
    names = {*archive.namelist()}
    words = next((words for name, words in _DOCUMENTS.items() if name in names), None)
    if words is not None:
        raise UnreadableFile(f"{file} is {words}")


@contextmanager
def open_archive(file: Path, stream: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """Yield the archive in an open file.

    Raises:
        UnreadableFile: if it is damaged.
    """
    failure = UnreadableFile(f"{file} is a zip archive that is damaged, or ends early")
    with undamaged(partial(zipfile.ZipFile, stream), failure) as archive:
        refuse_document(archive, file)
        yield archive


def only_file(archive: zipfile.ZipFile, file: Path) -> zipfile.ZipInfo:
    """Return the one file in an archive; folders are none, nor are files that macOS adds.

    Raises:
        UnreadableFile: if there is another number of files, or they have a password.
    """
    members = [
        one
        for one in archive.infolist()
        # `is_dir` of Python 3.11 fails for a member without a name.
        if not one.filename.endswith("/") and not one.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise UnreadableFile(
            f"{file} is a zip archive of {len(members)} files. Unpack it, and give one of them, or "
            f"their folder: unzip {file} -d FOLDER"
        )
    if members[0].flag_bits & _ENCRYPTED:
        raise UnreadableFile(f"{file} has a password. Unpack it first: unzip {file}")
    return members[0]


@contextmanager
def open_only_file(archive: zipfile.ZipFile, file: Path) -> Iterator[BinaryIO]:
    """Yield the bytes of the one file in an archive."""
    member = only_file(archive, file)
    failure = UnreadableFile(
        f"{file} is packed in a way that is not read. Unpack it first: unzip {file}"
    )
    with undamaged(partial(archive.open, member), failure) as stream:
        yield cast("BinaryIO", stream)
