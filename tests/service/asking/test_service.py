"""Questions wait without a thread; what needs no reading does not wait; long waits end after a minute."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
httpx = pytest.importorskip("httpx", reason="the extra server is not installed")

import anyio.to_thread

import discreet
from discreet import Connection
from discreet.errors import Exhausted, Unanswerable
from discreet.ledger.toml_budgets import configuration
from discreet.service.asking import wire
from discreet.service.asking.checkout import Checkout
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http import http_client
from discreet.service.http.app import make_app
from discreet.service.http.http_client import HttpClient
from discreet.service.http.replies import LONGEST_WAIT
from discreet.service.pages.page_request import SESSION
from discreet.service.pages.sessions import form_secret
from discreet.service.queue.dispatcher import QueuedQuestion
from discreet.service.queue.dispatcher_client import UnreachableError
from discreet.service.queue.padding import LENGTH, QUANTUM, Clock

from ..answer_times import answering
from ..fake_clock import START
from ..http.test_http_client import LATER, InTheProcess
from ..pages.person import FROM_HERE, Person
from .test_connect import TEXT, write_files

HOST = "testserver"


class FakeDispatcher:
    """A dispatcher whose reply to all comes a little before the end of a place."""

    readers = 1

    def __init__(self, clock: "JumpingClock", reply: dict[str, Any]) -> None:
        self.clock, self.reply, self.wait = clock, reply, 2.0
        self.questions: list[QueuedQuestion] = []
        self.is_reachable, self.is_ledger_late = True, False
        self.gate: asyncio.Event | None = None

    async def ask(self, question: QueuedQuestion) -> dict[str, Any]:
        if not self.is_reachable:
            raise UnreachableError
        self.questions.append(question)
        is_first = sum(one.request == question.request for one in self.questions) == 1
        end = self.clock.time + self.wait
        if self.gate is not None:
            await self.gate.wait()
        if self.wait > LONGEST_WAIT:
            self.clock.is_waited_for.set()
            await asyncio.sleep(3600)
        self.clock.time = max(self.clock.time, end - 0.05)
        late = {"is_ledger_late": self.is_ledger_late}
        return {"end": end, "is_first": is_first, "reply": self.reply, **late}


class JumpingClock:
    """A clock that jumps when somebody waits."""

    def __init__(self, time: float) -> None:
        self.time = self.start = time
        self.is_waited_for = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        if (
            seconds > 30
        ):  # the minute of a connection, which passes where its answer is long in coming
            await self.is_waited_for.wait()
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
    Path("discreet.toml").write_text(answering(TEXT, "250ms"))
    release = discreet.connect().ask("typical-age", request="owners")
    return Service(wire.write_answer(release))


def test_the_reply_leaves_when_the_schedule_says(service: Service) -> None:
    reply = service.post()
    assert (reply.status_code, len(reply.content)) == (200, LENGTH)
    assert reply.seconds == pytest.approx(2.0)
    (question,) = service.dispatcher.questions
    assert (question.caller, question.dataset, question.request) == ("ann", "people", "k")
    assert question.line["operation"] == "answer"
    assert "charged" not in reply.json()


def test_the_owner_counts_answers_that_the_ledger_made_late(service: Service) -> None:
    """Each once, however often it is asked for; and analysts see no count."""
    owner = tokens_beside(Path("discreet.toml")).create("owner", None, LATER)[0]

    def counted() -> Any:
        client = InTheProcess(service.app, owner)
        return client.request("GET", "/v1/metrics").json()["ledger_late"]

    service.post("a")
    assert counted() == {}
    service.dispatcher.is_ledger_late = True
    for key in ("b", "c", "c"):
        service.post(key)
    assert counted() == {"people": 2}
    client = InTheProcess(service.app, owner)
    text = client.request("GET", "/v1/metrics", headers={"Accept": "text/plain"}).text
    assert 'discreet_ledger_late_total{dataset="people"} 2' in text
    assert service.post("d").content.strip() == service.post("a").content.strip()


def test_what_needs_no_reading_reaches_no_dispatcher(service: Service) -> None:
    for sent, status in (
        ({"question": "none"}, 404), ({"max_cost": "1/4"}, 422), ({"question": 1}, 422),
    ):  # fmt: skip
        reply = service.post(**sent)
        assert reply.status_code == status
        assert reply.seconds == pytest.approx(QUANTUM)
    assert service.dispatcher.questions == []


@pytest.fixture
def settlements(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Return the names of requests whose questions were settled by their verbs, as they are."""
    names: list[str | None] = []
    ask = Checkout.ask

    def note_and_ask(self: Checkout, question: Any, session: Any, request: Any) -> Any:
        names.append(request)
        return ask(self, question, session, request)

    monkeypatch.setattr(Checkout, "ask", note_and_ask)
    return names


