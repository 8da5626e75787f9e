"""The kernel as a file: which one is used, why not, and that it is known without numpy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.sampling import kernel_library
from discreet.sampling.kernel_library import KernelLibrary, open_library, settle_module
from discreet.sampling.speed import speed

# By what is there, not by what the library says of it: one that it wrongly leaves out must be seen.
BUILT = [*Path(kernel_library.__file__).parent.glob("_kernel.*")]
CANNOT = ("this processor", "DISCREET_KERNEL is 0")
needs_kernel = pytest.mark.skipif(
    not BUILT or str(speed().reason).startswith(CANNOT), reason=f"no kernel: {speed().reason}"
)


@needs_kernel
def test_what_is_in_use_can_be_asked() -> None:
    now = speed()
    assert now.kernel in ("neon", "x86-64-v3", "x86-64-v4")
    assert now.reason is None
    assert now.threads >= 1


@needs_kernel
def test_a_kernel_that_an_older_source_left_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (built,) = BUILT
    shutil.copy(built, tmp_path)
    monkeypatch.setattr(kernel_library, "FOLDER", str(tmp_path))
    load = open_library.__wrapped__
    assert isinstance(load(), KernelLibrary), "a wheel has no source"
    (tmp_path / "kernel.c").write_text("/* of today */", encoding="utf-8")
    assert load() == "it was built from an older kernel.c. Reinstall discreet"


def test_the_environment_switches_it_off() -> None:
    program = "from discreet.sampling.speed import speed; print(speed())"
    environment = os.environ | {"DISCREET_KERNEL": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == "Speed(kernel=None, threads=1, reason='DISCREET_KERNEL is 0')"


def test_it_is_known_without_numpy() -> None:
    program = "from discreet.sampling.speed import speed; speed(); import sys; print(*sys.modules)"
    words = subprocess.check_output([sys.executable, "-c", program], text=True).split()
    assert not {"numpy", "flint", "typing_extensions"} & set(words)


@needs_kernel
@pytest.mark.skipif(
    "t" in getattr(sys, "abiflags", "")
    or not [*Path(kernel_library.__file__).parent.glob("_settle.*")],
    reason="no module for short draws",
)
def test_short_draws_are_in_c_where_the_kernel_is_and_this_python_reads_the_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load = settle_module.__wrapped__
    monkeypatch.setattr(sys, "abiflags", "", raising=False)
    assert callable(load().settle)
    monkeypatch.setattr(sys, "abiflags", "t")  # a Python without the lock has another interface
    assert load() is None
    monkeypatch.setattr(sys, "abiflags", "")
    monkeypatch.setattr(kernel_library, "open_library", lambda: "it was not built")
    assert load() is None
