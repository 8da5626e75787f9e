"""Questions wait without a thread; what needs no reading does not wait; long waits are told at once."""

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("fastapi", reason="the extra server is not installed")
httpx = pytest.importorskip("httpx", reason="the extra server is not installed")

import anyio.to_thread

import discreet
from discreet import Connection
from discreet.errors import Exhausted, LedgerUnwritable, Unanswerable
from discreet.ledger.store import Store
from discreet.ledger.toml_budgets import configuration
from discreet.node.allowed_questions import Checkout
from discreet.service import http_client, paused_replies, wire
from discreet.service.app import make_app
from discreet.service.dispatcher import QueuedQuestion
from discreet.service.dispatcher_client import RemoteTicket, UnreachableError
from discreet.service.http_client import HttpClient
from discreet.service.pages.page_request import SESSION
from discreet.service.pages.sessions import form_secret
from discreet.service.paused_replies import LONGEST_WAIT
from discreet.service.permissions import hold
from discreet.service.reader import answering
from discreet.service.tokens import tokens_beside
from discreet.service.turns import LENGTH, Clock

from .fake_clock import START
from .pages.person import FROM_HERE, Person
from .test_connect import TEXT, write_files
from .test_http_client import LATER, InTheProcess

HOST = "testserver"


class FakeDispatcher:
    """A dispatcher whose reply to all comes a little before the end of a place."""

    readers = 1

    def __init__(self, clock: "JumpingClock", reply: dict[str, Any]) -> None:
        self.clock, self.reply, self.wait = clock, reply, 2.0
        self.questions: list[QueuedQuestion] = []
        self.is_reachable = True
        self.gate: asyncio.Event | None = None

    async def ask(self, question: QueuedQuestion) -> RemoteTicket:
        if not self.is_reachable:
            raise UnreachableError
        self.questions.append(question)
        is_first = sum(one.request == question.request for one in self.questions) == 1
        end = self.clock.time + self.wait
        reply = asyncio.create_task(self._answer(end, is_first))
        return RemoteTicket(end, reply)

    async def _answer(self, end: float, is_first: bool) -> dict[str, Any]:
        if self.gate is not None:
            await self.gate.wait()
        if self.wait <= LONGEST_WAIT:  # else nobody waits for it
            self.clock.time = max(self.clock.time, end - 0.05)
        return {"end": end, "is_first": is_first, "reply": self.reply}


class JumpingClock:
    """A clock that jumps when somebody waits."""

    def __init__(self, time: float) -> None:
        self.time = self.start = time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.time, self.sleep, lambda: START)


class Service:
    """A service whose dispatcher and time are scripts."""

    def __init__(self, reply: dict[str, Any]) -> None:
        self.clock = JumpingClock(1000.0)
        dispatcher: Any = FakeDispatcher(self.clock, reply)
        self.dispatcher = dispatcher
        hosts = [HOST, "service.test"]
        self.app: Any = make_app(
            configuration(), hosts, dispatcher=self.dispatcher, clock=self.clock.clock
        )
        self.token = tokens_beside(Path("discreet.toml")).create("analyst", "ann", LATER)[0]
        self.ann = Connection(HttpClient(InTheProcess(self.app, self.token)), "a service")

    def post(self, key: str = "k", **question: Any) -> Any:
        """Ask a question, and return the reply with the time that it took."""
        client, begin = InTheProcess(self.app, self.token), self.clock.time
        sent = {"question": "typical-age", **question}
        reply = client.request("POST", "/v1/answers", json=sent, headers={"Idempotency-Key": key})
        reply.seconds = self.clock.time - begin
        return reply


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    Path("discreet.toml").write_text(TEXT + '[server]\nturn = "250ms"\n')
    release = discreet.connect().ask("typical-age", request="owners")
    return Service(wire.write_answer(release))


