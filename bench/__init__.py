"""How fast we are: ratios to peers, measured in turns, in one run, on one machine. `python -m bench`."""
