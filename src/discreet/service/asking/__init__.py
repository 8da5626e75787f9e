"""The data node: holds private data, and answers only questions allowed by their owner.

See docs/how-to/connect.md#in-your-own-program-a-node.
"""

from .allowed_questions import AllowedQuestion

__all__ = ["AllowedQuestion"]
