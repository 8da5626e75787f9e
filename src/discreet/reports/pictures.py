"""Plots inside reports."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..errors import MissingPackage
from ..messages import Message

if TYPE_CHECKING:
    from ..plots.figure import Figure


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot with its caption, or the caption alone where no plot could be drawn.

    Attributes:
        svg: the plot; empty without matplotlib.
        caption: the text below it.
    """

    svg: Markup
    caption: Message


def picture(draw: Callable[[], "Figure"], caption: Message) -> Picture:
    """Return a plot in the language of the reader, or without matplotlib its caption with the reason."""
    try:
        return Picture(Markup(draw().to_svg()), caption)
    except MissingPackage as error:
        missing = Message("{caption} (No picture: {reason}.)", caption=caption, reason=error)
        return Picture(Markup(), missing)
