"""Names of packages that are imported when they are first used: a first answer loads few modules."""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any


def import_on_use(module: str, modules: Mapping[str, str], package: str | None = None) -> None:
    """Let a module import names when they are first used.

    Args:
        module: its name.
        modules: the modules of the names, by name.
        package: where those modules are; without it in the module, which is a package then.
    """

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(f"{package or module}.{modules[name]}"), name)

    vars(sys.modules[module])["__getattr__"] = get


class ModuleOnUse:
    """A module that is imported when a name of it is first used.

    Args:
        module: its name.
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        member = getattr(import_module(self._module), name)
        setattr(self, name, member)  # from now on it is found without this method
        return member


if TYPE_CHECKING:
    import flint as flint
else:
    flint = ModuleOnUse("flint")
"""Ball arithmetic: of first answers only a doubt needs it, and it takes as long to import as half of numpy."""
