"""Our mechanisms in the terms of other libraries. Each bridge imports its library when it is used."""
