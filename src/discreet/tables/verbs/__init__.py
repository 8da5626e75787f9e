"""The verbs, one noun a file: a verb builds its score and calls `selection.release`."""
