"""The type of an argument that names a column loads nothing that a first answer does not need."""

import subprocess
import sys


def test_bins_are_not_loaded_for_a_type() -> None:
    program = (
        "import sys, discreet.selection.any_column as of\n"
        "assert str in of.AnyColumn.__args__\n"
        "print([name for name in sys.modules if name.endswith('.bins')])"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert out.stdout == "[]\n", out.stderr
