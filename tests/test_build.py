"""The build: a wheel with the kernel where a C compiler works, a plain one otherwise, and never a failure."""

import shutil
import sys
from collections.abc import Callable
from gettext import GNUTranslations
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.build import build_editable, build_sdist, build_wheel

from discreet import __version__
from discreet.sampling.kernel import active
from discreet.sampling.kernel_library import open_library
from discreet.sampling.speed import speed
from discreet.tables.formats.reader_library import open_reader

ROOT = Path(__file__).parents[1]
AROUND = ["pyproject.toml", "hatch_build.py", ".gitignore", "README.md", "LICENSE"]
SAMPLING = Path("src", "discreet", "sampling")
FORMATS = SAMPLING.with_name("tables") / "formats"
LOCALE = Path("src", "discreet", "base", "locale")
SOURCE = "double discreet_twice(double x) { return 2 * x; }\n"
LIBRARY = {"win32": "_kernel.dll", "darwin": "_kernel.dylib"}.get(sys.platform, "_kernel.so")

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ["cc", "gcc", "clang"])), reason="there is no C compiler"
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A package of the same name and build, with nothing in it but a kernel."""
    return written(tmp_path / "checkout")


def written(folder: Path) -> Path:
    (folder / SAMPLING).mkdir(parents=True)
    for name in AROUND:
        shutil.copy(ROOT / name, folder)
    (folder / "src" / "discreet" / "__init__.py").touch()
    (folder / SAMPLING / "kernel.c").write_text(SOURCE, encoding="utf-8")
    return folder


def build(checkout: Path, what: Callable[[str], str] = build_wheel, **environment: str) -> Path:
    """Build without the caller's compiler flags; return the file that came out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(checkout)
        for name in ("CC", "CFLAGS"):
            patch.delenv(name, raising=False)
        for name, value in {"SOURCE_DATE_EPOCH": "1700000000", **environment}.items():
            patch.setenv(name, value)
        return checkout / "dist" / what(str(checkout / "dist"))


def is_plain(wheel: Path) -> bool:
    files = {Path(name).name for name in ZipFile(wheel).namelist()}
    assert "__init__.py" in files
    assert "kernel.c" not in files
    plain = wheel.name == f"discreet-{__version__}-py3-none-any.whl"
    assert plain == (LIBRARY not in files)
    assert wheel.name.startswith(f"discreet-{__version__}-py3-none-")
    return plain


@needs_compiler
def test_a_compiler_puts_the_kernel_into_the_wheel_and_builds_are_equal(tmp_path: Path) -> None:
    one, other = (build(written(tmp_path / name)) for name in ("one", "another place"))
    assert not is_plain(one)
    assert one.name == other.name
    assert one.read_bytes() == other.read_bytes()


@needs_compiler
@pytest.mark.skipif(
    (library := active()) is not None and library.settle is not None,
    reason="both were compiled from what there is today, and are loaded",
)
def test_the_sources_of_today_compile(checkout: Path) -> None:
    """If they did not, the library would go without them, and so would its tests."""
    for name in ("kernel.c", "settle.c"):
        shutil.copy(ROOT / SAMPLING / name, checkout / SAMPLING)
    (checkout / FORMATS).mkdir(parents=True)
    shutil.copy(ROOT / FORMATS / "reader.c", checkout / FORMATS)
    assert not is_plain(build(checkout))


@needs_compiler
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such module on Windows")
@pytest.mark.parametrize("headers", [True, False])
def test_a_module_for_short_draws_is_built_where_the_headers_are(
    checkout: Path, headers: bool
) -> None:
    """Its wheel has the name that one without it has, for every Python."""
    header = "Python.h" if headers else "no_such_header.h"
    module = f"#include <{header}>\nPyMODINIT_FUNC PyInit__settle(void) {{ return NULL; }}\n"
    (checkout / SAMPLING / "settle.c").write_text(module, encoding="utf-8")
    wheel = build(checkout)
    assert not is_plain(wheel)
    assert ("_settle.abi3.so" in {Path(name).name for name in ZipFile(wheel).namelist()}) is headers


def test_a_kernel_that_was_built_is_loaded() -> None:
    """Or tests of it would be left out for a fault of its own."""
    reason = speed().reason
    faults = ("it was built for another system", "it was built from an older kernel.c")
    assert reason is None or not reason.startswith(faults), reason


@needs_compiler
def test_a_reader_that_was_built_is_loaded() -> None:
    """Or files would be read slowly, and tests of it be left out."""
    assert open_library() == "DISCREET_KERNEL is 0" or open_reader() is not None


