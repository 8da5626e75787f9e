"""Names of packages that are imported when they are first used."""

import subprocess
import sys
from importlib import import_module

import pytest

from discreet.base.lazy_names import ModuleOnUse

LAZY = {
    "discreet.mechanisms": "Exponential",
    "discreet.tables.scores": "Rank",
    "discreet.privacy": "PureDP",
}
"""The packages, and a name of each that needs few of the others."""


@pytest.mark.parametrize("package", LAZY)
def test_every_public_name_is_there_and_no_other(package: str) -> None:
    module = import_module(package)
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing_of_this_name'"):
        module.nothing_of_this_name  # noqa: B018


@pytest.mark.parametrize("package", LAZY)
def test_a_name_is_imported_on_its_first_use(package: str) -> None:
    """In a process of its own: after the first use of one name there are modules of others still to come."""
    lines = [
        "import sys, importlib",
        f"package = importlib.import_module({package!r})",
        "names = [n for n in package.__all__ if n not in vars(package)]",
        "def count():",
        f"    return sum(m.startswith({package!r}) for m in sys.modules)",
        "numbers = [count()]",
        f"for some in ([{LAZY[package]!r}], names):",
        "    [getattr(package, name) for name in some]",
        "    numbers.append(count())",
        "print(*numbers)",
    ]
    printed = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    ).stdout
    before, one, every = map(int, printed.split())
    assert before <= one < every


def test_a_module_is_imported_when_a_name_of_it_is_used() -> None:
    program = (
        "import sys; from discreet.base.lazy_names import ModuleOnUse\n"
        "colours = ModuleOnUse('colorsys')\n"
        "before = 'colorsys' in sys.modules\n"
        "first = colours.rgb_to_hsv\n"
        "print(before, first is sys.modules['colorsys'].rgb_to_hsv, vars(colours)['rgb_to_hsv'] is first)"
    )
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert printed.split() == ["False", "True", "True"]
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_this_name'"):
        ModuleOnUse("colorsys").nothing_of_this_name  # noqa: B018
