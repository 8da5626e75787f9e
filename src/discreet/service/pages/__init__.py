"""Pages for people: questions, plan, ask, budgets, history. No scripts, and no content from elsewhere.

See docs/how-to/connect.md#in-a-browser.
"""

from .login_page import to_login
from .page_request import Site, session_name_of
from .page_routes import PAGE_PATHS, page_not_found, page_routes

__all__ = ["PAGE_PATHS", "Site", "page_not_found", "page_routes", "session_name_of", "to_login"]
