"""Planning and asking at the pages: what is shown is what the library says, and nothing is paid twice."""

import re
from pathlib import Path

import pytest

import discreet
from discreet.service.pages.answer_layout import layout_of
from discreet.service.pages.page_routes import ANSWER_LENGTH
from discreet.service.pages.sessions import sessions_beside

from .person import Person, Read, Served

NAMED = "/plan?dataset=people&question=typical-age"
FREE = "/plan?dataset=people&verb=mode&column=city&epsilon=1/8"


def spent(served: Served, analyst: str) -> str:
    told = discreet.connect("discreet.toml", token=served.tokens[analyst]).budgets()
    return str(told[0].spent)


def plain(text: str) -> str:
    return " ".join(Read(text).text.split())


def test_a_plan_says_price_remainder_and_meaning_and_costs_nothing(served: Served) -> None:
    before = spent(served, "ann")
    told = plain(served.person("ann").get(NAMED).text)
    assert "ε = 0.5" in told
    assert "can be at most 62.3 % sure" in told
    assert "about half of the records are below it" in told
    assert spent(served, "ann") == before


def test_one_form_is_paid_once_however_often_it_is_sent(served: Served) -> None:
    person, before = served.person("ann"), spent(served, "ann")
    form = person.read(NAMED).form("/ask")
    replies = [person.submit(form) for _ in range(3)]
    told = [plain(reply.text) for reply in replies]
    assert ["It was paid now." in one for one in told] == [True, False, False]
    assert ["this time it cost nothing" in one for one in told] == [False, True, True]
    found = [re.findall(r'id="answer"><bdi>(\d+)</bdi>', reply.text) for reply in replies]
    assert len(found[0]) == 1
    assert found == [found[0]] * 3
    assert spent(served, "ann") != before
    again = person.submit(form)
    assert plain(again.text) == told[1]


def test_two_plans_are_two_requests(served: Served) -> None:
    person = served.person("ann")
    assert (
        person.read(NAMED).form("/ask").fields["request"]
        != person.read(NAMED).form("/ask").fields["request"]
    )


def test_answers_of_before_are_shown_again_at_no_cost(served: Served) -> None:
    person = served.person("ann")
    asked = person.read(FREE).form("/ask")
    first = plain(person.submit(asked).text)
    before = spent(served, "ann")
    again = person.submit(person.read("/answers").form("/ask", request=asked.fields["request"]))
    assert plain(again.text) == first.replace(
        "It was paid now.", "It was paid before: this time it cost nothing."
    )
    assert spent(served, "ann") == before


def test_an_answer_to_a_named_question_is_shown_again_without_what_the_pages_kept(
    served: Served,
) -> None:
    discreet.connect("discreet.toml", token=served.tokens["bob"]).ask(
        "typical-age", request="elsewhere"
    )
    person = served.person("bob")
    reply = person.submit(person.read("/answers").form("/ask", request="elsewhere"))
    assert "this time it cost nothing" in plain(reply.text)


def test_a_price_above_the_one_shown_is_not_paid(served: Served) -> None:
    person, before = served.person("ann"), spent(served, "ann")
    reply = person.submit(person.read(NAMED).form("/ask"), max_cost="1/4")
    assert (reply.status_code, spent(served, "ann")) == (422, before)


@pytest.mark.parametrize(
    "changed",
    [{"request": ""}, {"dataset": "rivals"}, {"question": "high"}, {"question": ""}],
)
def test_a_form_that_was_changed_is_refused(served: Served, changed: dict[str, str]) -> None:
    person, before = served.person("ann"), spent(served, "ann")
    reply = person.submit(person.read(NAMED).form("/ask"), **changed)
    assert reply.status_code in (404, 422)
    assert "SECRET" not in reply.text
    assert spent(served, "ann") == before


