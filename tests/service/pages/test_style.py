"""Every pair of text and ground that the style sheet uses has the contrast of WCAG AA, light and dark."""

import re
from importlib.resources import files

import pytest

STYLE = files("discreet.service.pages").joinpath("style.css").read_text(encoding="utf-8")
TEXT, EDGE = 4.5, 3.0
PAIRS = [
    *((ink, ground, TEXT) for ink in ("ink", "soft", "accent", "good", "bad") for ground in ("paper", "canvas")),
    ("on-accent", "accent", TEXT), ("bad", "bad-paper", TEXT), ("ink", "bad-paper", TEXT),
    ("edge", "paper", EDGE), ("edge", "canvas", EDGE), ("accent", "paper", EDGE), ("accent", "canvas", EDGE),
    ("bar-spent", "bar-total", EDGE), ("bar-cost", "bar-total", EDGE), ("bar-spent", "paper", EDGE),
    ("bar-cost", "paper", EDGE),
]  # fmt: skip


def palette(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))


LIGHT, DARK = (palette(block) for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2])


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_computed_as_wcag_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "ground", "least"), PAIRS)
def test_colours_can_be_told_apart(
    theme: dict[str, str], ink: str, ground: str, least: float
) -> None:
    assert contrast(theme[ink], theme[ground]) >= least


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_on_every_shade(theme: dict[str, str]) -> None:
    shades = re.findall(r"\.shade-(\d) \{ background: color-mix\(.*--bar-spent\) (\d+)%", STYLE)
    assert [int(number) for number, _ in shades] == [*range(1, 10)]
    grounds = [mixed(theme["bar-spent"], theme["paper"], int(share)) for _, share in shades]
    assert all(contrast(theme["ink"], ground) >= TEXT for ground in grounds)
    steps = [contrast(theme["paper"], ground) for ground in grounds]
    assert steps == sorted(set(steps))


def mixed(one: str, other: str, share: int) -> str:
    """A colour of so many percent of one and the rest of another, as CSS mixes them."""
    parts = zip(*(bytes.fromhex(color[1:]) for color in (one, other)), strict=True)
    return "#" + bytes((share * a + (100 - share) * b) // 100 for a, b in parts).hex()


def test_both_themes_have_every_colour_and_rules_use_no_other() -> None:
    assert LIGHT.keys() == DARK.keys()
    rules = STYLE.split("* { box-sizing")[1]
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?!\w*-)", rules)
    assert {*re.findall(r"var\(--([a-z-]+)\)", STYLE)} == LIGHT.keys() - {"canvas"} | {"canvas"}
    assert "url(" not in STYLE
    assert "@import" not in STYLE
