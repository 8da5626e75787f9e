"""Drop-in replacements for the exponential mechanism of other packages.

`exponential_mechanism` takes what those of private-pgm (mbi) and smartnoise-synth take, and returns what they
return. `patched` puts it in the place of theirs, and of that of dpsynth, while a block runs. What is
wrong with theirs: docs/explanation/synthesizers.md.
"""

from .exponential_mechanism import exponential_mechanism
from .patched import Patched, patched

__all__ = ["Patched", "exponential_mechanism", "patched"]
