"""Makes the stub of the package: what type checkers and editors of those who install it know of the public names.

Of verbs it has the arguments that they share, spelled out, and the docstring that help() shows; of all else where
it is defined. Wheels have it as `discreet/__init__.pyi`, and `hatch_build.py` builds it. A checkout has none.
"""

import ast
import builtins
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, TypeVar

import discreet
from discreet.selection import terms

_HEAD = '''\
"""The public names, for type checkers and editors. Written from the code when the wheel was built."""

'''
_VARIABLE = "_T"


class Imports:
    """The names that annotations need, private in the stub so that editors do not offer them."""

    def __init__(self) -> None:
        self._aliases: dict[str, tuple[str, str]] = {}
        self._modules = set[str]()

    def lines(self) -> list[str]:
        """Return the statements that import them."""
        names = (f"from {where} import {name} as {a}" for a, (where, name) in self._aliases.items())
        return sorted({*self._modules, *names})

    def text(self, annotation: ast.expr, module: ModuleType) -> str:
        """Return an annotation of a module as the stub writes it."""
        annotation = ast.parse(ast.unparse(annotation), mode="eval").body
        for node in ast.walk(annotation):
            if isinstance(node, ast.Name):
                node.id = self._alias(node.id, module)
        return ast.unparse(annotation)

    def _alias(self, name: str, module: ModuleType) -> str:
        if hasattr(builtins, name):
            return name
        if isinstance(getattr(module, name), TypeVar):
            self._aliases["_TypeVar"] = ("typing", "TypeVar")
            return _VARIABLE
        if isinstance(imported := getattr(module, name), ModuleType):
            self._modules.add(f"import {imported.__name__} as _{name}")
            return f"_{name}"
        where = _origin(name, module)
        alias = f"_{name.lstrip('_')}"
        if self._aliases.get(alias, (where, name)) != (where, name):
            alias = f"_{module.__name__.rpartition('.')[2]}{alias}"
        self._aliases[alias] = where, name
        return alias


def _origin(name: str, module: ModuleType) -> str:
    """Return the module from which a module has a name, as the stub imports it."""
    package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and name in {each.name for each in node.names}:
            base = (
                package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            )
            return _relative(".".join(filter(None, [*base, node.module])))
    return _relative(module.__name__)


def _relative(module: str) -> str:
    return module.removeprefix("discreet") or "." if module.split(".")[0] == "discreet" else module


Fields = dict[str, tuple[ast.expr, ModuleType]]
"""The types of terms by name, with the modules that write them."""


def _fields(annotation: ast.expr, module: ModuleType) -> Fields:
    """Return the terms in an `Unpack`, those of wider kinds first."""
    if not isinstance(annotation, ast.Subscript):
        return _fields_of(ast.Name("RecordTerms"), terms)
    return _fields_of(annotation.slice, module)


def _fields_of(kind: ast.expr, module: ModuleType) -> Fields:
    """Return the fields of a kind of terms, which the module of a verb or `terms` defines."""
    name = kind.value if isinstance(kind, ast.Subscript) else kind
    fields: Fields = {}
    for home in (module, terms):
        for node in ast.parse(inspect.getsource(home)).body:
            if not isinstance(node, ast.ClassDef) or node.name != ast.unparse(name):
                continue
            for base in node.bases:
                fields |= _fields_of(base, home)
            for line in node.body:
                if isinstance(line, ast.AnnAssign):
                    fields[ast.unparse(line.target)] = line.annotation, home
            return fields
    return fields


def _definitions(function: Any) -> list[ast.FunctionDef]:
    """Return the overloads of a function, or the function itself if it has none."""
    module = sys.modules[function.__module__]
    nodes = [
        node
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__
    ]
    return nodes[:-1] or nodes


