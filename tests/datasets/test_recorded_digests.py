"""A discreet.toml of 3d1894d, with all its keys, has the digests that it had then."""

import json

import pytest

from .made_by_3d1894d.record import HERE, OLD_TEXT, read, recorded

RECORDED = json.loads((HERE / "recorded.json").read_text(encoding="utf-8"))


@pytest.mark.filterwarnings("ignore:.*it can never be paid")
def test_a_file_of_an_older_version_has_its_old_digests() -> None:
    found = json.loads(json.dumps(recorded(read(OLD_TEXT))))
    assert found == RECORDED
    assert len(RECORDED["questions"]) == 9
