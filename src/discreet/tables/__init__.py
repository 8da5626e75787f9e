"""Questions about tables: engines, conditions, scores, described datasets, verbs."""
