"""A process of the tests that dies ends the run, with the test it died in and a code that is not zero."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DEATHS = {
    "at once": ("import os, signal", "os.kill(os.getpid(), signal.SIGKILL)", ""),
    "by hanging": ("import time", "time.sleep(999)", "faulthandler_timeout = 1"),
}
TESTS = """
{imports}
from pathlib import Path
import pytest

@pytest.mark.parametrize("turn", [1, 2])
def test_before(turn):
    pass

def test_that_dies():
    with Path("deaths").open("a") as file:
        file.write("one\\n")
    {death}

@pytest.mark.parametrize("turn", range(5))
def test_after(turn):
    pass
"""


def run(folder: Path, settings: str = "") -> tuple[int, str]:
    """Return the code and the output of two processes that run the tests of a folder."""
    text = f"[pytest]\nfaulthandler_exit_on_timeout = true\n{settings}"
    (folder / "pytest.ini").write_text(text)
    options = ["-q", "-n", "2", "--dist", "loadscope"]
    plugins = ["-p", "tests.scheduling", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *plugins],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,  # so that a failure ends, too
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("how", DEATHS)
def test_the_death_of_a_process_ends_the_run(tmp_path: Path, how: str) -> None:
    """Plain pytest-xdist runs that test again in a new process, and then waits for ever."""
    imports, death, settings = DEATHS[how]
    (tmp_path / "test_dies.py").write_text(TESTS.format(imports=imports, death=death))
    for number in range(9):
        (tmp_path / f"test_later_{number}.py").write_text(
            "import time\ndef test_later(): time.sleep(0.2)"
        )
    code, told = run(tmp_path, settings)
    assert code == 2
    assert "crashed while running 'test_dies.py::test_that_dies'" in told
    assert "Interrupted: the process gw" in told
    assert "replacing crashed worker" not in told
    assert (tmp_path / "deaths").read_text() == "one\n"


def test_a_death_outside_of_tests_fails_the_run(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_a(): pass")
    (tmp_path / "conftest.py").write_text(
        "import os\n"
        "def pytest_sessionfinish(session):\n"
        "    if hasattr(session.config, 'workerinput'): os._exit(0)\n"
    )
    code, told = run(tmp_path)
    assert code == 2
    assert "Interrupted: the process gw" in told


def test_a_run_without_deaths_passes(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_a(): pass")
    assert run(tmp_path)[0] == 0
