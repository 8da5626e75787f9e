"""What a visitor may ask about is what the rights say, and nothing that a page derives by itself."""

from fractions import Fraction

import pytest

from discreet.service.asking.free_questions import Freedom
from discreet.service.asking.rights import Rights, Scope

from .person import Served


def test_pages_offer_what_the_rights_say(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = served.person("ann")
    assert "people" in ann.read("/questions").text
    real = Rights.scope

    def narrow(rights: Rights) -> Scope:
        return Scope(real(rights).datasets, Freedom(("median",), Fraction(1, 77)))

    monkeypatch.setattr(Rights, "scope", narrow)
    page = ann.get("/free?dataset=people").text
    assert page.count('<option value="median"') == 1
    assert '<option value="mode"' not in page
    assert "1/77" in ann.get("/free?dataset=people&verb=median&column=age").text
    assert "1/77" in served.person("owner").get("/access").text
    monkeypatch.setattr(Rights, "scope", lambda rights: Scope({}, Freedom()))
    assert "people" not in ann.read("/questions").text
