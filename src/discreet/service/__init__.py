"""Questions about described datasets: in this process, with one interface for owners and analysts.

Guide: docs/how-to/connect.md.
"""

from .connect import connect
from .connection import Connection
from .past_releases import PastRelease

__all__ = ["Connection", "PastRelease", "connect"]
