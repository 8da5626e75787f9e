"""The OpenAPI document: what a client generator needs of it, and that replies are what it declares."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
pytest.importorskip("httpx", reason="the extra server is not installed")

from discreet.service.http import models
from discreet.service.http.openapi import openapi_document

from .test_app import AT, FREE, NAMED, PUBLIC, ROUTES, Called, called  # noqa: F401  # a fixture

STORED = Path(__file__).parents[2] / "golden" / "openapi.json"
REPLIES: dict[tuple[str, str], Any] = {
    ("GET", "/v1/metrics"): models.Metrics,
    ("GET", "/v1/health"): models.PartsReply,
    **{at: getattr(models, one.reply.model) for one, at in AT.items()},
}


@pytest.fixture(scope="module")
def document(called: Called) -> dict[str, Any]:  # noqa: F811
    found: dict[str, Any] = called("nobody", "GET", "/v1/openapi.json").json()
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def references(of: Any) -> Iterator[str]:
    if isinstance(of, dict):
        if isinstance(of.get("$ref"), str):
            yield of["$ref"]
        of = list(of.values())
    if isinstance(of, list):
        for one in of:
            yield from references(one)


def test_the_document_is_as_it_was(document: dict[str, Any]) -> None:
    """If you change it on purpose, store it: python -m tests.service.http.test_openapi."""
    assert document == json.loads(STORED.read_text(encoding="utf-8"))


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    found = set(references(document))
    assert found
    for reference in found:
        there = document
        for key in reference.removeprefix("#/").split("/"):
            there = there[key]
        assert there


def test_every_operation_is_named_typed_and_secured(document: dict[str, Any]) -> None:
    listed = list(operations(document))
    names = [operation["operationId"] for _, _, operation in listed]
    assert len({*names}) == len(names)
    assert all(re.fullmatch("[a-z_]+", name) for name in names)
    for method, path, operation in listed:
        assert operation["description"], path
        status, *later = (code for code in operation["responses"] if code.startswith("2"))
        assert later == (["202"] if path.endswith("/answers") else [])  # asked for again then
        (content, *_) = operation["responses"][status]["content"].values()
        assert "$ref" in str(content["schema"]) or path == "/v1/audit", path
        assert (method == "POST") == ("requestBody" in operation), path
        placed = {one["name"] for one in operation.get("parameters", []) if one["in"] == "path"}
        assert placed == {*re.findall(r"{(\w+)}", path)}
        assert (path == "/healthz") == ("security" not in operation), path
        if path != "/healthz":
            assert "ErrorReply" in str(operation["responses"]["4XX"]), path


def test_every_route_is_in_the_docs() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/http_api.md").read_text(encoding="utf-8")
    named = {path.partition("?")[0] for path in re.findall(r"`(?:[A-Z]+ )?(/[^`]*)`", page)}
    assert {path.replace("{identity}", "ID") for _, path in ROUTES} <= named


def test_the_schemas_are_closed_and_described(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    for name, schema in document["components"]["schemas"].items():
        if name in ("HTTPValidationError", "ValidationError"):  # of the framework
            continue
        assert schema["description"], name
    assert document["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"


@pytest.mark.parametrize("route", ROUTES)
def test_replies_are_what_is_declared(called: Called, route: tuple[str, str]) -> None:  # noqa: F811
    method, path = route
    if path == "/v1/audit":
        return  # JSON lines
    headers = {"Idempotency-Key": f"declared {path}"}
    at = path.format(identity=called.spare()) if "{" in path else path
    reply = called("owner", method, at, headers=headers, **ROUTES[route])
    one = REPLIES[route]
    told = reply.json()
    for each in told if isinstance(told, list) else [told]:
        one.model_validate(each)
        assert one is models.ColumnReply or {*each} <= {*one.model_fields}


def test_failures_are_what_is_declared(called: Called) -> None:  # noqa: F811
    wrongs: list[dict[str, Any]] = [{"question": "none"}, {**NAMED, "size": 10**6}, {}]
    for sent in wrongs:
        models.ErrorReply.model_validate(called("ann", "POST", "/v1/quotes", json=sent).json())
    wrong = called("ann", "POST", "/v1/verbs/quotes", json={**FREE, "verb": "select"})
    models.ErrorReply.model_validate(wrong.json())
    assert {path for _, path in PUBLIC} == {"/healthz", "/v1/openapi.json"}


if __name__ == "__main__":
    text = json.dumps(openapi_document("/v1"), ensure_ascii=False, indent=1, sort_keys=True)
    STORED.write_text(f"{text}\n", encoding="utf-8")
