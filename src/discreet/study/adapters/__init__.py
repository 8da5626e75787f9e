"""Drop-in replacements for the exponential mechanism of other packages.

`exponential_mechanism` takes what those of private-pgm (mbi) and smartnoise-synth take, and returns what they
return. What is wrong with theirs, and how to put it in their place: docs/explanation/synthesizers.md.
"""

from .exponential_mechanism import exponential_mechanism

__all__ = ["exponential_mechanism"]
