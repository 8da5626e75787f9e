"""Selection: from given scores to a release, and the account that pays for it."""
