"""The registry of scores: every name leads to the class of the file of its name."""

from pathlib import Path

import discreet.scores
from discreet.scores.score_names import SCORES


def test_names_are_those_of_files_and_classes() -> None:
    folder = Path(str(discreet.scores.__file__)).parent
    assert len({*SCORES.values()}) == len(SCORES) == 9
    for name, kind in SCORES.items():
        assert kind.__module__ == f"discreet.scores.{name}"
        assert (folder / f"{name}.py").is_file()
        assert kind.__name__.lower() == name.replace("_", "")