def test_the_reply_leaves_at_the_end_of_the_place(service: Service) -> None:
    reply = service.post()
    assert (reply.status_code, len(reply.content)) == (200, LENGTH)
    assert reply.seconds == pytest.approx(2.0)
    (question,) = service.dispatcher.questions
    assert (question.caller, question.dataset, question.request) == ("ann", "people", "k")
    assert question.line["operation"] == "answer"
    assert "charged" not in reply.json()


def test_what_needs_no_reading_reaches_no_dispatcher(service: Service) -> None:
    for sent, status in (
        ({"question": "none"}, 404), ({"max_cost": "1/4"}, 422), ({"question": 1}, 422),
    ):  # fmt: skip
        reply = service.post(**sent)
        assert reply.status_code == status
        assert reply.seconds == pytest.approx(0.25)
    assert service.dispatcher.questions == []


@pytest.fixture
def settlements(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Return the names of requests whose questions were settled by their verbs, as they are."""
    names: list[str | None] = []
    ask = Checkout.ask

    def note_and_ask(self: Checkout, question: Any, session: Any, size: Any, request: Any) -> Any:
        names.append(request)
        return ask(self, question, session, size, request)

    monkeypatch.setattr(Checkout, "ask", note_and_ask)
    return names


def test_a_question_that_was_settled_before_is_not_settled_again(
    service: Service, settlements: list[str | None]
) -> None:
    """Its bill is that of the same question before: the dispatcher is asked the same, but for the request."""
    for key in ("one", "two", "three"):
        assert service.post(key).status_code == 200
    assert service.post("four", size=2).status_code == 200
    assert settlements == ["one", "four"]
    one, *others, two_answers = service.dispatcher.questions
    assert [replace(other, request="one", line=one.line) for other in others] == [
        replace(one, earliest=other.earliest) for other in others
    ]
    assert two_answers.digest != one.digest


def test_a_question_with_a_stored_answer_or_a_refusal_is_settled_by_its_verb(
    service: Service, settlements: list[str | None]
) -> None:
    """However often the same question was asked: the bill alone gives neither an answer nor words."""
    owner = discreet.connect(analyst="ann")
    assert service.post("new").status_code == 200
    stored = owner.ask("typical-age", request="stored")
    reply = service.post("stored")
    assert (reply.json()["value"], reply.headers["idempotent-replayed"]) == (stored.value, "?1")
    owner.ask("city", request="other")
    assert service.post("other").status_code == 409
    refused = service.post("dear", max_cost="1/4")
    assert (refused.status_code, refused.json()["error"]) == (422, "InvalidArgument")
    while True:
        try:
            owner.ask("typical-age")
        except Exhausted:
            break
    assert service.post("exhausted").status_code == 402
    times = [settlements.count(key) for key in ("new", "stored", "other", "dear", "exhausted")]
    assert times == [1, 2, 2, 1, 1]  # of two the first was here
    assert [one.request for one in service.dispatcher.questions] == ["new"]


def test_a_question_whose_bill_may_depend_on_what_is_counted_is_settled_anew(
    service: Service, settlements: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verb that asks for the unit may settle another bill where another one is counted."""
    buy = Checkout.bought

    def ask_for_the_unit_and_buy(self: Checkout, bill: Any, prepare: Any) -> Any:
        assert self.currency in {"epsilon", "rho"}
        return buy(self, bill, prepare)

    monkeypatch.setattr(Checkout, "bought", ask_for_the_unit_and_buy)
    for key in ("one", "two"):
        assert service.post(key).status_code == 200
    assert settlements == ["one", "two"]


def test_a_question_about_data_that_were_moved_is_settled_anew(
    service: Service, settlements: list[str | None]
) -> None:
    assert service.post("here").status_code == 200
    Path("SECRET-PLACE.csv").rename("elsewhere.csv")
    Path("SECRET-PLACE.csv").symlink_to("elsewhere.csv")
    reply = service.post("there")  # these are other data, of which the budget is not
    assert settlements == ["here", "there"]
    assert reply.status_code != 200
    assert len(service.dispatcher.questions) == 1


def test_a_long_wait_is_told_at_once_and_the_same_key_asks_again(service: Service) -> None:
    service.dispatcher.wait = 60.0
    reply = service.post()
    assert reply.status_code == 202
    assert reply.seconds == pytest.approx(0.25)
    assert len(reply.content) == LENGTH
    assert reply.json() == {"answer_at": pytest.approx(59.75), "request": "k"}
    assert reply.headers["retry-after"] == "60"
    service.dispatcher.wait = 0.4
    later = service.post()
    assert (later.status_code, later.headers["idempotent-replayed"]) == (200, "?1")


def test_a_wait_of_ten_seconds_is_waited_for(service: Service) -> None:
    service.dispatcher.wait = 10.0
    assert service.post().status_code == 200


def test_the_client_waits_by_itself(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        service.clock.time += seconds
        service.dispatcher.wait = 0.3

    monkeypatch.setattr(http_client, "sleep", sleep)
    service.dispatcher.wait = 60.0
    release = service.ann.ask("typical-age")
    assert waits == [pytest.approx(59.75)]
    assert release.charged is None  # by this question, but nobody tells in which request
    one, again = service.dispatcher.questions
    assert one == again


def test_a_wait_that_cannot_be_read_is_no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    class Strange:
        status_code, text = 202, ""
        headers: ClassVar[dict[str, str]] = {}

        def json(self) -> Any:
            return {"answer_at": "soon"}

    client: Any = type("Client", (), {"request": lambda *_, **__: Strange()})()
    with pytest.raises(LedgerUnwritable, match="no such service"):
        Connection(HttpClient(client), "a service").ask("typical-age")


def test_failures_are_replies_of_places_too(service: Service) -> None:
    service.dispatcher.reply = {
        "failure": wire.write_error(Exhausted("a budget cannot pay for this"))
    }
    reply = service.post()
    assert (reply.status_code, reply.seconds) == (402, pytest.approx(2.0))


def test_a_dispatcher_that_is_gone_leaves_open_whether_it_was_charged(service: Service) -> None:
    service.dispatcher.is_reachable = False
    with pytest.raises(Unanswerable, match="no data can be read now") as caught:
        service.ann.ask("typical-age", request="gone")
    assert caught.value.charged is None
    assert caught.value.__notes__ == ["if this was paid: request='gone' asks again at no cost"]


def test_quotes_say_when_an_answer_would_come(service: Service) -> None:
    quote = service.ann.quote("typical-age")
    assert quote.answer_in is not None
    assert quote.longest_wait is not None
    assert (
        1.0 <= quote.answer_in <= quote.longest_wait == 5.0
    )  # four places of a second, and one's own
    assert "an answer would come in" in str(quote)


def test_waiting_questions_hold_no_thread(service: Service) -> None:
    """With one thread for all, many questions wait, and others are answered meanwhile."""

    async def call() -> None:
        limiter = anyio.to_thread.current_default_thread_limiter()
        limiter.total_tokens = 1
        may_answer = service.dispatcher.gate = asyncio.Event()
        transport = httpx.ASGITransport(service.app)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            own = {"Authorization": f"Bearer {service.token}"}

            async def ask(number: int) -> int:
                headers = {**own, "Idempotency-Key": f"many {number}"}
                question = {"question": "typical-age"}
                reply = await client.post("/v1/answers", json=question, headers=headers)
                return int(reply.status_code)

            asked = [asyncio.create_task(ask(number)) for number in range(16)]
            while len(service.dispatcher.questions) < 16:
                await asyncio.sleep(0.01)
            assert (await client.get("/v1/budgets", headers=own)).status_code == 200
            assert not any(one.done() for one in asked)
            may_answer.set()
            assert await asyncio.gather(*asked) == [200] * 16

    asyncio.run(call())


def test_pages_say_when_the_answer_comes_and_lead_to_it(service: Service) -> None:
    person = Person(service.app)
    assert person.enter(service.token).status_code == 303
    fields = {"dataset": "people", "question": "typical-age", "request": "page", "max_cost": "1/2"}
    secret = form_secret(person.cookies[SESSION])
    service.dispatcher.wait = 60.0
    page = person.send("POST", "/ask", data={**fields, "secret": secret}, headers=FROM_HERE)
    assert page.status_code == 202
    assert "Your answer comes at 12:" in page.text
    assert page.headers["refresh"] == "60; url=/answer?request=page"
    service.dispatcher.wait = 0.5
    answer = person.send("GET", "/answer?request=page")
    assert answer.status_code == 200
    assert "Guarantee" in answer.text
    assert len(answer.content) == len(page.content)
    assert "What was asked" in person.send("GET", "/answer?request=unknown").text
    one, again = service.dispatcher.questions
    assert one == again
    plan = person.send("GET", "/plan?dataset=people&question=typical-age")
    assert "An answer would come in" in plan.text


class ReadingDispatcher:
    """A dispatcher with a reader in this process, which has datasets and a ledger of its own."""

    readers = 1

    def __init__(self) -> None:
        self._answer = answering(configuration(), hold(configuration()))
        self.questions: list[QueuedQuestion] = []
        self.is_stuck = False

    async def ask(self, question: QueuedQuestion) -> RemoteTicket:
        self.questions.append(question)
        reply = asyncio.get_running_loop().create_future()
        if not self.is_stuck:
            times = {"beginning": None, "stored_at": None, "store_at": None}
            line = {**question.line, **times, "pace": {"charge_by": 0.0, "turn": 0.0, "limit": 0.0}}
            answer = self._answer(line, lambda _: None)
            reply.set_result({"end": 0.0, "is_first": True, "reply": answer})
        return RemoteTicket(0.0, reply)


class Untimed:
    """A service without turns, and its readers in this process.

    Args:
        token: that of ann.
        knows: whether the bill of the question is known, because it was asked before.
    """

    def __init__(self, token: str, *, knows: bool) -> None:
        self.dispatcher = ReadingDispatcher()
        dispatcher: Any = self.dispatcher
        self.app: Any = make_app(configuration(), [HOST], dispatcher=dispatcher)
        self.token = token
        if knows:
            assert self.post("known")[0] == 200
            self.dispatcher.questions.clear()

    def post(self, key: str, **question: Any) -> tuple[int, bytes, str | None]:
        """Return the status, the body, and whether an answer was charged before."""
        client, sent = InTheProcess(self.app, self.token), {"question": "typical-age", **question}
        reply = client.request("POST", "/v1/answers", json=sent, headers={"Idempotency-Key": key})
        return reply.status_code, reply.content, reply.headers.get("idempotent-replayed")


@pytest.fixture
def ann(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a token of ann's for a service without turns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_CONFIG", raising=False)
    write_files()
    Path("discreet.toml").write_text(TEXT + '[server]\nturn = "0s"\n')
    return tokens_beside(Path("discreet.toml")).create("analyst", "ann", LATER)[0]


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the transactions of all ledgers in this process, as they are."""
    names: list[str] = []
    run = Store._run

    def note_and_run(self: Store, work: Any, course: Any, stop: Any) -> Any:
        names.append("write" if course.writing else "read")
        return run(self, work, course, stop)

    monkeypatch.setattr(Store, "_run", note_and_run)
    return names


def test_a_known_question_is_asked_without_turns_and_the_reader_alone_reads_the_ledger(
    ann: str, transactions: list[str]
) -> None:
    service = Untimed(ann, knows=True)
    service.dispatcher.is_stuck = True
    transactions.clear()

    async def ask_and_leave() -> None:
        transport = httpx.ASGITransport(service.app)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            headers = {"Authorization": f"Bearer {ann}", "Idempotency-Key": "new"}
            sent = {"question": "typical-age"}
            asking = asyncio.create_task(client.post("/v1/answers", json=sent, headers=headers))
            while not service.dispatcher.questions:
                await asyncio.sleep(0.01)
            asking.cancel()

    asyncio.run(ask_and_leave())
    assert transactions == []


def _in_another_process(text: str) -> None:
    subprocess.run([sys.executable, "-c", f"import discreet\n{text}"], check=True)


def _count_events() -> int:
    return len(discreet.Ledger("budget.db").history())


CHANGES = {
    "nothing": "",
    "the share is closed": 'discreet.Ledger("budget.db").shrink("people", analyst="ann")',
    "the share is spent": """
ann = discreet.connect(analyst="ann")
while ann.quote("typical-age").fits:
    ann.ask("typical-age")""",
    "the request is another question": """
discreet.connect(analyst="ann").ask("city", request="key")""",
    "the request was answered": 'discreet.connect(analyst="ann").ask("typical-age", request="key")',
    "the token is revoked": """
from pathlib import Path
from discreet.service.tokens import tokens_beside
tokens = tokens_beside(Path("discreet.toml"))
tokens.revoke(tokens.valid()[0].id)""",
    "the data are gone": """
from pathlib import Path
Path("SECRET-PLACE.csv").write_text("city\\nBern\\n")
try:
    discreet.connect(analyst="ann").ask("typical-age", request="key")
except discreet.errors.DiscreetError:
    pass""",
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_by_another_process_decides_the_next_known_question_in_the_same_words(
    ann: str, change: str
) -> None:
    """As it decides that question in a service that settles all questions first."""
    knows, settles = Untimed(ann, knows=True), Untimed(ann, knows=False)
    assert knows.post("before")[0] == 200
    before = _count_events()
    _in_another_process(CHANGES[change])
    written = _count_events() - before
    replies = [service.post("key") for service in (knows, settles)]
    if change == "nothing":
        assert [reply[0] for reply in replies] == [200, 200]
        assert [reply[2] for reply in replies] == ["?0", "?1"]
        assert len({reply[1] for reply in replies}) == 1
    else:
        assert replies[0] == replies[1]
        assert (replies[0][0] == 200) == (change == "the request was answered")
        assert _count_events() - before == written


@pytest.mark.parametrize(
    "question", [{"max_cost": "1/4"}, {"size": 10**5}, {"dataset": "rivals"}, {"question": "none"}]
)
def test_a_refusal_has_the_same_words_for_a_known_question(
    ann: str, question: dict[str, Any]
) -> None:
    replies = [Untimed(ann, knows=knows).post("key", **question) for knows in (True, False)]
    assert replies[0] == replies[1]
    assert replies[0][0] in (404, 422)


def test_who_has_no_share_is_told_so_of_a_question_that_others_have_asked(ann: str) -> None:
    tokens = tokens_beside(Path("discreet.toml"))
    bob, eve = (tokens.create("analyst", name, LATER)[0] for name in ("bob", "eve"))
    replies = []
    for knows in (True, False):
        service = Untimed(bob, knows=False)
        if knows:
            assert service.post("bobs", question="high")[0] == 200
        service.token = eve
        replies.append(service.post("eves", question="high"))
        assert len(service.dispatcher.questions) == 2 * knows
    assert replies[0] == replies[1]
    assert b"no share was opened for eve" in replies[0][1]


def test_a_stored_answer_and_a_refusal_of_a_known_question_need_no_reader(
    ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Untimed(ann, knows=True)
    stored = service.post("stored")
    service.dispatcher.is_stuck = True
    monkeypatch.setattr(paused_replies, "_LONGEST_UNSETTLED", 0.01)
    assert service.post("stored") == (200, stored[1], "?1")
    assert service.post("dear", max_cost="1/4")[0] == 422


def test_a_known_question_without_a_dispatcher_is_told_as_one_that_was_settled(
    ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = []
    for knows in (True, False):
        service = Untimed(ann, knows=knows)

        async def ask(_: ReadingDispatcher, question: QueuedQuestion) -> RemoteTicket:
            raise UnreachableError

        with monkeypatch.context() as patched:
            patched.setattr(ReadingDispatcher, "ask", ask)
            replies.append(service.post("key"))
            if knows:
                assert service.post("known")[0] == 200
    assert replies[0] == replies[1]
    assert replies[0][0] == 503
