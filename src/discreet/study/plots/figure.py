"""The figure that pictures are drawn on: a matplotlib figure that shows itself in notebooks and pages.

This module imports matplotlib, so it is itself imported only when something is drawn.
"""

import io
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings
from xml.dom.minidom import Element, parseString

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.font_manager import fontManager
from matplotlib.text import Text

from ...base.messages import gettext
from .contents import BLACK, ON_DARK

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.backend_bases import RendererBase

_PIXELS = 96
"""Pixels per inch on a screen; pictures for notebooks have twice as many, for sharp ones."""

_HAN = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
"""Characters of Chinese, Japanese and Korean, which the font of matplotlib does not have."""

_FONTS_WITH_HAN = (
    "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "SimHei", "Noto Sans CJK SC", "Noto Sans CJK JP",
    "Source Han Sans SC", "Source Han Sans CN", "WenQuanYi Micro Hei", "Arial Unicode MS",
)  # fmt: skip


class Figure(MatplotlibFigure):
    """A matplotlib figure. A notebook shows it, without any magic command; `savefig` writes it to a file.

    `to_svg` returns it for a web page.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        FigureCanvasAgg(self)
        self._titles: dict[str, tuple[str, ...]] = {}

    def name_marks(self, artist: "Artist", texts: Sequence[str]) -> None:
        """Give a mark its title in SVG, or every point of a line its own."""
        name = f"mark-{len(self._titles)}"
        artist.set_gid(name)
        self._titles[name] = tuple(texts)

    def draw(self, renderer: "RendererBase") -> None:
        """Draw it. A Chinese candidate in a font that has it, if one is installed."""
        for axes in self.axes:  # asked for their labels, axes write them
            axes.get_xticklabels()
            axes.get_yticklabels()
        for text in self.findobj(Text):
            if isinstance(text, Text) and _HAN.search(text.get_text()):
                text.set_fontfamily(["sans-serif", *_font_with_han()])
        super().draw(renderer)

    def to_svg(self) -> str:
        """Return the picture as an `<svg>` element: a file of its own, or a part of a page.

        It refers to no other file, and has no script. Text is text, every mark has a title, which browsers
        show under the pointer and screen readers say, and colours follow the reader's choice of light or dark.
        """
        buffer = io.BytesIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        with rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none"}), catch_warnings():
            filterwarnings("ignore", "Glyph", UserWarning)  # fonts are the reader's
            self.savefig(buffer, format="svg", metadata=nothing)
        root = parseString(buffer.getvalue()).documentElement
        assert root is not None
        for group in root.getElementsByTagName("g"):
            if titles := self._titles.get(group.getAttribute("id")):
                _entitle(group, titles)
        _restyle(root, self._summary())
        _drop_ids(root)
        return root.toxml()

    def _summary(self) -> str:
        """Return the picture in words: its title, or the names of its axes."""
        axes = self.axes[0]
        summary = axes.get_title() or gettext(
            "{y} by {x}", y=axes.get_ylabel(), x=axes.get_xlabel()
        )
        return " ".join(summary.split())

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture for a notebook, with its size on the screen."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=2 * _PIXELS)
        width, height = (round(inches * _PIXELS) for inches in self.get_size_inches())
        return buffer.getvalue(), {"width": width, "height": height}


@cache
def _font_with_han() -> tuple[str, ...]:
    """Return the name of an installed font that has Chinese characters, if there is one."""
    names_of_fonts = {font.name for font in fontManager.ttflist}
    return tuple(name for name in _FONTS_WITH_HAN if name in names_of_fonts)[:1]


def _entitle(group: Element, titles: tuple[str, ...]) -> None:
    """Give the points in a group their titles, or all of it one."""
    points = group.getElementsByTagName("use")
    marks = points if len(points) == len(titles) else [group]
    texts = titles if len(points) == len(titles) else ["; ".join(titles)]
    for mark, text in zip(marks, texts, strict=True):
        title = _element(group, "title", text)
        mark.insertBefore(title, mark.firstChild)


def _restyle(root: Element, summary: str) -> None:
    """Name the picture, and replace matplotlib's style, which would be that of the whole page."""
    root.setAttribute("class", "discreet-figure")
    root.setAttribute("role", "img")
    root.setAttribute("aria-label", summary)
    root.setAttribute("style", "max-width: 100%; height: auto")
    for path in root.getElementsByTagName("path"):
        if path.parentNode is not None and path.parentNode.nodeName == "defs":
            path.removeAttribute(
                "style"
            )  # each use of it has the same, and there it can be changed
    for style in root.getElementsByTagName("style"):
        assert style.parentNode is not None
        style.parentNode.removeChild(style)
    root.insertBefore(_element(root, "style", _css()), root.firstChild)


def _css() -> str:
    dark = [
        f'.discreet-figure [style*="{what}: {light}"], .discreet-figure [{what}="{light}"] '
        f"{{ {what}: {colour} !important }}"
        for light, colour in ON_DARK.items()
        for what in ("fill", "stroke")
    ]
    text = f".discreet-figure text {{ fill: {ON_DARK[BLACK]} }}"
    return "\n".join([
        ".discreet-figure * { stroke-linejoin: round; stroke-linecap: butt }",
        "@media (prefers-color-scheme: dark) {", *dark, text, "}",
    ])  # fmt: skip


def _drop_ids(root: Element) -> None:
    """Remove the names without a reference to them: two pictures of a page may not share them."""
    targets = {*re.findall(r"#([\w-]+)", root.toxml())}
    for element in root.getElementsByTagName("*"):
        if element.getAttribute("id") not in targets and element.hasAttribute("id"):
            element.removeAttribute("id")


def _element(beside: Element, name: str, text: str) -> Element:
    """Return a new element that holds a text."""
    document = beside.ownerDocument
    assert document is not None
    element = document.createElement(name)
    element.appendChild(document.createTextNode(text))
    return element
