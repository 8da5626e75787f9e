"""The queue: when questions start, which process reads them, and when replies leave."""
