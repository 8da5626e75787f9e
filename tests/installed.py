"""What a stranger has installed: what `pip install .` brings, in place of all that the tests need."""

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from types import ModuleType
from typing import Self

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_OF_THE_TESTS = ("pytest", "pytest-xdist", "pytest-cov", "hypothesis", "packaging")


class Installed(MetaPathFinder):
    """Hides every package that neither `pip install .` nor `add` has installed, until it is closed."""

    def __init__(self) -> None:
        self._packages = _with_dependencies(["discreet", *_OF_THE_TESTS])
        self._hidden: dict[str, ModuleType] = {}

    def __enter__(self) -> Self:
        self._hidden = {name: sys.modules[name] for name in list(sys.modules) if self._hides(name)}
        for name in self._hidden:
            del sys.modules[name]
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)
        sys.modules.update(self._hidden)

    def add(self, *requirements: str) -> None:
        """Install packages, as `pip install` does: `polars`, `.[plots]`, `path/to/discreet[plots]`."""
        self._packages |= _with_dependencies(_named(one) for one in requirements)
        for name in [name for name in self._hidden if not self._hides(name)]:
            sys.modules[name] = self._hidden.pop(name)  # a second copy would not be the same types

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse what is hidden; leave the rest to others."""
        if self._hides(fullname):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None

    def _hides(self, module: str) -> bool:
        sources = _distributions().get(module.partition(".")[0], set())
        return bool(sources) and sources.isdisjoint(self._packages)


def _named(requirement: str) -> str:
    """Return the requirement with the name of this project where it is a folder."""
    folder, bracket, extras = requirement.partition("[")
    return f"discreet{bracket}{extras}" if folder == "." or "/" in folder else requirement


@cache
def _distributions() -> dict[str, set[str]]:
    """Return, for each module at the top, the packages that bring it."""
    sources = packages_distributions()
    return {name: {canonicalize_name(one) for one in names} for name, names in sources.items()}


def _with_dependencies(requirements: Iterator[str] | list[str]) -> set[str]:
    """Return the names of packages, and of all that they need."""
    waiting, complete = [Requirement(text) for text in requirements], set()
    while waiting:
        wanted = waiting.pop()
        for extra in (None, *sorted(wanted.extras)):
            if (canonicalize_name(wanted.name), extra) not in complete:
                complete.add((canonicalize_name(wanted.name), extra))
                waiting += _needs(wanted.name, extra)
    return {name for name, _ in complete}


def _needs(package: str, extra: str | None) -> Iterator[Requirement]:
    """Yield what a package needs: for an extra, what that adds."""
    try:
        lines = requires(package) or []
    except PackageNotFoundError:  # not of this system, or not needed by the tests
        return
    for requirement in map(Requirement, lines):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra or ""}):
            yield requirement
