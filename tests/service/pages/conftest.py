"""A service with its pages, one for all tests of a file."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from ..answer_times import answering

if TYPE_CHECKING:
    from .person import Served

collect_ignore_glob = [] if all(map(find_spec, ("starlette", "jinja2", "httpx"))) else ["test_*.py"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Served"]:
    from ..asking.test_connect import TEXT, write_files
    from .person import Served

    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("pages"))
        patched.delenv("DISCREET_CONFIG", raising=False)
        write_files()
        often = TEXT.replace("max_failures = 1", "max_failures = 1000")
        yield Served(answering(often), ("ann", "bob"))
