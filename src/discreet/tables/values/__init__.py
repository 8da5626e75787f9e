"""Values of columns: their types, and the cells that candidates mean."""
