"""Auditors that are in no registry: a checkout of the user's own, whose folder an environment variable names."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


class NotInstalled(Exception):
    """An auditor that cannot run here, and why."""


class _Stub(ModuleType):
    """A module that an auditor imports for mechanisms or searches that are not used here."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def enter(variable: str, folder: str, stubs: tuple[str, ...] = ()) -> str:
    """Let modules of a checkout be imported, and return its revision.

    Args:
        variable: the environment variable that names the checkout.
        folder: where in the checkout the package is.
        stubs: modules that it imports, and that nothing here needs.

    Raises:
        NotInstalled: if the variable is not set, or names no such folder.
    """
    root = os.environ.get(variable)
    if not root:
        raise NotInstalled(f"{variable} names no checkout")
    path = Path(root, folder)
    if not path.is_dir():
        raise NotInstalled(f"{variable} has no folder {folder!r}")
    sys.path.insert(0, str(path))
    for name in stubs:
        sys.modules.setdefault(name, _Stub(name))
    return revision(Path(root))


def revision(root: Path) -> str:
    """Return the revision of a checkout; "unknown" of a copy without its history."""
    command = ["git", "-C", str(root), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "unknown revision"


def load(name: str) -> Any:
    """Return a module of an auditor.

    Raises:
        NotInstalled: if it, or what it needs, is missing.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NotInstalled(f"{name} does not import: {error}") from error
