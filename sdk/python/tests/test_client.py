"""The client without a server: what is tried again, how lists are paged, and what errors become."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import subprocess
import sys
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

import httpx

import mneme
from mneme import _policy, webhooks

Answer = httpx.Response | Exception


def error(status: int, code: str, **headers: str) -> httpx.Response:
    body = {"error": {"code": code, "message": "no", "request_id": "req_1"}}
    return httpx.Response(status, json=body, headers={k.replace("_", "-"): v for k, v in headers.items()})


class Script:
    """Answers requests one after the other, and keeps them; the last answer goes on."""

    def __init__(self, *answers: Answer | Callable[[httpx.Request], httpx.Response]) -> None:
        self.answers, self.requests = list(answers), list[httpx.Request]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    def client(self, **options: Any) -> mneme.Mneme:
        return mneme.Mneme(
            "http://mneme.test", "key", http_client=httpx.Client(transport=httpx.MockTransport(self)), **options
        )


def written() -> httpx.Response:
    return httpx.Response(200, json={"written": 1, "unchanged": 0, "chunks": 1, "namespace": "n"})


DELETED = httpx.Response(200, json={"deleted": True})


class Retries(unittest.TestCase):
    def setUp(self) -> None:
        self.slept: list[float] = []
        self.enterContext(mock.patch.object(_policy, "sleep", self.slept.append))

    def test_a_safe_call_is_repeated_after_failures_of_the_server_and_the_network(self) -> None:
        for failure in (
            error(500, "internal_error"),
            error(502, "upstream_error"),
            error(504, "timeout"),
            httpx.Response(503, text="<html>"),
            httpx.ReadError("reset"),
            httpx.ReadTimeout("late"),
        ):
            script = Script(failure, DELETED)
            self.assertTrue(script.client().namespaces.delete("n").deleted, failure)
            self.assertEqual(len(script.requests), 2, failure)

    def test_retry_after_is_honoured_whatever_the_call(self) -> None:
        made = httpx.Response(201, json={"error": "not read"})
        script = Script(error(429, "rate_limited", retry_after="7"), error(503, "unavailable", retry_after="2"), made)
        with self.assertRaises(Exception):  # noqa: B017 # the last answer is no webhook
            script.client().webhooks.create(url="https://example.com")
        self.assertEqual((len(script.requests), self.slept), (3, [7.0, 2.0]))

    def test_a_long_wait_is_left_to_the_caller(self) -> None:
        script = Script(error(429, "rate_limited", retry_after="61"))
        with self.assertRaises(mneme.RateLimitedError) as raised:
            script.client().namespaces.delete("n")
        self.assertEqual((raised.exception.retry_after, len(script.requests)), (61.0, 1))

    def test_a_call_that_makes_something_new_is_not_repeated_when_it_may_have_been_done(self) -> None:
        for failure in (error(500, "internal_error"), httpx.ReadError("reset")):
            script = Script(failure)
            with self.assertRaises(mneme.MnemeError):
                script.client().webhooks.create(url="https://example.com")
            self.assertEqual(len(script.requests), 1, failure)

    def test_what_was_never_sent_is_repeated(self) -> None:
        script = Script(httpx.ConnectError("refused"))
        with self.assertRaises(mneme.APIConnectionError):
            script.client(max_retries=3).webhooks.create(url="https://example.com")
        self.assertEqual(len(script.requests), 4)

    def test_what_is_switched_off_and_what_is_wrong_are_not_repeated(self) -> None:
        for answer in (error(503, "unavailable"), error(400, "invalid_request"), error(409, "conflict")):
            script = Script(answer)
            with self.assertRaises(mneme.APIError):
                script.client().namespaces.delete("n")
            self.assertEqual(len(script.requests), 1, answer)

    def test_a_save_carries_one_key_through_its_attempts(self) -> None:
        script = Script(error(500, "internal_error"), error(400, "invalid_request"))
        with self.assertRaises(mneme.InvalidRequestError):
            script.client().memory.save(end_user_id="ann", content="x")
        keys = {request.headers["idempotency-key"] for request in script.requests}
        self.assertEqual((len(script.requests), len(keys)), (2, 1))

    def test_what_a_write_waits_for(self) -> None:
        counts = {"written": 1, "unchanged": 0, "chunks": 1, "namespace": "n", "sparse": False, "documents": []}
        operation = {"id": "op_1", "status": "queued", "done": 0, "total": 1, "created_at": "2026-01-01T00:00:00Z"}
        script = Script(
            httpx.Response(200, json={**counts, "searchable": True}),
            httpx.Response(200, json={**counts, "searchable": False}),
            httpx.Response(202, json=operation),
        )
        documents, given = script.client().documents, [{"id": "a", "text": "some text"}]
        self.assertIs(documents.write("n", given).searchable, True)
        self.assertIs(documents.write_soon("n", given).searchable, False)
        self.assertEqual(documents.write_later("n", given).id, "op_1")
        self.assertEqual([r.headers.get("prefer") for r in script.requests], [None, "searchable=soon", "respond-async"])
        self.assertEqual(len({r.content for r in script.requests}), 1)

    def test_files_are_sent_whole_again(self) -> None:
        script = Script(error(500, "internal_error"), error(400, "invalid_request"))
        with self.assertRaises(mneme.InvalidRequestError):
            script.client().files.upload("n", ("a.txt", b"some text"))
        self.assertTrue(all(b"some text" in request.content for request in script.requests))

    def test_options_of_a_client_and_its_copy(self) -> None:
        script = Script(error(500, "internal_error"))
        client = script.client(timeout=5)
        with self.assertRaises(mneme.InternalError):
            client.with_options(timeout=2, max_retries=0).namespaces.delete("n")
        with self.assertRaises(mneme.InternalError):
            client.namespaces.delete("n")
        self.assertEqual([r.headers["x-timeout-ms"] for r in script.requests], ["2000", "5000", "5000", "5000"])
        self.assertEqual([r.extensions["timeout"]["read"] for r in script.requests], [2, 5, 5, 5])


class Errors(unittest.TestCase):
    def test_both_families(self) -> None:
        with self.assertRaises(mneme.NamespaceNotFoundError) as raised:
            Script(error(404, "namespace_not_found")).client().namespaces.get("n")
        self.assertIsInstance(raised.exception, mneme.NotFoundError)
        self.assertEqual((raised.exception.status, raised.exception.request_id), (404, "req_1"))
        told = {"statusCode": 403, "code": "quota_exceeded", "message": "", "requestId": "r", "details": {"limit": 5}}
        with self.assertRaises(mneme.QuotaExceededError) as full:
            Script(httpx.Response(403, json=told)).client().memory.save(end_user_id="ann", content="x")
        self.assertEqual((full.exception.details["limit"], full.exception.request_id), (5, "r"))

    def test_what_this_version_does_not_know(self) -> None:
        with self.assertRaises(mneme.ConflictError) as raised:
            Script(error(409, "brand_new")).client().namespaces.get("n")
        self.assertEqual(raised.exception.code, "brand_new")
        with self.assertRaises(mneme.APIError) as page:
            Script(httpx.Response(418, text="<html>", headers={"X-Request-Id": "p"})).client().namespaces.get("n")
        self.assertEqual((page.exception.code, page.exception.request_id), ("", "p"))


def page(request: httpx.Request) -> httpx.Response:
    following = {"": "b", "b": "c", "c": None}[request.url.params.get("cursor", "")]
    kept = {"name": "n" + request.url.params.get("cursor", "a")}
    return httpx.Response(200, json={"namespaces": [kept], "next_cursor": following})


class Paging(unittest.TestCase):
    def test_items_pages_and_the_first(self) -> None:
        with mock.patch("mneme._api.models.namespace_page.NamespacePage.from_dict", plain_page):
            script = Script(page)
            client = script.client()
            self.assertEqual(list(client.namespaces.list(prefix="n")), ["na", "nb", "nc"])
            self.assertEqual([r.url.params.get("prefix") for r in script.requests], ["n"] * 3)
            self.assertEqual(len(list(client.namespaces.list(cursor="c").pages())), 1)
            self.assertEqual(client.namespaces.list().first().next_cursor, "b")

    def test_without_blocking(self) -> None:
        async def names() -> list[Any]:
            http = httpx.AsyncClient(transport=httpx.MockTransport(Script(page)))
            async with mneme.AsyncMneme("http://mneme.test", "key", http_client=http) as client:
                return [item async for item in client.namespaces.list()]

        with mock.patch("mneme._api.models.namespace_page.NamespacePage.from_dict", plain_page):
            self.assertEqual(asyncio.run(names()), ["na", "nb", "nc"])


def plain_page(told: dict[str, Any]) -> mneme.models.NamespacePage:
    return mneme.models.NamespacePage([one["name"] for one in told["namespaces"]], told["next_cursor"])


class Events(unittest.TestCase):
    def test_following_goes_on_from_the_cursor_and_says_what_is_missed(self) -> None:
        one = {"id": "evt_1", "type": "key.created", "timestamp": "2026-01-02T03:04:05Z", "data": {}}
        script = Script(
            httpx.Response(200, json={"events": [one], "next_cursor": "c1", "missed": False}),
            httpx.Response(200, json={"events": [], "next_cursor": "c2", "missed": True}),
        )
        events = script.client(timeout=5).events.follow(wait=20)
        self.assertEqual(next(events).id, "evt_1")
        with self.assertRaises(mneme.MissedEventsError) as raised:
            next(events)
        self.assertEqual(raised.exception.cursor, "c2")
        self.assertEqual([r.url.params["after"] for r in script.requests], ["latest", "c1"])
        self.assertEqual(script.requests[0].extensions["timeout"]["read"], 25)

    def test_lines_come_as_they_are(self) -> None:
        script = Script(httpx.Response(200, content=b'{"a": 1}\n\n{"b": "\xc3\xa4"}\n'))
        self.assertEqual(list(script.client().admin.audit.export()), [{"a": 1}, {"b": "ä"}])


class Webhooks(unittest.TestCase):
    key = b"0123456789abcdef01234567"
    secret = "whsec_" + base64.b64encode(key).decode()
    body = json.dumps({"type": "key.created", "timestamp": "2026-01-02T03:04:05Z", "data": {"n": 1}}).encode()

    def headers(self, at: int = 1000) -> dict[str, str]:
        mac = hmac.digest(self.key, f"evt_1.{at}.".encode() + self.body, hashlib.sha256)
        signed = "v1,AAAA v1," + base64.b64encode(mac).decode()
        return {"Webhook-Id": "evt_1", "Webhook-Timestamp": str(at), "Webhook-Signature": signed}

    def test_a_delivery(self) -> None:
        event = webhooks.verify(self.body, self.headers(), self.secret, now=1299)
        self.assertEqual((event.id, event.type_, event.data["n"]), ("evt_1", "key.created", 1))

    def test_what_does_not_verify(self) -> None:
        other = "whsec_" + base64.b64encode(b"other").decode()
        for body, headers, secret, now in (
            (self.body + b" ", self.headers(), self.secret, 1000),
            (self.body, self.headers(), other, 1000),
            (self.body, self.headers(), "whsec_", 1000),
            (self.body, self.headers(), self.secret, 1301),
            (self.body, {**self.headers(), "Webhook-Timestamp": "x"}, self.secret, 1000),
            (self.body, {}, self.secret, 1000),
        ):
            with self.assertRaises(mneme.WebhookVerificationError):
                webhooks.verify(body, headers, secret, now=now)

    def test_ed25519(self) -> None:
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        except ImportError:
            self.skipTest("cryptography is not installed")
        private = Ed25519PrivateKey.generate()
        public = "whpk_" + base64.b64encode(private.public_key().public_bytes_raw()).decode()
        headers = {**self.headers(), "Webhook-Signature": ""}
        signature = private.sign(b"evt_1.1000." + self.body)
        headers["Webhook-Signature"] = "v1a," + base64.b64encode(signature).decode()
        self.assertEqual(webhooks.verify(self.body, headers, public, now=1000).id, "evt_1")
        with self.assertRaises(mneme.WebhookVerificationError):
            webhooks.verify(self.body + b" ", headers, public, now=1000)


class Imports(unittest.TestCase):
    def test_what_is_not_called_is_not_loaded(self) -> None:
        program = (
            "import sys, mneme\n"
            "client = mneme.Mneme('http://mneme.test', 'key'); client.admin; mneme.models; mneme.webhooks\n"
            "print(*(one for one in sys.modules if one.startswith(('mneme._api.api.', 'mneme._api.models.'))))\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), "")

    def test_every_model_is_there(self) -> None:
        self.assertGreater(len(mneme.models.__all__), 200)
        for name in mneme.models.__all__:
            self.assertEqual(getattr(mneme.models, name), getattr(mneme.models, name), name)
        self.assertIn("QueryResult", dir(mneme.models))
        for module in (mneme.models, mneme._sync.resources.api, mneme._sync.resources.api.documents):
            with self.assertRaisesRegex(AttributeError, "has no attribute 'Absent'"):
                _ = module.Absent


if __name__ == "__main__":
    unittest.main()
