"""What the Python SDK does to a real server, both ways. MNEME_URL and three keys name it."""

import asyncio
import os
import sys
import time
from typing import Any

import mneme
from mneme import models as m

URL = os.environ["MNEME_URL"]


def client(kind: str) -> mneme.Mneme:
    return mneme.Mneme(URL, os.environ[f"MNEME_{kind}_KEY"])


def namespaces(c: mneme.Mneme, name: str) -> None:
    lease = {"id": "lease", "text": "The lease runs until May 2027.", "metadata": {"kind": "lease", "year": 2027}}
    phone = m.DocumentInput(id="phone", text="The phone contract may be left in May.")
    assert c.documents.write(name, [lease, phone]).written == 2
    found = c.namespaces.query(name, query="when may we leave?", filter={"kind": "lease"}, rerank=True)
    assert [hit.document_id for hit in found.results] == ["lease"], found
    assert c.documents.write_soon(name, [phone]).unchanged == 1
    later = c.documents.write_later(name, [{"id": f"n{i}", "text": f"Note {i}."} for i in range(5)])
    assert c.documents.wait(name, later.id).status == "succeeded"
    assert sorted(d.id for d in c.documents.list(name, limit=2)) == ["lease", "n0", "n1", "n2", "n3", "n4", "phone"]
    read = c.documents.get(name, "lease")
    try:
        c.documents.get(name, "lease", if_none_match=f'"{read.content_hash}"')
    except mneme.NotModifiedError:
        pass
    else:
        raise AssertionError("read again what has not changed")
    shown = c.files.upload(name, ("a.md", b"# Bees\n\nBees fly."), metadata={"team": "shop"}, dry_run=True)
    assert shown.files[0].status == "read", shown
    c.queries.save(name, "leaving", query="when may we leave?", expect=["lease"])
    assert c.queries.run(name).passed == 1
    assert c.rerank("when?", ["The sea is blue.", "In May."], top_k=1).results[0].index in (0, 1)
    assert c.models.list().models and c.files.formats().formats and c.health().status == "ok"
    assert c.documents.delete(name, ids=["n0"]).deleted == 1
    for wrong, kind in (({"filter": {"year": {"$gt": 1}}}, mneme.InvalidFilterError), ({"top_k": 0}, mneme.InvalidRequestError)):
        try:
            c.namespaces.query(name, query="x", **wrong)
        except kind as failure:
            assert failure.request_id
        else:
            raise AssertionError(wrong)
    assert c.namespaces.delete(name).deleted


def memories(c: mneme.Mneme, user: str) -> None:
    saved = c.memory.save(end_user_id=user, content="I am allergic to peanuts.", container_tag="health")
    assert saved.created, saved
    found = c.memory.search(end_user_id=user, query="what must I not eat?")
    assert "peanuts" in found.results[0].matched_content, found
    assert [one.content for one in c.memory.list(end_user_id=user)] == ["I am allergic to peanuts."]
    c.memory.upsert("note-1", end_user_id=user, source="notes", version=1, content="Likes tea.", occurred_at="2026-01-02T03:04:05Z")
    assert c.memory.tombstone("note-1", end_user_id=user, source="notes", version=2).success
    assert c.users.erase(user).success


def events(c: mneme.Mneme, name: str) -> None:
    kinds = ["documents.written"] # a cursor is bound to them
    after = c.events.list(after="latest", kinds=kinds).next_cursor
    c.documents.write(name, [{"id": "one", "text": "One."}])
    for event in c.events.follow(after=after, kinds=kinds, wait=5):
        if event.data["namespace"] == name:
            break
    hook = c.webhooks.create(url="https://example.com/hook", enabled=False)
    assert hook.secret.startswith("whsec_")
    assert c.webhooks.delete(hook.id).deleted


def admin(c: mneme.Mneme, name: str) -> None:
    org = next(iter(c.admin.organizations.list())).id
    made = c.admin.keys.create(org, name="sdk")
    assert any(key.id == made.id for key in c.admin.keys.list(org, limit=1))
    c.admin.keys.revoke(org, made.id)
    lines: list[Any] = list(c.admin.namespaces.export(org, name, vectors=False))
    assert lines[0]["type"] == "header" and len(lines) > 2, lines
    content = b"".join(part for part in exported(c, org, name))
    taken = c.admin.namespaces.import_(org, name + "-copy", content)
    assert taken.documents == 1, taken
    assert c.admin.audit.export_csv(target=made.id).count("\n") >= 1
    assert c.admin.settings.get() and c.admin.usage.list(by="total").first()


def exported(c: mneme.Mneme, org: str, name: str) -> Any:
    import json

    for line in c.admin.namespaces.export(org, name):
        yield json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


async def without_blocking(name: str) -> None:
    async with mneme.AsyncMneme(URL, os.environ["MNEME_SERVICE_KEY"]) as c:
        written = await asyncio.gather(
            *(c.documents.write(name, [{"id": f"d{i}", "text": f"Text {i}."}]) for i in range(4))
        )
        assert sum(one.written for one in written) == 4
        assert [d.id async for d in c.documents.list(name, limit=3)] == ["d0", "d1", "d2", "d3"]
        assert (await c.files.upload(name, ("a.txt", b"Bees fly."))).written == 1
        assert (await c.namespaces.query(name, query="what do bees do?")).results[0].document_id == "a.txt"
    async with mneme.AsyncMneme(URL, os.environ["MNEME_ADMIN_KEY"]) as c:
        org = [one async for one in c.admin.organizations.list()][0].id
        assert len([line async for line in c.admin.namespaces.export(org, name)]) > 4


def main() -> None:
    name = f"python-{sys.version_info.minor}"
    namespaces(client("SERVICE"), name)
    memories(client("INTEGRATION"), name)
    events(client("SERVICE"), name)
    admin(client("ADMIN"), name)
    asyncio.run(without_blocking(name + "-async"))
    print("round trip done")


main()
