"""Builds the documentation of this version beside those of older ones: `make site-versions`.

Into site-versions/VERSION/, with what the theme's chooser reads beside it: versions.json, as mike writes it. The
folder is static, and can be copied to any web server; `python -m http.server` shows it. Older versions stay as they
are.
"""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).parents[1]
SITES = ROOT / "site-versions"


def version() -> str:
    """Return the version of this project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def write_chooser(sites: Path) -> list[str]:
    """Write versions.json, the newest version first, and a first page that leads to it; return the versions."""
    names = [file.parent.name for file in sites.glob("*/index.html")]
    names.sort(key=Version, reverse=True)
    rows = [
        {"version": name, "title": name, "aliases": ["latest"] if name == names[0] else []}
        for name in names
    ]
    (sites / "versions.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    (sites / "index.html").write_text(
        f'<!doctype html><meta charset="utf-8"><title>discreet</title>'
        f'<meta http-equiv="refresh" content="0; url={names[0]}/index.html">'
        f'<a href="{names[0]}/index.html">discreet {names[0]}</a>\n',
        encoding="utf-8",
    )
    return names


def main() -> None:
    """Build this version, and let the chooser know it."""
    site = SITES / version()
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(site)]
    choosing = {"DISCREET_SITE_VERSIONS": "1", "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, **choosing})
    print("site-versions:", ", ".join(write_chooser(SITES)))


if __name__ == "__main__":
    main()