def _parameters(
    node: ast.FunctionDef, function: Any, imports: Imports
) -> Iterator[tuple[str, str]]:
    """Yield the parameters of a definition with types and defaults, the shared ones spelled out."""
    module, arguments = sys.modules[function.__module__], node.args
    texts, must = dict[str, str](), _required(arguments)
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        texts[one.arg] = imports.text(one.annotation or ast.Name("object"), module)
    if arguments.kwarg is not None and arguments.kwarg.annotation is not None:
        for name, (kind, home) in _fields(arguments.kwarg.annotation, module).items():
            if isinstance(kind, ast.Subscript) and ast.unparse(kind.value) == "Required":
                kind, must = kind.slice, {*must, name}
            texts.setdefault(name, imports.text(kind, home))
    for name, parameter in inspect.signature(function).parameters.items():
        if name in texts:
            has_default = parameter.default is not parameter.empty and name not in must
            yield name, f"{name}: {texts[name]}" + f" = {_default(parameter.default)}" * has_default
        elif parameter.kind is parameter.VAR_POSITIONAL:
            annotation = arguments.vararg and arguments.vararg.annotation
            yield name, f"*{name}: {imports.text(annotation or ast.Name('object'), module)}"


def _required(arguments: ast.arguments) -> set[str]:
    """Return the names of the arguments of a definition that have no default."""
    named = [*arguments.posonlyargs, *arguments.args]
    named = named[: len(named) - len(arguments.defaults)]
    keyword = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {one.arg for one in named} | {one.arg for one, default in keyword if default is None}


def _default(value: object) -> str:
    return repr(value) if value is None or isinstance(value, str | int | bool) else "..."


def _function(name: str, function: Any, imports: Imports) -> Iterator[str]:
    """Yield the definitions of a verb; the docstring in the first and in the last, as editors read one of them."""
    module, nodes = sys.modules[function.__module__], _definitions(function)
    kinds = inspect.signature(function).parameters
    for node in nodes:
        words, is_star = [], False
        for parameter, text in _parameters(node, function, imports):
            kind = kinds[parameter].kind
            if kind is inspect.Parameter.KEYWORD_ONLY and not is_star:
                words.append("*")
            is_star = is_star or kind in (
                inspect.Parameter.KEYWORD_ONLY,
                inspect.Parameter.VAR_POSITIONAL,
            )
            words.append(text)
        assert node.returns is not None
        returns = imports.text(node.returns, module)
        if len(nodes) > 1:
            imports.text(ast.Name("overload"), module)
            yield "@_overload"
        yield f"def {name}(\n" + "".join(f"    {word},\n" for word in words) + f") -> {returns}:"
        yield (
            f"{_docstring(function.__doc__)}\n    ...\n"
            if node in (nodes[0], nodes[-1])
            else "    ...\n"
        )


def _docstring(text: str) -> str:
    lines = text.rstrip().replace("\\", "\\\\").splitlines()
    return "\n".join(
        [f'    """{lines[0]}', *(f"    {line}".rstrip() for line in lines[1:]), '    """']
    )


def is_a_verb(function: Callable[..., Any]) -> bool:
    """Return whether a public function asks a question; `quote` is about one."""
    module = function.__module__
    return module != "discreet.selection.verb_calls" and module.startswith(
        ("discreet.tables.verbs.", "discreet.selection.")
    )


def spelled_out(names: Iterable[str]) -> list[str]:
    """Return the verbs that share arguments with others."""
    return [
        name
        for name in names
        if inspect.isfunction(function := getattr(discreet, name))
        and is_a_verb(function)
        and any(node.args.kwarg is not None for node in _definitions(function))
    ]


def stub() -> str:
    """Return the text of the stub."""
    imports, verbs = Imports(), spelled_out(discreet.__all__)
    functions = [
        line for name in verbs for line in _function(name, getattr(discreet, name), imports)
    ]
    public = [
        f"from {module.rstrip('.') or '.'} import {name} as {name}"
        for name, module in vars(discreet)["_MODULES"].items()
        if name not in verbs
    ]
    lines = [*imports.lines(), "", *public, "", f'{_VARIABLE} = _TypeVar("{_VARIABLE}")', ""]
    end = ["__version__: str", "__all__: list[str]", ""]
    return _HEAD + "\n".join([*lines, *functions, *end])
