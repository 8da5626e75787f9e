"""Tables of Delta, Iceberg, Hudi and Paimon: their files hold rows that were removed or rewritten.

Only their logs say which rows are theirs, and a library of their own reads those. So a file in the folder of such a
table is refused, however it was named. What no folder tells is a data file outside of its table's folder.
"""

import os
from collections.abc import Callable, Iterable
from glob import escape, glob
from pathlib import Path
from typing import NamedTuple

from ...base.doors import fix
from ...errors import UnreadableFile


class _Format(NamedTuple):
    name: str
    is_table: Callable[[str], bool]
    advice: str


def _has(*names: str) -> Callable[[str], bool]:
    """Return whether all of these are in a folder, which may have wildcards."""

    def is_table(folder: str) -> bool:
        return all(
            os.path.isdir(os.path.join(folder, name.partition("/")[0]))
            and ("/" not in name or bool(glob(os.path.join(escape(folder), name))))
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
