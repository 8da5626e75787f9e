"""The template from which readers are forked: a process that has made all imports of a question, and holds no data.

Importing this module makes a process one. Threads of engines do not survive a fork, so none is left running.
"""

from ..tables.database import close_databases
from .reader import collect_no_more, warm_up

warm_up()
close_databases()
collect_no_more()
