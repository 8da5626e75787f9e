"""What a visitor may ask about is what the rights say, and nothing that a page derives by itself."""

from fractions import Fraction

import pytest

from discreet.service.asking.own_rights import OwnRights
from discreet.service.asking.rights import Rights

from .person import Served


def test_pages_offer_what_the_rights_say(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = served.person("ann")
    assert "people" in ann.read("/questions").text

    def narrow(rights: Rights) -> OwnRights:
        return OwnRights(rights.analyst, ("median",), Fraction(1, 77))

    monkeypatch.setattr(Rights, "own_rights", narrow)
    page = ann.get("/free?dataset=people").text
    assert page.count('<option value="median"') == 1
    assert '<option value="mode"' not in page
    assert "1/77" in ann.get("/free?dataset=people&verb=median&column=age").text
    assert "1/77" in served.person("owner").get("/access").text
    monkeypatch.setattr(Rights, "charged", lambda _: {})
    assert ann.get("/questions").status_code == 403
