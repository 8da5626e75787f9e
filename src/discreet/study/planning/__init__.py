"""Planning a release: the distribution of its answer, its error, and the epsilon that a wanted error needs."""
