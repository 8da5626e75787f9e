"""The ways of questions, as `python -m bench.ways` counts them: a question is settled once."""

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

from bench.ways import ways


@pytest.mark.filterwarnings("ignore:.*is declared as people:UserWarning")
def test_a_question_is_settled_once() -> None:
    select, charged, median, asked, posted = (way.figures() for way in ways().values())
    assert select["files"] == 7
    assert charged["writing transactions"] == 2
    for figures in (median, asked, posted):
        assert figures["verbs settled"] == 1
    for figures in (asked, posted):
        assert figures["writing transactions"] == 2
        assert 1 <= figures["reading transactions"] <= 3
        assert 1 <= figures["digests"] <= 6
    assert median["digests"] == median["reading transactions"] == 0
    assert 50 < median["calls"] < asked["calls"] < posted["calls"]
