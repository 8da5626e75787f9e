"""Pictures inside reports."""

from dataclasses import dataclass

from markupsafe import Markup

from ...base.messages import Message


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart with its caption.

    Attributes:
        svg: the chart.
        caption: the text below it.
    """

    svg: Markup
    caption: Message
