"""The verbs, one noun a file: each names its score and hands over to `selection.release`."""
