"""Pages are in the language that is chosen, or that the browser prefers."""

import re

import pytest

from discreet.service.pages.page_request import language

from .person import Served


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("", "en"), ("zh", "zh"), ("zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("fr,de;q=0.9", "en"), ("fr,zh;q=0.1", "zh"), ("en;q=0.1,zh;q=0.9", "zh"), ("zh;q=x", "zh"), (",;,", "en"),
    ],
)  # fmt: skip
def test_the_first_language_of_the_browser_is_taken(listed: str, expected: str) -> None:
    from starlette.requests import Request

    headers = [(b"accept-language", listed.encode())]
    assert language(Request({"type": "http", "headers": headers})) == expected


def test_a_chosen_language_stays(served: Served) -> None:
    person = served.person("ann")
    assert "预算" not in person.read("/budgets").text
    assert "预算" in person.read("/budgets?lang=zh").text
    assert "预算" in person.read("/budgets").text
    assert "预算" not in person.read("/budgets?lang=en").text


def test_the_link_to_the_other_language_stays_on_the_page(served: Served) -> None:
    read = served.person("ann").read("/plan?dataset=people&question=typical-age")
    (link,) = [attrs["href"] for tag, attrs in read.elements if attrs.get("hreflang")]
    again = served.person("ann").read(f"/plan{link}")
    assert "计划" in again.text
    assert again.form("/ask").fields["question"] == "typical-age"


def test_every_page_in_chinese_is_in_chinese(served: Served) -> None:
    person = served.person("ann", lang="zh-CN")
    for path in (
        "/questions",
        "/budgets",
        "/answers",
        "/free?dataset=people",
        "/plan?dataset=people&question=city",
    ):
        assert len(re.findall("[一-鿿]", person.read(path).text)) > 30, path
