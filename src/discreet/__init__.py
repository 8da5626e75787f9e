"""discreet: exact private selection.

The exponential mechanism of differential privacy and its family, sampled exactly: the distribution of
an answer is the one in the privacy proof, to the last bit. Start with `select` (scores in an array) or
`mode` (a table).
"""

__version__ = "0.1.0"


def _read_modules() -> dict[str, str]:
    """Return the modules of public names, as the stub beside this file imports them; "." for a module itself."""
    stub = __spec__.loader.get_data(__file__.rpartition(".")[0] + ".pyi").decode()
    imports = [line.split() for line in stub.splitlines() if line.startswith("from ")]
    return {words[-1]: words[1] for words in imports}


_MODULES = _read_modules()
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import discreet` is quick."""
    from importlib import import_module

    if name not in _MODULES:
        from .renamed import missing_name

        raise missing_name(name)
    if _MODULES[name] == ".":
        return import_module(f".{name}", __name__)
    value = globals()[name] = getattr(import_module(_MODULES[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return __all__
