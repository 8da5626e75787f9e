"""The languages of reports."""

from typing import Literal

Language = Literal["en", "zh"]
"""English and Chinese, by their codes."""
