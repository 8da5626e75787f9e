"""Reports in English."""

from .wording import Wording

ENGLISH = Wording(
    lang="en",
    private="Private: this report shows a distribution that depends on private data. Do not publish it.",
    made="Written {now} by {versions}.",
    no_picture="{says} (No picture: {reason}.)",
    think={
        "add_remove": "Think of the same data with one record added or removed.",
        "replace_one": "Think of the same data with one record replaced by another.",
    },
    whether={
        "add_remove": "that record is in the data",
        "replace_one": "it is the one record or the other",
    },
    nothing="Nothing is promised. {said}.",
    failing="{think} Whatever one may look for in what comes out, its chance on the one is at most {factor} times "
    "its chance on the other, plus {delta}.",
    chance="{think} Whatever comes out here, its chance on the one is at most {factor} times its chance on the "
    "other.",
    belief="So whoever thought it even odds whether {whether} can be at most {sure} sure after seeing the answer, "
    "whatever else they know, and however much they compute.",
    no_protection="So whoever thought it even odds whether {whether} may be practically sure after seeing the "
    "answer: an ε this large protects nobody.",
    relation={
        "add_remove": "One record added or removed; how many records there are is protected too. {record}",
        "replace_one": "One record replaced by another; how many records there are is taken as public. {record}",
    },
    one_row="One record is one row.",
    one_unit="One record is all rows of one {unit}.",
    exactness_title="How exact it is",
    exactness=(
        "Privacy parameters are fractions. The weight of each candidate lies in an interval of exact numbers "
        "that is proved to hold it; none is rounded to a floating-point number. A draw reads random bits until "
        "every real number that begins with them, and every weight in its interval, lead to one and the same "
        "answer; while they do not, more bits are read and the intervals shrink. So the distribution of the "
        "answer is the one in the proof, to the last bit.",
        "What is left to trust are the random bits of the operating system, and that the declared sensitivity is "
        "true. The proof and its error analysis are in the library's documentation: “The draw, "
        "and why it is exact”, and for the mechanism “Mechanisms”.",
    ),
    release_title="A private answer",
    asked_title="What was asked",
    question="Question",
    not_recorded="not recorded",
    answer="Answer",
    more_answers="{shown}, and {more:,} more",
    mechanism="Mechanism",
    promised_title="What is promised",
    exactly="Exactly",
    neighbours="Neighbours",
    cost_title="What it cost",
    pure="Pure differential privacy",
    concentrated="Zero-concentrated",
    privacy="Privacy",
    error_title="How good such an answer is",
    error="Whatever the data are, the score of the answer is behind the best score by at most {error:.4g} on "
    "average, in units of how much one record can move the difference of two scores.",
    error_picture="The expected error on the worst of all data, for {candidates:,} candidates; the answer was "
    "given at ε = {epsilon:.4g}. It is not about these data, so it is public.",
    distribution_title="The distribution: do not publish",
    distribution_picture="The distribution that the answer was drawn from. It is as private as the data.",
    budget_title="The privacy budget of {dataset}",
    budget="Spent {spent} of {total}; remaining {remaining}.",
    granted="Of what was spent, {granted} are shares of analysts, which are paid for when they are opened.",
    spent_title="What was spent",
    remaining_title="What remains",
    promised_together="This is about all answers together, those so far and those to come: the ledger refuses "
    "more, unless its owner extends the budget. Then the larger total is all that is promised.",
    all_answers="All answers, unless it is extended",
    so_far="Answers so far",
    none="none",
    sums=("budget", "total", "spent", "remaining"),
    history=("time (UTC)", "analyst", "question", "mechanism", "cost"),
    elsewhere="made elsewhere",
    last_rows="The last {shown:,}; {before:,} before.",
    budget_picture="What the answers cost, summed up over time in {sign}, and the whole budget (dashed).",
    chain_title="That nothing was edited",
    chain="Each event holds a hash of all before it. The chain and all sums were computed anew for this report, "
    "and agree. Compare the head with one noted elsewhere: only that finds a ledger that was replaced as a whole.",
    events="Events",
    head="Head",
    audit_title="An audit of a privacy claim",
    holds="The claim {claim} holds for this pair of datasets. That is a proof, not a test.",
    false="The claim {claim} is false: this pair of datasets refutes it.",
    bounded_range=", bounded range",
    found_title="What was found",
    claimed="Claimed",
    true="True ε of the pair",
    at_output="{epsilon}, at output {output}",
    range="Largest difference of log-ratios",
    delta="δ at the claimed ε",
    slack="Claimed ε over the true ε",
    losses_picture="What each output tells: the logarithm of how much likelier it is on the first dataset than on "
    "the second. The claim allows what is between the dashed lines.",
    meaning_title="What it means",
    meaning=(
        "On two datasets that are neighbours the same mechanism has two distributions. The audit computes "
        "certified intervals for both, and compares them output by output: the true ε is the largest logarithm "
        "of a ratio of two probabilities. Numbers are certified bounds; nothing was sampled.",
        "It is about these two datasets. The ε of a mechanism is the largest over all neighbours, so a claim that "
        "holds here can fail elsewhere, while one that is false here is false. The statement and its proof "
        "are in the library's documentation: “Audit”.",
        "The pair is taken to be made up. An audit of real data is as private as the data.",
    ),
    audits={
        "SamplingAudit": "A lower bound on epsilon. It can refute a claim, and it can never prove one.",
        "SensitivityAudit": "The result of an audit: without a counterexample and exhaustive, a proof for that "
        "universe and those sizes.",
        "TimingAudit": "How two inputs differ in work and in time. It can show a leak, never that there is none.",
    },
    proof="The statement and its proof are in the library's documentation: “Audit”.",
    made_up="The data are taken to be made up. An audit of real data is as private as the data.",
    notations=(),
    labels=(),
    private_labels=(),
)
