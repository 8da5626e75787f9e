"""Which file an archive holds: one, without a password."""

import zipfile
from pathlib import Path

import pytest

import discreet
from discreet.errors import UnreadableFile

ROWS = b"person,city\n" + b"p1,Bern\n" * 50


def pack(file: Path, *names: str) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, ROWS if name[-1] != "/" else b"")


@pytest.mark.parametrize(
    "names",
    [["a.csv"], ["b/", "b/a.csv"], ["a.csv", "__MACOSX/._a.csv"], ["x/y/z.tsv"], ["Ünï.CSV"]],
)
def test_the_one_file_is_read(tmp_path: Path, names: list[str]) -> None:
    pack(tmp_path / "t.zip", *names)
    assert discreet.count(tmp_path / "t.zip", epsilon=10).value in range(45, 56)


@pytest.mark.parametrize("names", [[], ["a/"], ["a.csv", "b.csv"], ["a.csv", "MACOSX/b"]])
def test_another_number_of_files_is_told(tmp_path: Path, names: list[str]) -> None:
    pack(tmp_path / "t.zip", *names)
    n = sum(name[-1] != "/" for name in names)
    for data in (tmp_path / "t.zip", discreet.scan_csv(tmp_path / "t.zip", names=["a", "b"])):
        with pytest.raises(UnreadableFile, match=rf"archive of {n} files.*unzip"):
            discreet.count(data, epsilon=1)


def test_a_file_of_no_known_name_needs_its_form(tmp_path: Path) -> None:
    pack(tmp_path / "t.zip", "people")
    with pytest.raises(UnreadableFile, match="scan_csv"):
        discreet.count(tmp_path / "t.zip", epsilon=1)
    data = discreet.scan_csv(tmp_path / "t.zip", delimiter=",")
    assert discreet.count(data, epsilon=10).value in range(45, 56)


def test_a_password_and_a_packing_that_is_not_known_are_told(tmp_path: Path) -> None:
    file = tmp_path / "t.zip"
    places = {"password": ((b"PK\x03\x04", 6, 1), (b"PK\x01\x02", 8, 1)),
              "not read": ((b"PK\x03\x04", 8, 97), (b"PK\x01\x02", 10, 97))}  # fmt: skip
    for word, changes in places.items():
        pack(file, "a.csv")
        content = bytearray(file.read_bytes())
        for signature, offset, value in changes:
            content[content.find(signature) + offset] = value
        file.write_bytes(content)
        with pytest.raises(UnreadableFile, match=word):
            discreet.count(file, epsilon=1)


@pytest.mark.parametrize(
    ("part", "words"),
    [("content.xml", "OpenOffice"), ("xl/workbook.bin", "xlsb"), ("word/document.xml", "Word")],
)
def test_a_document_is_told(tmp_path: Path, part: str, words: str) -> None:
    pack(tmp_path / "t.csv", "[Content_Types].xml", part)
    for data in (tmp_path / "t.csv", discreet.scan_csv(tmp_path / "t.csv", names=["a"])):
        with pytest.raises(UnreadableFile, match=rf"{words}.*\.xlsx"):
            discreet.count(data, epsilon=1)


def test_a_directory_that_is_damaged_is_told(tmp_path: Path) -> None:
    file = tmp_path / "t.zip"
    pack(file, "a.csv")
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(UnreadableFile, match="damaged"):
        discreet.count(file, epsilon=1)


@pytest.mark.parametrize("value", [0, 255])
def test_an_archive_with_a_wrong_byte_is_read_or_cannot_be_read(tmp_path: Path, value: int) -> None:
    """Python's module raises errors of many kinds for damaged archives, and some quote them."""
    file = tmp_path / "t.zip"
    pack(file, "a.csv")
    content, unread = file.read_bytes(), set[tuple[str, object]]()
    directory = content.index(b"PK\x01\x02")
    for place in (*range(30), *range(directory, len(content))):
        file.write_bytes(content[:place] + bytes([value]) + content[place + 1 :])
        try:
            discreet.count(discreet.scan_csv(file, delimiter=","), epsilon=1)
        except discreet.DiscreetError as error:
            unread.add((type(error).__name__, error.__cause__ or error.__context__))
    assert unread == {("UnreadableFile", None)}
