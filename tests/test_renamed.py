"""Names of other releases: each error says where the same is found now."""

import subprocess
import sys
from importlib import import_module

import pytest

import discreet
from discreet.renamed import METHODS, MODULES, NAMES

OLD = {**{old: f"discreet.{new}" for old, new in NAMES.items()}} | {
    old: f"from discreet.{module} import {old}" for old, module in MODULES.items()
}


@pytest.mark.parametrize(("old", "new"), OLD.items())
def test_an_old_name_is_refused_with_the_new_one(old: str, new: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(discreet, old)
    assert str(caught.value).endswith(new)
    assert not hasattr(discreet, old)
    assert old not in discreet.__all__


@pytest.mark.parametrize(("old", "new"), OLD.items())
def test_an_import_of_an_old_name_says_the_new_one(old: str, new: str) -> None:
    with pytest.raises(ImportError) as caught:
        exec(f"from discreet import {old}")
    assert str(caught.value).endswith(new)


@pytest.mark.parametrize("old", OLD)
def test_the_new_name_is_there(old: str) -> None:
    home = import_module(f"discreet.{MODULES[old]}") if old in MODULES else discreet
    assert getattr(home, NAMES.get(old, old)) is not None


@pytest.mark.parametrize("old", METHODS["Session"])
def test_an_old_method_is_refused_with_the_new_one(old: str) -> None:
    ledger = discreet.Ledger()
    ledger.open("people", epsilon=1)
    session = ledger.session("people")
    new = METHODS["Session"][old]
    with pytest.raises(AttributeError, match=f"^Session.{old} is now Session.{new}$"):
        getattr(session, old)
    assert callable(getattr(session, new))
    with pytest.raises(AttributeError, match="'Session' object has no attribute 'prices'"):
        session.prices  # noqa: B018


def test_a_program_sees_the_new_name_and_no_traceback_of_ours() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from discreet import sql"], capture_output=True, text=True
    )
    assert done.stderr.splitlines()[-1] == "ImportError: discreet.sql is now discreet.scan_query"


def test_a_name_that_never_was_is_refused_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'discreet' has no attribute 'scan'"):
        discreet.scan  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'scan'"):
        exec("from discreet import scan")


def test_the_face_is_small() -> None:
    """Later issues add what they name, and the number with it."""
    assert len(discreet.__all__) <= 51
