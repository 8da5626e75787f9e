"""The data node: private data that answer only what their owner allows. What is promised: docs/node.md."""

from .allowed import AllowedQuestion
from .analyst import Analyst
from .owner import DataNode

__all__ = ["AllowedQuestion", "Analyst", "DataNode"]