def test_a_question_that_was_settled_before_is_not_settled_again(
    service: Service, settlements: list[str | None]
) -> None:
    """Its bill is that of the same question before: the dispatcher is asked the same, but for the request."""
    for key in ("one", "two", "three"):
        assert service.post(key).status_code == 200
    assert settlements == ["one"]
    one, *others = service.dispatcher.questions
    assert [replace(other, request="one", line=one.line) for other in others] == [
        replace(one, arrival=other.arrival) for other in others
    ]


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


def test_after_a_minute_the_same_key_asks_again(service: Service) -> None:
    service.dispatcher.wait = 100.0
    reply = service.post()
    assert reply.status_code == 202
    assert reply.seconds == pytest.approx(LONGEST_WAIT + QUANTUM)
    assert len(reply.content) == LENGTH
    assert reply.json() == {"request": "k"}
    assert reply.headers["retry-after"] == "0"
    service.dispatcher.wait = 0.4
    later = service.post()
    assert (later.status_code, later.headers["idempotent-replayed"]) == (200, "?1")


def test_the_client_asks_again_by_itself(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(seconds: float) -> None:
        service.clock.time += seconds
        service.dispatcher.wait = 0.3

    monkeypatch.setattr(http_client, "sleep", sleep)
    service.dispatcher.wait = 100.0
    release = service.ann.ask("typical-age")
    assert release.charged is None  # by this question, but nobody tells in which request
    one, again = service.dispatcher.questions
    assert one == again


def test_a_caller_who_has_gone_waits_for_no_answer(service: Service) -> None:
    """The dispatcher is told, which begins no question that nobody waits for."""
    cancelled = []

    async def ask(question: QueuedQuestion) -> dict[str, Any]:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled.append(question.request)
            raise
        return {}

    service.dispatcher.ask = ask
    headers = {"authorization": f"Bearer {service.token}", "idempotency-key": "k", "host": HOST}
    headers["content-type"] = "application/json"
    scope = {
        "type": "http", "method": "POST", "path": "/v1/answers", "query_string": b"", "scheme": "http",
        "headers": [(name.encode(), text.encode()) for name, text in headers.items()],
        "http_version": "1.1", "root_path": "", "raw_path": b"/v1/answers", "client": ("1.1.1.1", 1),
        "server": (HOST, 80), "asgi": {"version": "3.0"},
    }  # fmt: skip
    body = json.dumps({"question": "typical-age"}).encode()
    messages = [{"type": "http.disconnect"}, {"type": "http.request", "body": body}]

    async def receive() -> Any:
        return messages.pop()

    async def send(_: Any) -> None:
        pass

    asyncio.run(asyncio.wait_for(service.app(scope, receive, send), 20))
    assert cancelled == ["k"]


def test_failures_leave_when_answers_do(service: Service) -> None:
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
    assert caught.value.__notes__ == ["if this was paid, retry with request='gone' at no cost"]


def test_quotes_say_how_long_an_answer_takes(service: Service) -> None:
    quote = service.ann.quote("typical-age")
    assert quote.answers_after == 0.25
    assert "an answer leaves 0.25 s after its reading began" in str(quote)


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


def test_pages_say_that_an_answer_is_late_and_lead_to_it(service: Service) -> None:
    person = Person(service.app)
    assert person.enter(service.token).status_code == 303
    fields = {"dataset": "people", "question": "typical-age", "request": "page", "max_cost": "1/2"}
    secret = form_secret(person.cookies[SESSION])
    service.dispatcher.wait = 100.0
    page = person.send("POST", "/ask", data={**fields, "secret": secret}, headers=FROM_HERE)
    assert page.status_code == 202
    assert "Your answer is not there yet" in page.text
    assert page.headers["refresh"] == "1; url=/answer?request=page"
    service.dispatcher.wait = 0.5
    answer = person.send("GET", "/answer?request=page")
    assert answer.status_code == 200
    assert "Guarantee" in answer.text
    assert len(answer.content) == len(page.content)
    assert "What was asked" in person.send("GET", "/answer?request=unknown").text
    one, again = service.dispatcher.questions
    assert one == again
    plan = person.send("GET", "/plan?dataset=people&question=typical-age")
    assert "An answer leaves 0.25 s after" in plan.text
