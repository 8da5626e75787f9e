"""Files of tables that a format governs are refused, however they are named: removed rows would count."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.errors import UnreadableFile
from discreet.tables.formats.file_paths import refuse_lakes

PEOPLE = {"person": ["Ann", "Ben", "Cid"], "drink": ["tea", "tea", "coffee"]}
MARKS = {
    "Delta": (["_delta_log/0.json"], "p0.parquet", "deltalake.DeltaTable"),
    "Hudi": ([".hoodie/hoodie.properties"], "2024/p0.parquet", "HudiTableBuilder"),
    "Iceberg": (["metadata/v1.metadata.json"], "data/x/p0.parquet", "table.scan"),
    "Paimon": (["schema/schema-0", "snapshot/LATEST"], "bucket-0/p0.parquet", "table_read"),
}
NAMES: dict[str, Callable[[Path, str], Any]] = {
    "the folder": lambda lake, _: lake / "t",
    "the folder above": lambda lake, _: lake,
    "a pattern": lambda lake, file: f"{(lake / 't' / file).parent}/*.parquet",
    "a deep pattern": lambda lake, _: f"{lake}/**/*.parquet",
    "the file": lambda lake, file: lake / "t" / file,
    "a list": lambda lake, file: [lake / "plain.parquet", lake / "t" / file],
    "a list of texts": lambda lake, file: [str(lake / "plain.parquet"), str(lake / "t" / file)],
    "a link to the file": lambda lake, file: linked(lake / "t" / file, "f.parquet"),
    "a folder of links": lambda lake, file: linked(lake / "t" / file, "f.parquet").parent,
    "a link to its folder": lambda lake, file: linked((lake / "t" / file).parent, "d"),
    "another spelling": lambda lake, file: f"{lake}/t/../t/{file}",
    "a described dataset": lambda lake, _: discreet.Dataset(
        lake, {"drink": {"type": "string", "enum": ["tea", "coffee"]}}
    ),
}


def linked(target: Path, name: str) -> Path:
    folder = next(p for p in target.parents if p.name == "lake").parent / "links"
    folder.mkdir()
    (folder / name).symlink_to(target)
    return folder / name


@pytest.mark.parametrize("lake", MARKS)
@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_a_lake_is_refused(lake: str, name: str, tmp_path: Path) -> None:
    marks, file, advice = MARKS[lake]
    for one in (*(f"t/{mark}" for mark in marks), f"t/{file}", "plain.parquet"):
        (tmp_path / "lake" / one).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lake" / one).touch()
    for one in ("plain.parquet", f"t/{file}"):
        pl.DataFrame(PEOPLE).write_parquet(tmp_path / "lake" / one)
    data = NAMES[name](tmp_path / "lake", file)
    for ask in (
        lambda: discreet.counts(data, "drink", candidates=["tea", "coffee"], epsilon=1),
        lambda: discreet.count(data, epsilon=1),
        lambda: discreet.profile(data, epsilon=1),
    ):
        with pytest.raises(UnreadableFile, match=f"a.? {lake} table.*{advice}"):
            ask()
    assert discreet.count(tmp_path / "lake" / "plain.parquet", epsilon=1000).value == 3


def test_a_real_delta_table_counts_as_its_log_says(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(tmp_path / "t"), pa.table(PEOPLE))
    deltalake.DeltaTable(str(tmp_path / "t")).delete("person = 'Ann'")
    for data in (tmp_path, tmp_path / "t", f"{tmp_path}/t/*.parquet"):
        with pytest.raises(UnreadableFile, match=r"is in .*, a Delta table"):
            discreet.count(data, epsilon=1)
    table = deltalake.DeltaTable(str(tmp_path / "t"))
    assert discreet.count(table, epsilon=1000).value == 2


def test_folders_that_only_look_alike_are_files(tmp_path: Path) -> None:
    for one in ("schema/a.sql", "snapshot/1/a", "metadata/a.json", "data/x/p.csv", "_delta/log"):
        (tmp_path / one).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / one).write_text("c\na\n")
    assert discreet.count(tmp_path / "data", epsilon=1000).value == 1


def test_each_folder_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = list[str]()
    lakes = vars(__import__("discreet.tables.formats.file_paths", fromlist=["_FORMATS"]))[
        "_FORMATS"
    ]
    counting = lakes[0]._replace(is_table=looked.append)
    monkeypatch.setattr("discreet.tables.formats.file_paths._FORMATS", (counting,))
    refuse_lakes([tmp_path / f"{n % 7}" / f"{n}.csv" for n in range(3000)])
    assert len(looked) == len({*looked}) == 7 + len(tmp_path.parents) + 1
