"""Questions about described datasets: in this process, with one interface for owners and analysts.

See docs/how-to/connect.md.
"""

from .asking.connect import connect
from .asking.connection import Connection
from .asking.past_releases import PastRelease

__all__ = ["Connection", "PastRelease", "connect"]
