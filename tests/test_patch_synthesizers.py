"""The mechanism of other packages is replaced for a block and restored; stand-ins have the recorded signatures."""

import inspect
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import Ledger
from discreet.errors import Exhausted, InvalidArgument, MissingPackage

_SPEC: Any = spec_from_file_location(
    "patch_synthesizers", Path(__file__).parents[1] / "examples" / "patch_synthesizers.py"
)
_EXAMPLE: Any = module_from_spec(_SPEC)
sys.modules["patch_synthesizers"] = _EXAMPLE
_SPEC.loader.exec_module(_EXAMPLE)
Patched, patched, PLACES = _EXAMPLE.Patched, _EXAMPLE.patched, _EXAMPLE.PLACES


USUAL: dict[str, Any] = {"qualities": {"a": 0.0, "b": 5000.0}, "epsilon": 0.5}


def mbi(
    self: Any, qualities: Any, epsilon: Any, sensitivity: float = 1.0, base_measure: Any = None
) -> Any:
    return "theirs"


def utils(qualities: Any, epsilon: Any, sensitivity: float = 1.0, base_measure: Any = None) -> Any:
    return "theirs"


def mst(q: Any, eps: Any, sensitivity: Any, prng: Any = np.random, monotonic: bool = False) -> Any:
    return "theirs"


def mst_method(
    self: Any, q: Any, eps: Any, sensitivity: Any, prng: Any = np.random, monotonic: bool = False
) -> Any:
    return "theirs"


def dpsynth(
    quality_scores: Any, epsilon: Any, sensitivity: Any, rng: Any, monotonic: bool = False
) -> Any:
    return "theirs"


def install(monkeypatch: pytest.MonkeyPatch, name: str, **contents: Any) -> Any:
    """Put a module of that name, and its packages, among those that are imported."""
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        path = ".".join(parts[:i])
        if path not in sys.modules:
            module = ModuleType(path)
            module.__path__ = []
            monkeypatch.setitem(sys.modules, path, module)
    for key, value in contents.items():
        setattr(sys.modules[name], key, value)
    return sys.modules[name]


