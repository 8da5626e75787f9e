"""The reader in C keeps to its blocks and arrays, and leaks nothing: built with sanitizers, on random bytes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.tables.formats import reader_library

SOURCE = Path(reader_library.SOURCE_FOLDER, "reader.c")
STORM = Path(__file__).with_name("reader_storm.c")
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]


@pytest.mark.parametrize(
    ("inputs", "start"),
    [(20_000, 0), *(pytest.param(100_000, i, marks=pytest.mark.proof) for i in range(1, 11))],
)
def test_the_reader_keeps_to_its_memory(tmp_path: Path, inputs: int, start: int) -> None:
    compiler = shutil.which("gcc")
    if compiler is None or sys.platform != "linux" or not SOURCE.is_file():
        pytest.skip("it needs gcc, Linux, and the source of the reader")
    command = [compiler, "-O1", "-g", "-std=gnu99", *WARNINGS, *SANITIZERS, f"-I{SOURCE.parent}"]
    storm = str(tmp_path / "storm")
    built = subprocess.run([*command, str(STORM), "-o", storm], capture_output=True, text=True)
    if "cannot find" in built.stderr:
        pytest.skip("gcc has no runtime of the sanitizers")
    assert not built.returncode, built.stderr
    words = [storm, str(inputs), str(start)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=250)
    assert not done.returncode, done.stderr[:2000]
    assert int(done.stdout) > inputs // 2
