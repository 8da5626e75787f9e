"""Zip archives of one file of text: which file it is."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from ...errors import UnreadableFile


class DamagedFile(Exception):
    """What is packed ends early, is no such packing, or goes beyond a limit."""


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
        raise UnreadableFile("{file} is {words}", file=file, words=words)


@contextmanager
def open_archive(file: Path, stream: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """Yield the archive in an open file.

    Raises:
        UnreadableFile: if it is damaged.
    """
    try:
        archive = zipfile.ZipFile(stream)
    except (zipfile.BadZipFile, ValueError, NotImplementedError):  # it may quote bytes
        archive = None
    if archive is None:
        raise UnreadableFile("{file} is a zip archive that is damaged, or ends early", file=file)
    with archive:
        refuse_document(archive, file)
        yield archive


def only_file(archive: zipfile.ZipFile, file: Path) -> zipfile.ZipInfo:
    """Return the one file in an archive; folders are none, nor is what macOS adds.

    Raises:
        UnreadableFile: if there is another number of files, or they have a password.
    """
    names = archive.infolist()
    members = [
        one for one in names if not one.is_dir() and not one.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise UnreadableFile(
            "{file} is a zip archive of {n} files. Unpack it, and give one of them, or their folder: unzip {file} "
            "-d FOLDER",
            file=file,
            n=len(members),
        )
    if members[0].flag_bits & _ENCRYPTED:
        raise UnreadableFile("{file} has a password. Unpack it first: unzip {file}", file=file)
    return members[0]


@contextmanager
def open_only_file(archive: zipfile.ZipFile, file: Path) -> Iterator[BinaryIO]:
    """Yield the bytes of the one file in an archive."""
    member = only_file(archive, file)
    try:
        stream = archive.open(member)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
        stream = None
    if stream is None:
        raise UnreadableFile(
            "{file} is packed in a way that is not read. Unpack it first: unzip {file}", file=file
        )
    with stream:
        yield cast("BinaryIO", stream)
