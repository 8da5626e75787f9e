"""Pages for people: questions, plan, ask, budgets, history. No scripts, and no content from elsewhere.

Guide: docs/how-to/pages.md.
"""

from .page_routes import add_pages, page_not_found
from .site import Site

__all__ = ["Site", "add_pages", "page_not_found"]
