"""A demo for people who decide: a question, an attacker, answers with their error, a budget and its report.

Run it with `make demo`. It takes a minute, and writes the report into the folder discreet-demo. The 4,000 people
are invented, so the truth may stand beside each answer.
"""

import csv
from fractions import Fraction
from pathlib import Path
from statistics import mean, median
from typing import cast

from rich.console import Console
from rich.table import Table

import discreet

FILE = Path(__file__).with_name("people.csv")
FOLDER = Path("discreet-demo")
ROUNDS = 2_000
console = Console(highlight=False, width=80)


def main() -> None:
    """Play the four scenes."""
    with FILE.open(encoding="utf-8") as file:
        people = list(csv.DictReader(file))
    exact_numbers(people)
    attacker(people)
    answers(people)


def exact_numbers(people: list[dict[str, str]]) -> None:
    """Show what two exact numbers reveal."""
    title("1. Two harmless numbers", "How many people in Lausanne drink tea?")
    monday = tea_drinkers(people)
    tuesday = tea_drinkers([one for one in people if one["person"] != "p0001"])
    console.print(f"On Monday the exact answer is [bold]{monday}[/bold].")
    console.print(f"Person p0001 leaves. On Tuesday it is [bold]{tuesday}[/bold].")
    console.print("So p0001 lives in Lausanne and drinks tea. Both numbers were only counts.")


def attacker(people: list[dict[str, str]]) -> None:
    """Let an attacker guess if one person is in the data, from exact and from private counts."""
    title("2. The attacker's best guess", "Is p0001 in the data?")
    console.print(
        f"We toss a coin {ROUNDS:,} times: heads, and p0001 is in the data. The attacker knows\n"
        "everybody else, sees the answer, and guesses as well as anyone can.\n"
    )
    table = Table("the answer is", "guesses right", "in the long run, at best", box=None)
    table.add_row("exact", f"{1:.1%}", "100.0%")
    count = tea_drinkers(people)
    for epsilon, most in (("1", "73.1%"), ("1/2", "62.2%"), ("1/10", "52.5%")):
        right = sum(is_guess_right(count, toss % 2, epsilon) for toss in range(ROUNDS))
        table.add_row(f"private, ε = {epsilon}", f"{right / ROUNDS:.1%}", most)
    console.print(table)
    console.print(
        "\nA blind guess is right in 50.0%. You choose ε, and with it the last column.\n"
        "Luck moves the middle column by one or two percent."
    )


def is_guess_right(count: int, is_inside: int, epsilon: str) -> bool:
    """Return whether an attacker who sees one private count guesses right if one person is in the data."""
    true = count if is_inside else count - 1
    answer = discreet.geometric(true, sensitivity=1, epsilon=epsilon).value
    return (answer >= count) == bool(is_inside)


def answers(people: list[dict[str, str]]) -> None:
    """Ask four questions within a budget, see the fifth rejected, and write the report."""
    title("3. Useful answers, and how far off they are", "")
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "budget.db").unlink(missing_ok=True)
    ledger = discreet.Ledger(FOLDER / "budget.db")
    ledger.open("people", epsilon=2)
    ages, hours = (sorted(int(one[column]) for one in people) for column in ("age", "hours"))
    with ledger.session("people") as private:
        ages_grid = discreet.Grid(0, 120)
        drinks = ["coffee", "tea", "water", "juice"]
        asked = (
            ("how many people", f"{len(people):,}", "people",
             private.count(FILE, epsilon="1/2")),
            ("median age", f"{median(ages):g}", "places in the order of ages",
             private.median(FILE, "age", candidates=ages_grid, epsilon="1/2")),
            ("mean hours a week", f"{mean(hours):.2f}", "hours",
             private.mean(FILE, "hours", minimum=0, maximum=60, epsilon="1/2")),
            ("most common drink", "coffee", "people fewer than the first",
             private.mode(FILE, "drink", candidates=drinks, epsilon="1/2")),
        )  # fmt: skip
        table = Table("question", "truth", "answer", "with 95 % off by less than", box=None)
        for question, truth, unit, answer in asked:
            error = cast(dict[str, str], answer.as_dict()["error"])["error"]
            off = f"{float(Fraction(error)):.3g} {unit}"
            table.add_row(question, truth, f"{answer.value}", off)
        console.print(table)
        title("4. A budget that holds", "Each answer cost ε = 1/2 of 2. Now ask a fifth question:")
        try:
            private.count(FILE, "city", epsilon="1/2")
        except discreet.errors.Exhausted as error:
            console.print(f"[bold]rejected:[/bold] {error}")
    report = discreet.report(ledger, FOLDER / "report.html", dataset="people")
    console.print(f"\nThe report for your files, and for the people: [bold]{report}[/bold]")


def tea_drinkers(people: list[dict[str, str]]) -> int:
    """Return how many people in Lausanne drink tea, exactly."""
    return sum((one["city"], one["drink"]) == ("Lausanne", "tea") for one in people)


def title(text: str, question: str) -> None:
    """Print the title of a scene."""
    console.print(f"\n[bold]{text}[/bold]\n{question}" if question else f"\n[bold]{text}[/bold]")


if __name__ == "__main__":
    main()
