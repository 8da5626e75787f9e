"""Make the pictures of the tutorials, by running the examples that save them: `make pictures`.

The random bits are the same every time, so a picture changes only if its example or matplotlib does. The
one exception is a picture of running times.
"""

import os
import re
from pathlib import Path

from discreet.testing import SeededBits

TUTORIALS = Path(__file__).parent / "tutorials"
EXAMPLES = Path(__file__).parents[1] / "examples"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def seeded() -> None:
    """Let the operating system's random bits be the same every time, in this process."""
    bits = SeededBits()
    os.urandom = lambda n: bits.words(-(-n // 8)).tobytes()[:n]


def main() -> None:
    """Run every example that saves a picture, in the folder of pictures."""
    pictures = TUTORIALS / "pictures"
    pictures.mkdir(exist_ok=True)
    os.chdir(pictures)
    Path("examples").symlink_to(EXAMPLES)
    try:
        for page in sorted(TUTORIALS.glob("*.md")):
            for code in BLOCK.findall(page.read_text(encoding="utf-8")):
                for name in re.findall(r'savefig\(\s*"([^"]+)"', code):
                    print(page.name, name)
                if "savefig(" in code:
                    seeded()
                    exec(compile(code, page.name, "exec"), {"__name__": "__main__"})
    finally:
        Path("examples").unlink()


if __name__ == "__main__":
    main()
