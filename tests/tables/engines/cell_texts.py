"""Random cells of files of text, and what the library reads in cells: by the kernel, and without it."""

import datetime as dt
import random
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from discreet.tables.formats import reader_library
from discreet.tables.formats.date_texts import DateForm
from discreet.tables.formats.number_texts import THOUSANDS, NumberForm
from discreet.tables.formats.text_form import CellReading, TextForm
from discreet.tables.formats.text_records import TextRecords

Form = NumberForm | DateForm

FORMS = [
    NumberForm(",", "."),
    NumberForm(",", " ", ("EUR", "\u20ac"), parentheses=True),
    NumberForm(".", "'", ("Fr.", "Fr", "CHF")),
    NumberForm(".", ",", percent=True),
    NumberForm(",", "", ("kg", "m\u00b2"), percent=True, parentheses=True),
]
"""Forms of numbers."""

PATTERNS = [
    "%d.%m.%Y", "%Y-%m-%d", "%m/%d/%Y", "%d/%m/%y", "%Y%m%d", "%y%m%d", "%d %m %Y", "%Y.%d.%m", "%d%m%Y",
    "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M:%S %p", "%Y-%m-%dT%H:%M:%S.%f%z", "%p%I,%d-%m-%y", "%Y%m%d%H%M%S",
]  # fmt: skip
"""Forms of dates, the first of them without a time."""

_SIGNS = [
    *"0123456789.,'-+()%/:eE_ TZ", "12", "345", "000", "2024", "31", "29", "60", "\u2019", "\u00a0", "\u2009",
    "\u202f",
    "\u2212", "CHF", "Fr", "Fr.", "EUR", "\u20ac", "kg", "AM", "pm", "+01:00", "-0530", "\u0661", "a", "NaN", "inf",
]  # fmt: skip


def random_number(draw: random.Random, form: NumberForm) -> str:
    """Return a cell that spells a number about every second time."""
    digits = "".join(draw.choices("0123456789", k=draw.choice([1, 2, 3, 4, 7, 12, 18, 25])))
    if form.thousands and draw.random() < 0.6:
        groups = re.findall(".{1,3}", digits[::-1])
        digits = draw.choice(THOUSANDS[form.thousands]).join(groups)[::-1]
    if draw.random() < 0.6:
        digits += form.decimal + "".join(
            draw.choices("0123456789", k=draw.choice([0, 1, 2, 9, 20]))
        )
    unit = draw.choice([*form.units, ""])
    sign, end = draw.choice(["", "", "-", "+", "\u2212"]), ""
    if form.parentheses and draw.random() < 0.3:
        sign, end = "(", ")"
    front = draw.sample([sign, unit], 2) if draw.random() < 0.5 else [sign]
    behind = [
        "%" * form.percent,
        *([unit, end] if len(front) == 1 and draw.random() < 0.5 else [end]),
    ]
    return broken(draw, draw.choice(["", "", " ", "\u00a0"]).join([*front, digits, *behind]))


def random_date(draw: random.Random, pattern: str) -> str:
    """Return a cell that spells a date about every second time."""
    moment = dt.datetime(1, 1, 1) + dt.timedelta(
        microseconds=draw.randrange(315_537_897_599 * 10**6)
    )
    moment = moment.replace(tzinfo=dt.timezone(dt.timedelta(minutes=draw.randrange(-1439, 1440))))
    text = moment.strftime(pattern)
    if "%Y" in pattern:
        text = text.replace(moment.strftime("%Y"), f"{moment.year:04}", 1)
    return broken(draw, re.sub(r"\b0(?=[0-9]\b)", "", text) if draw.random() < 0.3 else text)


def broken(draw: random.Random, text: str) -> str:
    """Return a text, with other signs in it about every second time."""
    for _ in range(draw.choice([0, 0, 0, 1, 2])):
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice(_SIGNS) + text[at + draw.choice([0, 0, 1]) :]
    return text


def random_cells(draw: random.Random, reading: Form, number: int) -> list[str]:
    """Return cells that are not empty, some of them of signs alone."""
    cells = [
        "".join(draw.choices(_SIGNS, k=draw.choice([1, 2, 3, 5, 8]))) for _ in range(number // 4)
    ]
    while len(cells) < number:
        if isinstance(reading, NumberForm):
            cells.append(random_number(draw, reading))
        elif reading.pattern.startswith("excel"):
            cells.append(
                broken(
                    draw,
                    f"{draw.randrange(3 * 10**6)}.{draw.randrange(10 ** draw.randrange(1, 20))}",
                )
            )
        else:
            cells.append(random_date(draw, reading.pattern))
    return [cell for cell in cells if cell]


def read_cells(
    path: Path, forms: tuple[Form | None, ...], *, kernel: bool, encoding: str = "utf-8"
) -> list[list[Any]]:
    """Return what is read in the lines of a file, in every form."""
    readings = tuple(None if one is None else CellReading(one) for one in forms)
    form = TextForm(delimiter=None, quote="", multiline=False)
    records = TextRecords(path, form, encoding, 0, (0,) * len(forms), 0, readings=readings)
    functions = reader_library.open_reader() if kernel else None
    with patch.object(reader_library, "open_reader", lambda: functions):
        stream = pa.RecordBatchReader._import_from_c_capsule(records.__arrow_c_stream__())
        return [column.to_pylist() for column in stream.read_all().columns]


def write_cells(folder: Path, cells: list[str]) -> Path:
    """Write cells, each in a line."""
    path = folder / "cells.csv"
    path.write_bytes("".join(f"{cell}\n" for cell in cells).encode())
    return path
