"""Shows the shared arguments of verbs on the API page, with their defaults and their descriptions.

The page is made from the source, where a verb has `**terms`. What `help()` shows is made when the verb is
imported, so that is where the docstring, the names and the defaults are taken from.
"""

import inspect
import re
from importlib import import_module
from typing import Any

import griffe

_KINDS = ("Terms", "PersonTerms", "RecordTerms")


class SharedTerms(griffe.Extension):
    """Put the shared arguments in place of the `**terms` of every function that takes them."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Let public names stand for their definitions in the source: of verbs the stub has overloads alone."""
        for name, module in vars(import_module(pkg.path)).get("_MODULES", {}).items():
            if not module.endswith("."):
                pkg.set_member(name, griffe.Alias(name, f"{pkg.path}{module}.{name}"))

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Rewrite the signature and the docstring of a verb."""
        if not any(re.match(r"takes_(data_)?terms", str(one.value)) for one in func.decorators):
            return
        verb = getattr(import_module(func.module.path), func.name)
        assert func.docstring is not None
        func.docstring.value = inspect.getdoc(verb)
        for parameter in list(func.parameters):
            if parameter.kind is griffe.ParameterKind.var_keyword:
                del func.parameters[parameter.name]
        annotations = _annotations(func)
        for name, shown in inspect.signature(verb).parameters.items():
            if name not in func.parameters:
                func.parameters.add(
                    griffe.Parameter(
                        name,
                        annotation=annotations[name],
                        kind=griffe.ParameterKind.keyword_only,
                        default=repr(shown.default),
                    )
                )


def _annotations(func: griffe.Function) -> dict[str, Any]:
    """Return the types of all shared arguments, as they are written, with links to what they name."""
    terms = func.modules_collection["discreet.selection.terms"]
    kinds = [terms.members[kind] for kind in _KINDS]
    return {name: attr.annotation for kind in kinds for name, attr in kind.attributes.items()}
