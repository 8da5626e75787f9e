"""The kernel in C keeps to the arrays that it is given: built with AddressSanitizer, in a process apart."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.sampling import kernel_library
from discreet.sampling.kernel_library import open_library

SOURCE = Path(kernel_library.__file__).with_name("kernel.c")
FLAGS = ["-O0", "-g1", "-std=gnu99", "-shared", "-fPIC", "-ffp-contract=fast", "-fsanitize=address"]

CHILD = """
import os
import sys
import numpy as np
from discreet.sampling import bits, kernel, kernel_library
kernel_library.FOLDER = sys.argv[1]
assert kernel.active() is not None, kernel.load()
import discreet
from discreet.sampling.categorical import Sums

class Scripted:
    def urandom(self, n):
        return bytes([self.byte]) * n

bits.os = Scripted()
for n in (1, 2, 3, 4, 5, 9, 65):
    scores, ends = np.zeros(n), np.arange(1.0, n + 1)
    for size in (1, 2, 3, 70):
        for bits.os.byte in (0xff, 0, 0xa5):
            for kind in (scores, scores.tolist(), np.zeros(n, dtype=np.int8)):
                discreet.select(kind, sensitivity=1, epsilon=1, size=size)
            discreet.select_rows(np.zeros((size, n)), sensitivity=1, epsilon=1)
        for width in (1, 5, 64):
            Sums(ends, 0.0).locate_all(np.full(size, (1 << width) - 1, dtype=np.uint64), width)

bits.os = os  # the same words for ever would leave these open for ever
for n in (1, 2, 3, 4, 5, 9, 65):
    discreet.select_top_k(np.zeros(n), k=n, sensitivity=1, epsilon=1)
    for many in {0, 1, 2, n}:
        records, grid = np.arange(many), discreet.Grid(0, n)
        discreet.quantiles(records, alphas=["0.25", "0.5"], candidates=grid, epsilon=1)
print("kept to its arrays")
"""


@pytest.mark.skipif(isinstance(open_library(), str), reason=f"no kernel: {open_library()}")
def test_nothing_behind_an_array_is_read(tmp_path: Path) -> None:
    """Words of ones, of zeros and mixed: a guide for one to three candidates may have one cell alone."""
    compiler = shutil.which("gcc")
    if compiler is None or sys.platform != "linux" or not SOURCE.is_file():
        pytest.skip("it needs gcc, Linux, and the source of the kernel")
    runtime = subprocess.check_output([compiler, "-print-file-name=libasan.so"], text=True).strip()
    if not os.path.isabs(runtime):
        pytest.skip("gcc has no runtime of AddressSanitizer")
    command = [compiler, *FLAGS, str(SOURCE), "-o", str(tmp_path / "_kernel.so")]
    subprocess.run(command, check=True, timeout=200)
    options = {"ASAN_OPTIONS": "detect_leaks=0", "LD_PRELOAD": runtime, "PYTHONMALLOC": "malloc"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, str(tmp_path)],
        capture_output=True, text=True, env=os.environ | options, timeout=200, check=False,
    )  # fmt: skip
    assert done.stdout == "kept to its arrays\n", done.stderr[:2000]