@pytest.mark.parametrize("compiler", ["false", "true", "no-such-program", "cc '"])
def test_a_compiler_that_does_not_work_leaves_a_plain_wheel(checkout: Path, compiler: str) -> None:
    (checkout / SAMPLING / LIBRARY).write_text("left from another day", encoding="utf-8")
    assert is_plain(build(checkout, CC=compiler))


def test_no_compiler_at_all_leaves_a_plain_wheel(checkout: Path, tmp_path: Path) -> None:
    assert is_plain(build(checkout, PATH=str(tmp_path)))


@pytest.mark.parametrize("source", ["not C", "", None])
def test_a_kernel_that_does_not_compile_leaves_a_plain_wheel(
    checkout: Path, source: str | None
) -> None:
    kernel = checkout / SAMPLING / "kernel.c"
    kernel.unlink() if source is None else kernel.write_text(source, encoding="utf-8")
    assert is_plain(build(checkout)) or source == ""


@needs_compiler
def test_flags_from_outside_do_not_reach_the_kernel(checkout: Path) -> None:
    (checkout / SAMPLING / "kernel.c").write_text(f"#ifdef __FAST_MATH__\n#error\n#endif\n{SOURCE}")
    assert not is_plain(build(checkout, CFLAGS="-ffast-math"))
    assert not is_plain(build(checkout, CC=f"{'cc' if shutil.which('cc') else 'gcc'} -ffast-math"))


@needs_compiler
def test_an_editable_install_keeps_the_kernel_beside_its_source(checkout: Path) -> None:
    library = checkout / SAMPLING / LIBRARY
    build(checkout, build_editable)
    assert library.is_file()
    build(checkout, build_editable, CC="false")
    assert not library.exists(), "an old kernel must not outlive its source"


def with_texts(checkout: Path, module: str) -> Path:
    """Return the checkout with a catalogue of messages, and a program that writes the texts of a wheel."""
    (checkout / LOCALE).mkdir(parents=True)
    message = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "tea"\nmsgstr "茶"\n'
    (checkout / LOCALE / "zh.po").write_text(message, encoding="utf-8")
    (checkout / "tools").mkdir()
    (checkout / "tools" / "built_files.py").write_text(module, encoding="utf-8")
    return checkout


WRITER = """
import sys
from pathlib import Path
import discreet
for name in ("__init__.pyi", "commands.json"):
    Path(sys.argv[1], name).write_text("of the library")
"""
TEXTS = {
    "discreet/__init__.pyi",
    "discreet/base/locale/zh.mo",
    "discreet/cli/commands.json",
}


def test_a_wheel_has_the_stub_the_help_and_compiled_catalogues(checkout: Path) -> None:
    wheel = ZipFile(build(with_texts(checkout, WRITER)))
    assert {*wheel.namelist()} >= TEXTS
    assert not any(name.endswith((".po", ".c", ".pyc")) for name in wheel.namelist())
    assert GNUTranslations(wheel.open("discreet/base/locale/zh.mo")).gettext("tea") == "茶"
    assert wheel.read("discreet/cli/commands.json") == b"of the library"
    assert {*checkout.rglob("__pycache__")} <= {checkout / "__pycache__"}  # that of the hook itself


def test_an_editable_install_has_catalogues_and_no_copies_of_its_source(checkout: Path) -> None:
    build(with_texts(checkout, WRITER), build_editable)
    assert (checkout / LOCALE / "zh.mo").is_file()
    assert not (checkout / "src" / "discreet" / "__init__.pyi").exists()
    assert not (checkout / "src" / "discreet" / "cli").exists()


def test_a_builder_without_the_packages_of_the_library_leaves_out_what_they_make(
    checkout: Path,
) -> None:
    names = {*ZipFile(build(with_texts(checkout, "import no_such_package"))).namelist()}
    assert names & TEXTS == {"discreet/base/locale/zh.mo"}


def test_the_packages_that_pip_installed_for_the_build_are_found(
    checkout: Path, tmp_path: Path
) -> None:
    """It names their folder in PYTHONPATH."""
    (tmp_path / "of_the_build.py").touch()
    wheel = build(with_texts(checkout, f"import of_the_build\n{WRITER}"), PYTHONPATH=str(tmp_path))
    assert {*ZipFile(wheel).namelist()} >= TEXTS


def test_a_library_that_cannot_write_its_stub_is_not_built(checkout: Path) -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        build(with_texts(checkout, "1 / 0"))


def test_the_source_distribution_has_what_builds_the_kernel(checkout: Path) -> None:
    (checkout / SAMPLING / LIBRARY).write_text("left from another day", encoding="utf-8")
    archive = build(checkout, build_sdist)
    shutil.unpack_archive(archive, checkout / "unpacked", filter="data")
    names = {file.name for file in (checkout / "unpacked").rglob("*")}
    assert {"kernel.c", "hatch_build.py"} <= names
    assert LIBRARY not in names
