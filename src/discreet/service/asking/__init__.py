"""The data node: holds private data, and answers only questions allowed by their owner.

Guide: docs/how-to/node.md.
"""

from .allowed_questions import AllowedQuestion

__all__ = ["AllowedQuestion"]
