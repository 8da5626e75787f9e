"""The numbers of the five sources, computed again without the library, one file per source."""
