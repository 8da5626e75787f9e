"""Endings that tell: one error for all, a number of patterns, datasets that are closed and opened again."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet import Connection
from discreet.errors import (
    DiscreetError,
    Exhausted,
    InvalidArgument,
    InvalidDescription,
    NotAllowed,
    Unanswerable,
    UnknownBudget,
    UnknownName,
    UnreadableFile,
)
from discreet.ledger.delays import Timing
from discreet.ledger.toml_budgets import configuration, described_ledger
from discreet.service.asking.checkout import end_unread
from discreet.service.asking.datasets import hold
from discreet.service.asking.isolation import ChargedError
from discreet.service.asking.rights import rights_of
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http.app import make_app
from discreet.service.http.http_client import HttpClient
from discreet.service.queue.disclosures import (
    Disclosure,
    declared_disclosures,
    happened_bits,
    pattern_bits,
)
from discreet.service.queue.dispatcher_client import DispatcherClient
from discreet.service.queue.dispatcher_process import DispatcherProcess

from ..answer_times import answering
from ..asking.test_connect import TEXT, write_files
from ..http.test_http_client import LATER, InTheProcess
from ..killing import endless

IS_PUBLIC = attrgetter("is_public")

DECLARED = TEXT.replace("max_failures = 1", "max_failures = 3", 1).replace(
    'max_epsilon = "1/4"', 'max_epsilon = "1/4"\nmin_epsilon = "1/50"'
)
NAMED = {"question": "typical-age", "dataset": "people"}
WHY = (
    "closed after 1 failure. The owner opens it again: discreet ledger reopen people --analyst ann"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    return tmp_path


def service(text: str, dispatcher: DispatcherClient | None = None) -> dict[str, InTheProcess]:
    """Return clients of a service, by who asks."""
    Path("discreet.toml").write_text(answering(text))
    tokens = tokens_beside(Path("discreet.toml"))
    app: Any = make_app(configuration(), ["testserver"], dispatcher=dispatcher)
    callers = {"ann": ("analyst", "ann"), "bob": ("analyst", "bob"), "owner": ("owner", None)}
    callers["auditor"] = ("auditor", None)
    return {
        who: InTheProcess(app, tokens.create(*caller, LATER)[0]) for who, caller in callers.items()
    }


def connected(text: str) -> dict[str, Connection]:
    return {
        who: Connection(HttpClient(client), "a service") for who, client in service(text).items()
    }


def fail(connection: Connection, request: str) -> None:
    """Ask while the data are away."""
    path = Path("SECRET-PLACE.csv")
    text = path.read_text()
    path.unlink()
    with pytest.raises((Unanswerable, UnreadableFile)):
        connection.ask("typical-age", request=request)
    path.write_text(text)


def test_one_error_for_all_failures_and_their_repetitions(folder: Path) -> None:
    """Data that are away, without the column, or empty; a reader that computes for too long; again, and later."""
    text = TEXT.replace("max_failures = 1", 'max_failures = 100\nlongest = "700ms"')
    Path("discreet.toml").write_text(answering(text))
    process = DispatcherProcess(configuration(), 1)
    ann = service(text, DispatcherClient(process.path))["ann"]
    path, replies = Path("SECRET-PLACE.csv"), []

    def ask(key: str) -> None:
        reply = ann.request(
            "POST", "/v1/answers", json=NAMED, headers={"Idempotency-Key": f"key {key}"}
        )
        body = reply.content.replace(f"key {key}".encode(), b"key ?")
        replies.append((reply.status_code, sorted(reply.headers.multi_items()), body))

    there = path.read_text()
    for key, content in (("1", None), ("2", "city\nBern\n"), ("3", "")):
        path.unlink() if content is None else path.write_text(content)
        ask(key)
        path.write_text(there)
    with endless(path):
        ask("5")
    for key in "1235":
        ask(key)
    process.end()
    assert [reply for reply in replies if reply != replies[0]] == []
    assert replies[0][0] == 500
    assert len(replies) == 8
    history = described_ledger(configuration(), "people").history()
    assert [e.kind for e in history][-8:] == ["charged", "failed"] * 4
    reasons = [e.body["reason"] for e in history if e.kind == "failed"]
    assert reasons == ["UnreadableFile", "MissingColumn", reasons[2], "processor time or memory"]


@pytest.mark.parametrize("where", ["here", "there"])
def test_a_closed_dataset_says_so_everywhere_to_its_analyst_and_the_owner(
    folder: Path, where: str
) -> None:
    there = connected(TEXT)
    ann, bob, owner = there["ann"], there["bob"], there["owner"]
    if where == "here":
        ann, bob = (discreet.connect(analyst=name) for name in ("ann", "bob"))
        owner = discreet.connect()
    fail(ann, "away")
    before = owner.releases()
    with pytest.raises(Exhausted, match=WHY) as caught:
        ann.ask("typical-age")
    assert caught.value.charged is False
    with pytest.raises(Exhausted, match=WHY):
        ann.mode("people", "city", epsilon="1/8")
    for quote in (
        ann.quote("typical-age"),
        ann.quote_free("mode", "people", "city", epsilon="1/8"),
    ):
        assert (quote.fits, quote.closed) == (False, WHY)
    assert {b.name: b.closed for b in ann.budgets()} == {"people / ann": WHY}
    assert {b.name: b.closed for b in owner.budgets() if b.closed} == {"people / ann": WHY}
    assert there["auditor"].budgets() == owner.budgets()
    assert bob.ask("typical-age").charged
    assert [b.closed for b in bob.budgets()] == [None, None]
    (release,) = ann.releases()
    assert (release.is_answered, release.has_failed) == (False, True)
    assert str(release).endswith(", request away, failed")
    assert [one for one in owner.releases() if one.analyst == "ann"] == before
    assert [b.name for b in owner.reopen("people", analyst="ann")] == ["people / ann"]
    assert ann.budgets()[0].closed is None
    assert ann.quote("typical-age").closed is None
    assert ann.ask("typical-age").charged
    assert owner.reopen("people") == []


def test_the_owner_opens_for_all_at_once(folder: Path) -> None:
    there = connected(TEXT)
    for who in ("ann", "bob", "owner", "owner"):
        fail(there[who], f"{who} {len(there['owner'].releases())}")
    assert there["owner"].ask("typical-age").charged  # the owner's own questions never close
    assert {b.analyst for b in there["owner"].reopen("people")} == {"ann", "bob"}
    for who in ("ann", "bob"):
        assert there[who].ask("typical-age").charged
    with pytest.raises(UnknownName):
        there["owner"].reopen("nothing")
    with pytest.raises(UnknownBudget):
        there["owner"].reopen("rivals", analyst="ann")
    for who in ("ann", "auditor"):
        with pytest.raises(NotAllowed):
            there[who].reopen("people")
    assert there["auditor"].audit().events > 0
    kinds = [event.kind for event in there["auditor"].chain()[1]]
    assert (kinds.count("failed"), kinds.count("reopened")) == (4, 2)


def test_a_restart_forgets_no_failure(folder: Path) -> None:
    fail(connected(DECLARED)["ann"], "1")
    fail(connected(DECLARED)["ann"], "2")
    assert connected(DECLARED)["ann"].quote("typical-age").fits
    fail(connected(DECLARED)["ann"], "3")
    why = WHY.replace("1 failure", "3 failures")
    assert connected(DECLARED)["ann"].quote("typical-age").closed == why
    more = DECLARED.replace("max_failures = 3", "max_failures = 4")
    assert connected(more)["ann"].ask("typical-age").charged


def test_a_question_that_costs_too_little_is_refused_free_and_in_the_same_words(
    folder: Path,
) -> None:
    there = connected(DECLARED)
    ann, words = (
        there["ann"],
        r"this costs ε = 10/501, and a question here costs at least ε = 0\.02: ask",
    )
    for ask in (ann.quote_free, ann.ask_free, discreet.connect(analyst="ann").ask_free):
        with pytest.raises(InvalidArgument, match=words) as caught:
            ask("mode", "people", "city", epsilon="10/501")
        assert caught.value.charged is False
        assert "larger epsilon" in str(caught.value)
    assert there["owner"].releases() == []
    assert ann.mode("people", "city", epsilon="1/50").charged
    assert there["owner"].mode("people", "city", epsilon="1/5000").charged
    plain = connected(TEXT)["ann"]  # a thousandth of 10
    assert plain.mode("people", "city", epsilon="1/100").charged
    with pytest.raises(InvalidArgument, match=r"at least ε = 0\.01"):
        plain.quote_free("mode", "people", "city", epsilon="1/101")


def test_an_answer_of_before_is_given_though_the_least_is_more_now(folder: Path) -> None:
    first = connected(TEXT)["ann"].mode("people", "city", epsilon="1/100", request="cheap")
    again = connected(DECLARED)["ann"].mode("people", "city", epsilon="1/100", request="cheap")
    assert (again.value, again.charged) == (first.value, False)


def test_named_questions_may_cost_less(folder: Path) -> None:
    text = DECLARED.replace('epsilon = "1/2"', 'epsilon = "1/60"')
    ann = connected(text)["ann"]
    assert ann.ask("typical-age").charged
    assert ann.mode("people", "city", epsilon="1/60").charged
    with pytest.raises(InvalidArgument, match="at least"):
        ann.mode("people", "city", epsilon="1/61")


def test_the_default_is_not_above_the_most_for_one_question(folder: Path) -> None:
    described_ledger(configuration(), "people").extend(
        configuration().dataset("people"), epsilon=5000
    )
    there = connected(TEXT)
    there["owner"].extend_budget("people", analyst="ann", epsilon=4000)
    assert there["ann"].mode("people", "city", epsilon="1/4").charged
    with pytest.raises(InvalidArgument, match=r"at least ε = 0\.25"):
        there["ann"].mode("people", "city", epsilon="1/5")


def test_a_least_above_the_most_is_refused(folder: Path) -> None:
    wrong = DECLARED.replace('min_epsilon = "1/50"', 'min_epsilon = "1/2"')
    Path("discreet.toml").write_text(wrong)
    with pytest.raises(InvalidDescription, match=r"min_epsilon.* above max_epsilon, 0\.25"):
        configuration()


class Counted:
    """A client that counts what is sent."""

    def __init__(self, client: InTheProcess) -> None:
        self.client, self.sent = client, 0

    def request(self, *args: Any, **sent: Any) -> Any:
        self.sent += 1
        return self.client.request(*args, **sent)


def test_a_client_repeats_no_failed_question_by_itself(folder: Path) -> None:
    client = Counted(service(TEXT)["ann"])
    fail(Connection(HttpClient(client), "a service"), "once")
    assert client.sent == 1


@pytest.mark.parametrize(
    ("questions", "failures", "bits"),
    [(1000, 1, 10), (1000, 3, 28), (1, 1, 1), (7, 1, 3), (8, 1, 4), (5, 9, 5), (10**30, 1, 100)],
)
def test_patterns_are_counted_in_bits_rounded_up(questions: int, failures: int, bits: int) -> None:
    assert pattern_bits(questions, failures) == bits


def test_the_count_is_that_of_all_patterns() -> None:
    for questions in range(1, 9):
        for failures in range(1, 10):
            patterns = sum(
                1 for size in range(failures + 1) for _ in combinations(range(questions), size)
            )
            bits = pattern_bits(questions, failures)
            assert 2 ** (bits - 1) < patterns <= 2**bits


def test_every_analyst_is_counted(folder: Path) -> None:
    Path("discreet.toml").write_text(DECLARED)
    counts = {(one.analyst, one.dataset): one for one in declared_disclosures(configuration())}
    ann, bob = counts["ann", "people"], counts["bob", "rivals"]
    assert (ann.questions, ann.failures, ann.bits) == (500, 3, 25)
    assert (bob.questions, bob.failures, bob.bits) == (1000, 1, 10)
    assert str(ann) == (
        "ann about people: 500 questions at most, and 3 failures. Which of them fail can reveal up to "
        "25 bits about the data, each time you open it again. Late answers can reveal up to "
        f"{ann.bits_until_reset} bits until the next reset, and {ann.bits_of_life:,} in all"
    )
    assert "1,000 questions at most, and 1 failure." in str(bob)
    assert ("eve", "rivals") not in counts  # no share is open


def test_the_failure_of_an_ended_reader_is_stored_though_the_dataset_was_closed_meanwhile(
    folder: Path,
) -> None:
    """Else the owner's reopening would let the same question be read again, at no cost."""
    connected(TEXT)
    description = configuration()
    rights = rights_of(hold(description), description, "analyst", "ann")

    class EndedError(BaseException):
        pass

    def end() -> int:
        raise EndedError

    unread = end_unread("memory", is_given_up=False)

    def ask(request: str, wrap: Any, timing: Timing | None = None) -> object:
        asking = replace(rights, wrap=wrap, timing=timing)
        return asking.ask("typical-age", "people", request, None)

    with pytest.raises(ChargedError):
        ask("a", lambda prepare: lambda: end)
    with pytest.raises(ChargedError):
        ask("b", unread)
    with pytest.raises(DiscreetError, check=IS_PUBLIC):  # it is closed
        ask("a", unread)
    with pytest.raises(ChargedError):
        ask("a", unread, Timing("", is_record=True, stored_at="2026-03-01T10:00:00+00:00"))
    events = rights.datasets.history("people")
    assert [(e.kind, e.request) for e in events if e.request] == [
        ("charged", "a"), ("charged", "b"), ("failed", "b"), ("failed", "a"),
    ]  # fmt: skip


