"""Writes the texts that a wheel has and a checkout has not into the folder that is named.

`hatch_build.py` runs it when a wheel is built: `python -m tools.built_files FOLDER`.
"""

import sys
from pathlib import Path

from . import stored_help, stub


def write_files(folder: Path) -> None:
    """Write the stub and the stored help, by the names that they have in the wheel."""
    (folder / "__init__.pyi").write_text(stub.stub(), encoding="utf-8")
    (folder / "commands.json").write_text(stored_help.text(), encoding="utf-8")


if __name__ == "__main__":
    write_files(Path(sys.argv[1]))
