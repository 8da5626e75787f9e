"""discreet audit: tests privacy claims. Exit code 0 if a claim holds, 1 if it does not."""

import json
import runpy
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..base.messages import gettext
from ..base.numbers import count, rounded_against
from ..base.numbers import exact as exact_number
from ..errors import InvalidArgument, UnreadableFile
from ..selection.terms import Terms
from .answer_output import check_report, write_report
from .json_output import print_either
from .options import (
    AsJson,
    Epsilon,
    MechanismName,
    MechanismOptions,
    NeighborsName,
    PlotTo,
    ReportAt,
    ReportLanguage,
    Rho,
    Scale,
    argument,
    check_picture,
    chosen_mechanism,
    option,
    switch,
)

if TYPE_CHECKING:
    from ..study.audit import ExactAudit
    from ..study.audit.exact import Interval

audit_app = typer.Typer(name="audit", help="Check a claim of privacy. Exit with 1 if it is false.")

ChangeOption = Annotated[str | None, option("NUMBER", "The most that one score can change.")]
SpreadOption = Annotated[
    str | None, option("NUMBER", "Instead: the most that a difference can change.")
]
MonotonicOption = Annotated[bool, switch("--monotonic", "All scores move the same way.")]
NumbersOption = Annotated[str, option("A,B,C", "The numbers, exactly.")]
DeltaOption = Annotated[str, option("NUMBER", "The delta that is also claimed.")]
ClaimOption = Annotated[str, option("NUMBER", "The claim.", "--epsilon")]

SurenessOption = Annotated[str, option("NUMBER", "The confidence of the bound.")]
UniverseOption = Annotated[
    str | None, option("A,B,C", "The invented records, separated by commas or as a JSON list.")
]
RecordsOption = Annotated[
    Path | None, option("FILE", "Instead: records of people, one a line. Needs --private.")
]
PrivateOption = Annotated[
    bool, switch("--private", "Confirm that the audit is as private as the records.")
]
SizeOption = Annotated[int, option("NUMBER", "The most records in a dataset.", "--up-to")]
DrawsOption = Annotated[
    int | None,
    option("NUMBER", "The number of answers from each dataset, if probabilities are unknown."),
]
RecordOption = Annotated[Path | None, option("FILE", "Write the record of the audit.")]
ProgramArgument = Annotated[str, argument("FILE.py:NAME", "The file and its function.")]


@audit_app.command("exact")
def exact_command(
    scores: NumbersOption,
    neighbor: NumbersOption,
    sensitivity: ChangeOption = None,
    spread: SpreadOption = None,
    monotonic: MonotonicOption = False,
    epsilon: Epsilon = None,
    rho: Rho = None,
    scale: Scale = None,
    mechanism: MechanismName = "exponential",
    mechanism_option: MechanismOptions = None,
    neighbors: NeighborsName = "add_remove",
    plot: PlotTo = None,
    report: ReportAt = None,
    lang: ReportLanguage = None,
    as_json: AsJson = False,
) -> None:
    """Compute the loss of a mechanism on two neighbors' scores.

    The loss is certified, and compared with the guarantee of the mechanism. A report is as private as the scores.

    Example: discreet audit exact --scores 0,1,2 --neighbor 1,1,2 --sensitivity 1 --epsilon 1
    """
    terms: Terms = {
        "epsilon": epsilon,
        "rho": rho,
        "scale": scale,
        "neighbors": neighbors,  # type: ignore[typeddict-item]  # it is checked where it is read
        "mechanism": chosen_mechanism(mechanism, mechanism_option) or mechanism,
    }
    score_terms: Any = {"sensitivity": sensitivity, "spread": spread, "monotonic": monotonic}
    from ..study import audit

    check_picture(plot)
    check_report(report, lang)
    pair = _read_numbers(scores, "scores"), _read_numbers(neighbor, "neighbor")
    exact_audit = audit.exact(*pair, **score_terms, **terms)
    write_report(exact_audit, report, lang)
    _show(exact_audit, plot, as_json=as_json)


@audit_app.command("laws")
def laws_command(
    law: NumbersOption,
    neighbor: NumbersOption,
    epsilon: ClaimOption,
    delta: DeltaOption = "0",
    plot: PlotTo = None,
    as_json: AsJson = False,
) -> None:
    """Compute the privacy loss between two distributions.

    Both must be over the same outputs. The loss is certified, and compared with a claim.

    Example: discreet audit laws --law 0.75,0.25 --neighbor 0.25,0.75 --epsilon 1.1
    """
    from ..study import audit

    check_picture(plot)
    exact_audit = audit.laws(
        _read_numbers(law, "law"), _read_numbers(neighbor, "neighbor"), epsilon=epsilon, delta=delta
    )
    _show(exact_audit, plot, as_json=as_json)


