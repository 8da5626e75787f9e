"""discreet attack: attacks on naive mechanisms, run against this library's too."""

import warnings
from typing import Annotated

from ..errors import UnknownName, preview
from .json_output import print_either
from .options import AsJson, argument, switch


def attack_names(incomplete: str) -> list[str]:
    """Complete the name of an attack."""
    from ..study.attacks import ATTACKS

    return [name for name in ATTACKS if name.startswith(incomplete)]


def attack_command(
    name: Annotated[
        str | None,
        argument("NAME", "The attack. The default is all of them.", completes=attack_names),
    ] = None,
    names_only: Annotated[
        bool, switch("--list", "Show the names of the attacks and exit.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Attack a naive mechanism and ours.

    Example: discreet attack underflow
    """
    from ..study.attacks import ATTACKS

    if name is not None and name not in ATTACKS:
        raise UnknownName(f"attack must be one of {', '.join(ATTACKS)}, got {preview(name)}")
    if names_only:
        print_either(list(ATTACKS), "\n".join(ATTACKS), as_json=as_json)
        return
    with warnings.catch_warnings(action="ignore"):  # of a large epsilon, which is the point of one
        lessons = [ATTACKS[each]() for each in ([name] if name else ATTACKS)]
    objects = [lesson.as_dict() for lesson in lessons]
    plain = objects if name is None else objects[0]
    print_either(plain, "\n\n".join(map(str, lessons)), as_json=as_json)
