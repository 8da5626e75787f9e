"""The registry of scores: every name leads to the class of the file of its name."""

from pathlib import Path

import discreet
from discreet.tables.scores.score_names import SCORES


def test_names_are_those_of_files_and_classes() -> None:
    folder = Path(str(discreet.__file__)).parent
    assert len({*SCORES.values()}) == len(SCORES)
    for name, kind in SCORES.items():
        place = kind.__module__.split(".")
        assert place[-2:] == ["scores", name]
        assert (folder.joinpath(*place[1:-1]) / f"{name}.py").is_file()
        assert kind.__name__.lower() == name.replace("_", "")
