"""Privacy guarantees: sensitivities, the guarantees that follow from them, and their composition."""

from .composition import Composition, compose

__all__ = ["Composition", "compose"]