def test_one_request_is_one_question(served: Served) -> None:
    person = served.person("ann")
    named, free = (person.read(path).form("/ask") for path in (NAMED, FREE))
    assert person.submit(named).status_code == 200
    reply = person.submit(free, request=named.fields["request"])
    assert reply.status_code == 409


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("epsilon=1", "up to ε = 0.25"), ("epsilon=x", "epsilon"), ("epsilon=0", "epsilon"),
        ("verb=best_price", "not allowed"),
        ("candidates=Rome", "Rome"), ("by=city&max_groups=0", "max_groups"), ("column=wage", "wage"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said_on_the_form(served: Served, wrong: str, said: str) -> None:
    person = served.person("ann")
    fields = dict(
        one.split("=")
        for one in f"dataset=people&verb=mode&column=city&epsilon=1/8&{wrong}".split("&")
    )
    reply = person.send("GET", "/plan", params=fields)
    assert reply.status_code in (404, 422)
    assert said in plain(reply.text)
    assert Read(reply.text).forms[1].fields["dataset"] == "people"


def test_several_answers_of_groups_are_laid_out(served: Served) -> None:
    person = served.person("owner")
    form = person.read(
        "/plan?dataset=people&verb=quantiles&column=age&epsilon=1/8&by=city&alphas=1/4,1/2"
    ).form("/ask")
    reply = person.submit(form)
    assert reply.status_code == 200, reply.text
    read = Read(reply.text)
    assert [tag for tag, _ in read.elements].count("li") == 4
    assert "Bern" in read.text


def test_answers_as_texts() -> None:
    assert layout_of(3).one == "3"
    assert layout_of(["a", 1]).many == ("a", "1")
    assert layout_of([["a", "b"], ["c", "d"]]).many == ("a, b", "c, d")
    assert layout_of({"x": 1, 2: [3, 4]}).groups == (("x", layout_of(1)), ("2", layout_of([3, 4])))


def test_an_analyst_sees_nothing_of_others(served: Served) -> None:
    person = served.person("ann")
    for path in ("/questions", "/budgets", "/answers"):
        told = person.read(path).text
        assert "rivals" not in told
        assert "bob" not in told


def test_an_auditor_sees_prices_and_asks_nothing(served: Served) -> None:
    person = served.person("auditor")
    read = person.read(NAMED)
    assert "An auditor sees prices" in read.text
    assert not [form for form in read.forms if form.action == "/ask"]


def replies_for(person: Person, served: Served) -> set[tuple[int, str, str]]:
    """Return what can be told apart in the replies to questions about several datasets, two of them unreadable."""
    path, found = Path("SECRET-PLACE.csv"), set()
    there = path.read_text()
    for text in (there, there + "1,Basel\n", "age,city\n", "age\n1\n", None):
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
        for address in (NAMED, FREE, FREE + "&by=city"):
            reply = person.submit(person.read(address).form("/ask"))
            found.add(
                (len(reply.content), reply.headers["content-length"], str(sorted(reply.headers)))
            )
    path.write_text(there)
    return found


def test_replies_to_questions_have_one_length_whatever_the_data_are(served: Served) -> None:
    found = replies_for(served.person("ann"), served)
    assert len(found) == 1
    assert found.pop()[0] == ANSWER_LENGTH


def test_what_fails_because_of_the_data_is_one_page_and_charged(served: Served) -> None:
    path, pages = Path("SECRET-PLACE.csv"), set()
    there = path.read_text()
    person = served.person("ann")
    for text in ("age\n1\n", "", None):
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
        form = person.read(FREE).form("/ask")
        before = spent(served, "ann")
        reply = person.submit(form)
        pages.add((reply.status_code, reply.text.replace(form.fields["request"], "r")))
        assert spent(served, "ann") != before
    path.write_text(there)
    assert len(pages) == 1
    status, text = pages.pop()
    assert status == 500
    assert "SECRET" not in text
    assert "was charged" in text
    paid = spent(served, "ann")
    assert not [one for one in Read(reply.text).forms if one.action == "/ask"]
    again = person.submit(form)
    assert (again.status_code, again.text, spent(served, "ann")) == (500, reply.text, paid)


def test_a_budget_that_is_spent_is_refused(served: Served) -> None:
    person = served.person("bob")
    address = "/plan?dataset=people&question=city"
    assert "cannot pay this question" in plain(person.get(address).text)
    form = person.read(NAMED).form("/ask")
    reply = person.submit(form, question="city", max_cost="")
    assert reply.status_code == 402
    assert "remaining" in plain(reply.text)


def test_what_is_refused_leaves_nothing_behind(served: Served) -> None:
    person, kept = served.person("ann"), sessions_beside(Path("discreet.toml"))
    form = person.read("/plan?dataset=people&question=typical-age").form("/ask")
    before = kept.forms_of("ann")
    for i in range(3):
        reply = person.submit(
            form, request=f"refused-{i}", max_cost="1/1000", candidates="x" * 3000
        )
        assert reply.status_code == 422, reply.text[:300]
    assert person.submit(form, request="\x01").status_code == 422
    assert kept.forms_of("ann") == before
    assert person.submit(form, request="paid").status_code == 200
    assert kept.forms_of("ann").keys() - before.keys() == {"paid"}


BINS = "age: 0 to 120 by 40"
CELLS = {"dataset": "people", "verb": "counts", "column": "city", "column_2": "age", "bins": BINS}


def test_counts_of_two_columns_are_asked_for_and_shown_as_a_table(served: Served) -> None:
    person = served.person("owner")
    chosen = Read(person.send("GET", "/free", params={"dataset": "people", "verb": "counts"}).text)
    assert {"column", "column_2"} <= {*chosen.form("/free", verb="counts").fields}
    form = Read(person.send("GET", "/free", params=CELLS).text).form("/plan")
    assert form.fields.items() >= CELLS.items()
    reply = person.send("GET", "/plan", params={**form.fields, "epsilon": "1/8"})
    assert "city × age" in plain(reply.text)
    answer = person.submit(Read(reply.text).form("/ask"))
    assert answer.status_code == 200, answer.text
    assert "city / age" in plain(answer.text)
    assert "[40, 80)" in plain(answer.text)
    shaded = [tag for tag, held in Read(answer.text).elements if "shade-" in held.get("class", "")]
    assert shaded == ["span"] * 10 + ["td"] * 6  # the legend, and the cells


def test_bins_have_cells_for_what_is_outside(served: Served) -> None:
    person = served.person("owner")
    options = dict.fromkeys(("closed", "below", "above", "missing"), "yes")
    fields = {**CELLS, "bins": "age: 20 to 80 by 30", "epsilon": "1/8", **options}
    form = Read(person.send("GET", "/free", params=fields).text).form("/plan")
    assert form.fields.items() >= options.items()
    reply = person.send("GET", "/plan", params=form.fields)
    answer = plain(person.submit(Read(reply.text).form("/ask")).text)
    for cell in ("below 20", "[20, 50)", "[50, 80]", "above 80", "missing"):
        assert cell in answer


def test_an_answer_is_given_for_each_cell_of_groups(served: Served) -> None:
    person = served.person("owner")
    fields = {**CELLS, "verb": "mode", "by": "city", "by_2": "age", "epsilon": "1/8"}
    del fields["column_2"]
    reply = person.send("GET", "/plan", params=fields)
    assert "One such answer for each city × age" in plain(reply.text)
    answer = plain(person.submit(Read(reply.text).form("/ask")).text)
    assert "Basel, [80, 120)" in answer


def test_records_without_a_value_are_answered(served: Served) -> None:
    person = served.person("owner")
    fields = {"dataset": "people", "verb": "counts", "column": "city", "bins": "city: missing"}
    reply = person.send("GET", "/plan", params={**fields, "epsilon": "1/8"})
    answer = plain(person.submit(Read(reply.text).form("/ask")).text)
    assert "Basel" in answer
    assert "NULL" in answer


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"bins": "wage: 0, 1"}, "begin a line with a column of the question"),
        ({"bins": "age: 0 to 7"}, "step must be"),
        ({"column_2": "city", "bins": ""}, "columns that differ"),
        ({"column_2": "wage", "bins": ""}, "no column 'wage'"),
        ({"verb": "median"}, "one column is asked for here"),
        ({"bins": "age: 0 to 1000 by 1", "by": "age"}, "1,000 × 2 × 1,000 = 2,000,000"),
        ({"bins": "city: a, b"}, "an edge must be a finite number"),
    ],
)
def test_cells_that_cannot_be_asked_are_said_on_the_form(
    served: Served, changed: dict[str, str], said: str
) -> None:
    reply = served.person("owner").send(
        "GET", "/plan", params={**CELLS, "epsilon": "1/8", **changed}
    )
    assert reply.status_code in (404, 422)
    assert said in plain(reply.text)
