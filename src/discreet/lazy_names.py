"""Names of a package that are imported when they are first used: a first answer loads few modules."""

import sys
from collections.abc import Mapping
from importlib import import_module


def import_on_use(package: str, modules: Mapping[str, str]) -> None:
    """Let a package import its names when they are first used.

    Args:
        package: its name.
        modules: the modules of its names, by name.
    """

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    vars(sys.modules[package])["__getattr__"] = get
