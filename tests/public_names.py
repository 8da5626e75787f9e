"""All public names: those of `discreet`, and those that once were there and are in modules below it now."""

from importlib import import_module
from typing import Any

import discreet
from discreet.renamed import MODULES

PATHS = {name: f"discreet.{name}" for name in discreet.__all__} | {
    name: f"discreet.{module}.{name}" for name, module in MODULES.items()
}
"""The path of each public name."""


def public(name: str) -> Any:
    """Return what a public name stands for."""
    module = MODULES.get(name)
    return getattr(discreet if module is None else import_module(f"discreet.{module}"), name)
