"""python -m discreet."""

from .cli import main

main()