def copied(function: Any) -> Any:
    """Return a copy of the function that is like no other."""
    return FunctionType(function.__code__, {}, "exponential_mechanism", function.__defaults__)


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Stand-ins for the packages, with the signatures that were recorded."""

    class Mechanism:
        exponential_mechanism = copied(mbi)

        def __init__(self, prng: Any = np.random) -> None:
            self.prng = prng

    class MSTSynthesizer:
        exponential_mechanism = copied(mst_method)

    function = copied(utils)
    return {
        "mechanism": install(monkeypatch, "mechanisms.mechanism", Mechanism=Mechanism),
        "mst": install(monkeypatch, "mechanisms.mst", exponential_mechanism=copied(mst)),
        "dpsynth": install(
            monkeypatch,
            "dpsynth.discrete_mechanisms.common",
            exponential_mechanism=copied(dpsynth),
        ),
        "utils": install(monkeypatch, "snsynth.utils", exponential_mechanism=function),
        "aim": install(
            monkeypatch, "snsynth.aim.aim", exponential_mechanism=function, other=function
        ),
        "snmst": install(monkeypatch, "snsynth.mst.mst", MSTSynthesizer=MSTSynthesizer),
    }


def test_all_recorded_places_have_a_stand_in(packages: dict[str, Any]) -> None:
    known = {place.module for places in PLACES.values() for place in places}
    assert {"mechanism", "mst", "adaptive_grid", "mechanisms.adaptive_grid"} == {
        name for name in known if name not in sys.modules
    }


def test_mbi_is_replaced_and_restored(packages: dict[str, Any]) -> None:
    kind = packages["mechanism"].Mechanism
    before = vars(kind)["exponential_mechanism"]
    with patched("mbi") as replaced:
        assert kind().exponential_mechanism(**USUAL) == "b"
        assert kind().exponential_mechanism({"a": 0.0, "b": 0.0}, 1, 1.0, {"a": 0, "b": 1}) == "b"
        index = kind().exponential_mechanism(np.array([0.0, 5000.0]), 1.0)
        assert (type(index), index) == (np.int64, 1)
        assert packages["mst"].exponential_mechanism(np.array([0, 5000.0]), 1.0, 1.0) == 1
        assert inspect.signature(kind.exponential_mechanism) == inspect.signature(before)
        with pytest.raises(InvalidArgument, match="a generator is not taken"):
            kind(prng=np.random.RandomState(0)).exponential_mechanism(**USUAL)
        with pytest.raises(TypeError):
            kind().exponential_mechanism()
    assert vars(kind)["exponential_mechanism"] is before
    assert kind().exponential_mechanism(**USUAL) == "theirs"
    assert packages["mst"].exponential_mechanism([], 1, 1) == "theirs"
    assert isinstance(replaced, Patched)
    assert replaced.guarantee is not None
    assert replaced.guarantee.pure == 3.5
    assert len(replaced.releases) == 4
    assert "mechanisms.mechanism.Mechanism.exponential_mechanism" in repr(replaced)


def test_dpsynth_passes_a_generator_on_which_is_not_used(packages: dict[str, Any]) -> None:
    common, rng = packages["dpsynth"], np.random.default_rng(0)
    scores, state = np.array([0.0, 5000.0]), str(rng.bit_generator.state)
    with patched("dpsynth") as replaced:
        assert common.exponential_mechanism(scores, 1.0, 1.0, rng) == 1
        with pytest.raises(InvalidArgument, match="monotonic=True says"):
            common.exponential_mechanism(scores, 1.0, 1.0, rng, monotonic=True)
        assert len(replaced.releases) == 1
    with patched("dpsynth", monotonic="ignore") as replaced:
        assert common.exponential_mechanism(scores, 1.0, 1.0, rng, monotonic=True) == 1
        assert replaced.releases[0].guarantee == discreet.privacy.BoundedRange(1)  # type: ignore[arg-type]
    assert str(rng.bit_generator.state) == state
    assert common.exponential_mechanism(scores, 1.0, 1.0, rng) == "theirs"


def test_what_was_imported_by_name_is_replaced_and_restored_too(packages: dict[str, Any]) -> None:
    aim, utils_ = packages["aim"], packages["utils"]
    with patched("snsynth"):
        assert aim.exponential_mechanism(**USUAL) == aim.other(**USUAL) == "b"
        assert packages["snmst"].MSTSynthesizer().exponential_mechanism([0, 5000.0], 1, 1.0) == 1
        aim.later = utils_.exponential_mechanism  # as a module that is imported meanwhile does
    assert {f(**USUAL) for f in (aim.exponential_mechanism, aim.other, aim.later)} == {"theirs"}


def test_it_is_restored_after_an_error_and_charges_meanwhile(packages: dict[str, Any]) -> None:
    ledger = Ledger()
    ledger.open("adult", epsilon=1)
    draw = packages["utils"]
    with patched("snsynth", ledger=ledger.session("adult")):
        assert [draw.exponential_mechanism(**USUAL) for _ in range(2)] == ["b", "b"]
    with pytest.raises(Exhausted), patched("snsynth", ledger=ledger.session("adult")):
        draw.exponential_mechanism(**USUAL)
    assert draw.exponential_mechanism(**USUAL) == "theirs"
    assert sum(event.kind == "charged" for event in ledger.history()) == 2


def test_blocks_may_be_nested(packages: dict[str, Any]) -> None:
    draw = packages["utils"]
    with patched("snsynth") as outer:
        with patched("snsynth") as inner:
            draw.exponential_mechanism(**USUAL)
        draw.exponential_mechanism(**USUAL)
    assert (len(outer.releases), len(inner.releases)) == (1, 1)
    assert draw.exponential_mechanism(**USUAL) == "theirs"


def test_the_rounding_of_qualities_is_declared_once(packages: dict[str, Any]) -> None:
    """With so much rounding the better candidate is hardly likelier than the other."""
    with patched("snsynth", rounding=10**6):
        seen = {packages["utils"].exponential_mechanism(**USUAL) for _ in range(200)}
    assert seen == {"a", "b"}


def test_what_is_not_known_is_refused(
    packages: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages["dpsynth"], "exponential_mechanism", lambda scores, seed: 0)
    with (
        pytest.raises(InvalidArgument, match=r"takes \(scores, seed\) in this version"),
        patched("dpsynth"),
    ):
        pass
    monkeypatch.delattr(packages["dpsynth"], "exponential_mechanism")
    with (
        pytest.raises(MissingPackage, match="no exponential mechanism of dpsynth"),
        patched("dpsynth"),
    ):
        pass
    for wrong in ({"package": "numpy"}, {"monotonic": "believe"}, {"rounding": -1}):
        arguments: Any = {"package": "mbi", **wrong}
        with pytest.raises(InvalidArgument), patched(**arguments):
            pass
