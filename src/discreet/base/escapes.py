"""Texts of others as they may be shown: released values, names, messages of a server."""


def visible_text(text: str, keep: str = "") -> str:
    """Return a text in which every character can be seen, as escapes that Python reads.

    Others would move a cursor, colour a terminal, begin a line, or reorder or hide their neighbours.

    Args:
        text: the text.
        keep: characters that stay as they are, such as the ends of lines.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in keep else ascii(letter)[1:-1] for letter in text
    )
