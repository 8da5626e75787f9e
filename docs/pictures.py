"""Make the pictures of the docs, by running the examples that save them: `make pictures`.

`python docs/pictures.py sherpa` makes those of the pages whose name holds that word.

The random bits are the same every time, so a picture changes only if its example or matplotlib does. The
one exception is a picture of running times.
"""

import os
import re
import sys
from pathlib import Path

from discreet.mechanisms.testing import SeededBits

FOLDERS = [
    Path(__file__).parent / name for name in ("tutorials", "reproductions", "how-to", "explanation")
]
EXAMPLES = Path(__file__).parents[1] / "examples"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
SAVED = re.compile(r'savefig\(\s*"([^"]+)"|Path\("([^"]+\.svg)"\)')


def seeded() -> None:
    """Let the operating system's random bits be the same every time, in this process."""
    bits = SeededBits()
    os.urandom = lambda n: bits.words(-(-n // 8)).tobytes()[:n]


def draw(page: Path) -> None:
    """Run every example of the page that saves a picture, in the folder of pictures beside it."""
    os.chdir(page.parent / "pictures")
    Path("examples").symlink_to(EXAMPLES)
    try:
        for code in BLOCK.findall(page.read_text(encoding="utf-8")):
            if saved := SAVED.findall(code):
                print(page.name, *("".join(names) for names in saved))
                seeded()
                exec(compile(code, page.name, "exec"), {"__name__": "__main__"})
    finally:
        Path("examples").unlink()


def main() -> None:
    """Make the pictures of all pages, or of those that are named."""
    wanted = sys.argv[1:] or [""]
    for folder in FOLDERS:
        for page in sorted(folder.resolve().glob("*.md")):
            if any(word in page.name for word in wanted):
                draw(page)


if __name__ == "__main__":
    main()