@audit_app.command("draws")
def draws_command(
    file: Annotated[Path, argument("FILE", "Answers on the data, one a line.")],
    neighbor_file: Annotated[
        Path, argument("NEIGHBOR", "The same number of answers on the neighboring data.")
    ],
    epsilon: ClaimOption,
    delta: DeltaOption = "0",
    confidence: SurenessOption = "0.95",
    as_json: AsJson = False,
) -> None:
    """Compute a lower bound on epsilon from answers.

    The answers may come from any program. The bound can refute a claim, but never prove one.

    Example: discreet audit draws on_data.txt on_neighbor.txt --epsilon 1
    """
    from ..study import audit

    sample_audit = audit.samples(
        _lines(file), _lines(neighbor_file), confidence=confidence, delta=delta
    )
    is_refuted = sample_audit.refutes(epsilon)
    print_either(
        {"refuted": is_refuted, **sample_audit.as_dict()},
        f"{sample_audit}\nε = {epsilon} is {'REFUTED' if is_refuted else 'not refuted'}",
        as_json=as_json,
    )
    raise typer.Exit(int(is_refuted))


@audit_app.command("mechanism")
def mechanism_command(
    program: ProgramArgument,
    epsilon: ClaimOption,
    universe: UniverseOption = None,
    records: RecordsOption = None,
    private: PrivateOption = False,
    most: SizeOption = 3,
    delta: DeltaOption = "0",
    neighbors: NeighborsName = "add_remove",
    draws: DrawsOption = None,
    confidence: SurenessOption = "0.95",
    record: RecordOption = None,
    as_json: AsJson = False,
) -> None:
    """Look for a counterexample to your own claim.

    The search covers all pairs of neighbors over a small universe. Your function gets a list of records. It
    returns a dictionary of the exact probabilities of its answers or, with --draws, a single answer. Anyone who
    has the audit's record can repeat it with discreet audit repeat.

    Example: discreet audit mechanism mine.py:response --universe 0,1 --epsilon 1
    """
    from ..study import audit
    from ..study.audit.audit_record import check_records

    kind: Any = neighbors  # it is checked where it is read
    invented = read_universe(universe, records, private=private)
    if record is not None:  # before the work
        check_records(invented)
        check_place(record, program)
    audit_of_mechanism = audit.mechanism(
        load_function(program), invented,
        range(count(most, "--up-to") + 1), epsilon=epsilon, delta=delta, neighbors=kind, draws=draws,
        confidence=confidence, private=private,
    )  # fmt: skip
    if record is not None:
        audit.write_record(audit_of_mechanism, record)
    print_either(audit_of_mechanism.as_dict(), str(audit_of_mechanism), as_json=as_json)
    raise typer.Exit(int(not audit_of_mechanism.holds))


@audit_app.command("repeat")
def repeat_command(
    record: Annotated[Path, argument("RECORD", "The record of an audit.")],
    program: ProgramArgument,
    as_json: AsJson = False,
) -> None:
    """Repeat an audit from its record.

    Exit with 1 if the outcome or the program differs.

    Example: discreet audit repeat record.txt mine.py:response
    """
    from ..study import audit
    from ..study.audit.audit_record import compare_with_record

    audit_again = audit.repeat(record, load_function(program))
    changes = compare_with_record(record, audit_again)
    words = "\n".join(map(str, changes)) or gettext("as in the record")
    print_either(
        {**audit_again.as_dict(), "differences": [*map(str, changes)]},
        f"{audit_again}\n{words}",
        as_json=as_json,
    )
    raise typer.Exit(int(bool(changes)))


AuditedFunction = Callable[[list[Any]], object]


def load_function(program: str) -> AuditedFunction:
    """Return the function that `FILE.py:NAME` names. The file is run, as a program of the user's own.

    Raises:
        InvalidArgument: if the words are not of that form, or there is no such function.
        UnreadableFile: if the file is missing, or does not run.
    """
    path, colon, name = program.rpartition(":")
    if not colon or not path.endswith(".py") or not name.isidentifier():
        raise InvalidArgument(f"the program must be given as FILE.py:NAME, got {program!r}")
    function: AuditedFunction | None = _run_file(Path(path)).get(name)
    if not callable(function):
        raise InvalidArgument(f"{path} has no function {name}")
    return function