def _patterns_of_delays(questions: int, doublings: int) -> int:
    """Return the number of sequences of delays that only grow, of so many questions, by enumeration."""
    steps = range(doublings + 1)
    return sum(1 for one in product(steps, repeat=questions) if list(one) == sorted(one))


def test_delays_are_counted_by_enumeration() -> None:
    for questions in range(1, 6):
        for doublings in range(5):
            one = Disclosure("people", "ann", questions, 1, doublings)
            patterns = _patterns_of_delays(questions, doublings)
            given_up = sum(comb(questions, i) for i in range(6))
            assert 2 ** (one.bits_until_reset - 1) < patterns * given_up <= 2**one.bits_until_reset


def test_what_has_happened_is_bounded_without_fixing_it_beforehand() -> None:
    """The weights of all patterns sum to one at most: each of f doublings has 2^-(f + 1) shared by all of them."""
    for questions in range(1, 6):
        total = Fraction(0)
        for doublings in range(8):
            patterns = comb(questions + doublings - 1, doublings)
            weight = Fraction(1, 2 ** (doublings + 1) * patterns)
            total += patterns * weight
            assert 2 ** (happened_bits(questions, doublings) - 1) < 1 / weight * 2
            assert 1 / weight <= 2 ** happened_bits(questions, doublings)
        assert total < 1
    assert happened_bits(1000, 0) == 1


def test_over_a_life_most_is_told_when_questions_are_spread_evenly() -> None:
    for questions in range(1, 9):
        for resets in range(1, 5):
            one = Disclosure("people", "ann", questions, 1, 3, resets)
            spreads = (
                s for s in product(range(questions + 1), repeat=resets) if sum(s) == questions
            )
            most = max(
                prod(comb(n + 3, 3) * sum(comb(n, i) for i in range(6)) for n in s) for s in spreads
            )
            assert 2 ** (one.bits_of_life - 1) < most <= 2**one.bits_of_life
