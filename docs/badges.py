"""Draw the badges of the README from pyproject.toml: `python docs/badges.py` writes assets/badge_*.svg."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
BADGE = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img">
<title>{name}: {says}</title>
<rect width="{width}" height="20" rx="3" fill="#2f4f8f"/>
<path d="M3 0h{left}v20h-{left}a3 3 0 0 1-3-3v-14a3 3 0 0 1 3-3z" fill="#444c56"/>
<g fill="#fff" font-family="Verdana, 'DejaVu Sans', sans-serif" font-size="11">
<text x="7" y="14">{name}</text>
<text x="{start}" y="14">{says}</text>
</g>
</svg>
"""


def badge(name: str, says: str) -> str:
    """Return a badge as SVG."""
    left, right = (12 + round(7.2 * len(text)) for text in (name, says))
    return BADGE.format(name=name, says=says, left=left, start=left + 9, width=left + right + 4)


def pictures() -> dict[str, str]:
    """Return the badges by the names of their files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    return {
        "badge_python.svg": badge("python", " | ".join(versions)),
        "badge_licence.svg": badge("licence", project["license"]),
        "badge_version.svg": badge("version", project["version"]),
        "badge_types.svg": badge("types", "mypy strict"),
    }


def main() -> None:
    """Write the badges."""
    for name, text in pictures().items():
        (Path(__file__).parent / "assets" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
