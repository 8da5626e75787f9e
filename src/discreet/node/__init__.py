"""The data node: private data that answer only what their owner allows. What is promised: docs/node.md."""

from .allowed_questions import AllowedQuestion
from .analyst import Analyst
from .data_node import DataNode

__all__ = ["AllowedQuestion", "Analyst", "DataNode"]
