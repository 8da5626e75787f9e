"""The reader in C keeps to its blocks and arrays, and leaks nothing: built with sanitizers, on random bytes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.tables import reader_library

SOURCE = Path(reader_library.FOLDER, "reader.c")
STORM = Path(__file__).with_name("reader_storm.c")
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]


@pytest.mark.parametrize("inputs", [20_000, pytest.param(1_000_000, marks=pytest.mark.proof)])
def test_the_reader_keeps_to_its_memory(tmp_path: Path, inputs: int) -> None:
    compiler = shutil.which("gcc")
    if compiler is None or sys.platform != "linux" or not SOURCE.is_file():
        pytest.skip("it needs gcc, Linux, and the source of the reader")
    command = [compiler, "-O1", "-g", "-std=gnu99", *WARNINGS, *SANITIZERS, f"-I{SOURCE.parent}"]
    built = subprocess.run(
        [*command, STORM, "-o", tmp_path / "storm"], capture_output=True, text=True
    )
    if "cannot find" in built.stderr:
        pytest.skip("gcc has no runtime of the sanitizers")
    assert not built.returncode, built.stderr
    for start in (0, 1):
        words = [tmp_path / "storm", str(inputs // 2), str(start)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=1000)
        assert not done.returncode, done.stderr[:2000]
        assert int(done.stdout) > inputs // 2
