"""The template from which readers are forked: a process that has made all imports of a question, and holds no data.

Importing this module makes a process one. Threads of engines do not survive a fork, so none is left running.
"""

import os

from ..http.lifelines import end_with

end_with(
    os.getppid()
)  # before the imports that take long; one that has ended until now it hears of by its pipe

from ...tables.engines.database import close_databases  # noqa: E402
from .reader import collect_no_more, warm_up  # noqa: E402

PROCESS = os.getpid()
"""Its number, for those that it forks."""

warm_up()
close_databases()
collect_no_more()