def _run_file(path: Path) -> dict[str, Any]:
    """Return the names of a file, which can import its neighbors as if it were run by itself."""
    reason = "it cannot be read"
    if path.is_file():
        sys.path.insert(0, str(path.parent.absolute()))
        try:
            return runpy.run_path(str(path), run_name=path.stem)  # its text, never its byte code
        except Exception as error:  # of any kind: it is not our program
            reason = f"it raises {type(error).__name__}. Run it by itself to see where"
        finally:
            sys.path.pop(0)
    raise UnreadableFile(f"{path} does not run: {reason}")


def check_place(record: Path, program: str) -> None:
    """Raise if a record would take the place of the program.

    Raises:
        InvalidArgument: if it would.
    """
    if record.absolute() == Path(program.rpartition(":")[0]).absolute():
        raise InvalidArgument(f"the record would take the place of the program {record}")


def read_universe(text: str | None, file: Path | None, *, private: bool) -> list[object]:
    """Return the records of which datasets are made: from the command line, or from a file that is private.

    Raises:
        InvalidArgument: if there are none, or both, or a file is not said to be private.
        UnreadableFile: if the file cannot be read.
    """
    if (text is None) == (file is None):
        raise InvalidArgument("make records up and give them as --universe A,B,C")
    if text is not None:
        return _split_records(text)
    if not private:
        raise InvalidArgument(
            "an audit of records of people is as private as they are: add --private, or make records up "
            "and give them as --universe A,B,C"
        )
    try:
        lines = Path(file or "").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        pass
    else:
        return [*map(_entry, dict.fromkeys(lines))]  # by their text: true is not 1
    raise UnreadableFile(f"{file} cannot be read as text")


def _split_records(text: str) -> list[object]:
    """Return the records of a JSON list, or of words between commas: numbers where they read as such."""
    if text.lstrip().startswith("["):
        try:
            records: list[object] = json.loads(text)
        except ValueError:
            pass
        else:
            return records
        raise InvalidArgument("--universe is not a list in JSON")
    return [*map(_entry, text.split(","))]


def _entry(word: str) -> object:
    """Return a number in JSON as such, and any other word as text."""
    try:
        entry = json.loads(word)
    except ValueError:
        return word.strip()
    return entry if isinstance(entry, int | float | str) else word.strip()


def _show(exact_audit: "ExactAudit", plot: Path | None, *, as_json: bool) -> None:
    """Print an audit, plot its privacy losses if asked to, and exit with the verdict."""
    if plot is not None:
        from ..study import plots

        losses = [float(loss) for loss in exact_audit.losses()]
        plots.losses(losses, float(exact_audit.claimed)).savefig(plot)
    print_either(exact_audit.as_dict(), _in_words(exact_audit), as_json=as_json)
    raise typer.Exit(int(not exact_audit.holds))


def _in_words(exact_audit: "ExactAudit") -> str:
    """Return the claim and the truth in words, in as few digits as tell them apart."""
    kind = ", bounded range" if exact_audit.bounded_range else ""
    delta = f", δ = {float(exact_audit.delta):.6g}" if exact_audit.delta else ""
    verdict = "holds for this pair" if exact_audit.holds else "FALSE"
    epsilon, width = (
        _upper_end(each, exact_audit.claimed) for each in (exact_audit.epsilon, exact_audit.range)
    )
    excess = _upper_end(exact_audit.hockey_stick(exact_audit.claimed), exact_audit.delta)
    return (
        f"claimed  ε = {float(exact_audit.claimed):.10g}{delta}{kind}: {verdict}\n"
        f"true     ε ≈ {epsilon} (output {exact_audit.output}), range ≈ {width}\n"
        f"δ at the claimed ε: {excess}"
    )


def _upper_end(true: "Interval", limit: Fraction) -> str:
    """Return the upper end of an interval, told from a limit."""
    if str(true) in ("0", "infinite"):
        return str(true)
    return rounded_against(Fraction(true.upper), limit)


def _read_numbers(text: str, name: str) -> list[Fraction]:
    """Return the numbers of a comma-separated list, exactly."""
    return [exact_number(part.strip(), f"--{name}") for part in text.split(",")]


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        pass
    raise UnreadableFile(f"{file} cannot be read as text")
