"""Looking before paying: the law of an answer, its error, and how much privacy a wanted error costs."""
