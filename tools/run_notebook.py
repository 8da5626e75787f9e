"""Run a notebook in place, so that it holds its output: `python tools/run_notebook.py FILE.ipynb`."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def run(source: Path, target: Path) -> None:
    """Run a notebook in its own folder, and write it with its output, without times and machine details."""
    notebook = nbformat.read(source, as_version=4)  # type: ignore[no-untyped-call]
    folder = {"metadata": {"path": str(source.resolve().parent)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=folder).execute()
    for cell in notebook.cells:
        cell.metadata = {}
    notebook.metadata.language_info = {"name": "python"}
    nbformat.write(notebook, target)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        run(Path(name), Path(name))
