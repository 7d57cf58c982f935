"""mem0's clients for Python, blocking and not, against a server that MNEME_URL names."""

import asyncio
import os

from mem0 import AsyncMemoryClient, MemoryClient
from mem0 import exceptions as errors

HOST, KEY = os.environ["MNEME_URL"], os.environ["MNEME_MEMORY_KEY"]
client = MemoryClient(api_key=KEY, host=HOST)
assert client.org_id and client.project_id.startswith("int_"), (client.org_id, client.project_id)


def refused(kind, says, call):
    try:
        call()
    except kind as e:
        assert says in str(e), e
        return e
    raise AssertionError("it was not refused")


hedge, salt = "The hedge is cut in February.", "Bread needs salt."
anna = {"user_id": "anna"}
talk = [{"role": "user", "content": hedge}, {"role": "assistant", "content": "I will remind you in January."}]
added = client.add(talk, user_id="anna", run_id="garden", metadata={"kind": "guide"})
assert [r["event"] for r in added["results"]] == ["ADD", "ADD"] and "no language model" in added["message"], added
assert added["results"][0]["memory"] == hedge
assert [r["event"] for r in client.add(talk, user_id="anna", run_id="garden", metadata={"kind": "guide"})["results"]] == ["NOOP", "NOOP"]
client.add(salt, filters=anna, agent_id="cook", infer=False, timestamp=1700000000, version="v2", output_format="v1.1")

memory = client.get(added["results"][0]["id"])
assert (memory["memory"], memory["user_id"], memory["run_id"], memory["agent_id"]) == (hedge, "anna", "garden", None), memory
assert memory["metadata"] == {"kind": "guide", "role": "user"} and memory["categories"] == [], memory

found = client.search("When is the hedge cut?", filters={"AND": [anna, {"metadata": {"kind": "guide"}}]}, top_k=1)["results"]
assert [h["memory"] for h in found] == [hedge] and 0 <= found[0]["score"] <= 1, found
either = {"AND": [anna, {"OR": [{"agent_id": "cook"}, {"run_id": "none"}]}]}
assert [h["memory"] for h in client.search("hedge salt", filters=either)["results"]] == [salt]
assert client.search("hedge", filters={"user_id": "stranger"}) == {"results": [], "degraded": []}
assert client.search("hedge", filters=anna, threshold=1.0)["results"] == []

page = client.get_all(filters=anna, page=1, page_size=2)
assert (page["count"], len(page["results"]), page["previous"]) == (3, 2, None) and "page=2" in page["next"], page
last = client.get_all(filters=anna, page=2, page_size=2)
assert [m["memory"] for m in last["results"]] == [salt] and last["next"] is None, last
assert last["results"][0]["created_at"].startswith("2023-11-14T22:13:20") and last["results"][0]["agent_id"] == "cook"
old = {**anna, "created_at": {"lte": "2023-12-31"}}
assert client.get_all(filters=old)["count"] == 1 and client.get_all(filters=anna, start_date="2024-01-01")["count"] == 2
assert [m["memory"] for m in client.search("salt", filters=old)["results"]] == [salt]

changed = client.update(memory["id"], text="The hedge is cut in March.", metadata={"kind": "rule"})
assert changed["memory"] == "The hedge is cut in March." and changed["metadata"] == {"kind": "rule", "role": "user"}, changed
assert client.search("When is the hedge cut?", filters=anna, top_k=1)["results"][0]["memory"] == changed["memory"]
assert client.update(memory["id"], timestamp="2024-05-01T10:00:00Z", expiration_date=None)["created_at"].startswith("2024-05-01T10:00")
history = client.history(memory["id"])
assert [(v["memory_id"], v["new_memory"]) for v in history] == [(memory["id"], changed["memory"])], history

more = client.add([{"role": "user", "content": f"Note {i}."} for i in range(3)], user_id="ben")["results"]
assert "2 memories" in client.batch_update([{"memory_id": m["id"], "text": m["memory"] + " Changed."} for m in more[:2]])["message"]
for _ in range(2):  # once more, as after an answer that was lost
    client.batch_delete([{"memory_id": m["id"]} for m in more[:2]])
assert [m["memory"] for m in client.get_all(filters={"user_id": "ben"})["results"]] == ["Note 2."]
client.delete(more[2]["id"], delete_linked=True)
refused(errors.MemoryNotFoundError, "no memory", lambda: client.get(more[2]["id"]))
refused(errors.MemoryNotFoundError, "no memory", lambda: client.delete("another-service's-id"))

client.add("I am a bot.", agent_id="bot")
assert [m["agent_id"] for m in client.get_all(filters={"agent_id": "bot"})["results"]] == ["bot"]
assert {(e["type"], e["name"], e["total_memories"]) for e in client.users()["results"]} == {
    ("user", "anna", 3), ("user", "ben", 0), ("agent", "bot", 1)}
refused(errors.ValidationError, "filters", lambda: client.delete_all(user_id="anna", filters={"user_id": "anna"}))
client.delete_all(user_id="anna", run_id="garden")
assert [m["memory"] for m in client.get_all(filters=anna)["results"]] == [salt]
client.delete_users(agent_id="bot")
refused(errors.MemoryNotFoundError, "no memories are kept", lambda: client.delete_users(agent_id="bot"))

bad = errors.ValidationError
refused(bad, "language model", lambda: client.add("a", user_id="anna", infer=True))
refused(bad, "language model", lambda: client.add("a", user_id="anna", custom_instructions="Only facts."))
refused(bad, "user_id", lambda: client.add("a"))
refused(bad, "user_id", lambda: client.delete_all())
refused(bad, "NOT", lambda: client.search("a", filters={"NOT": [anna]}))
refused(bad, "operator contains", lambda: client.search("a", filters={**anna, "metadata": {"kind": {"contains": "u"}}}))
refused(bad, "its own", lambda: client.search("a", filters={"OR": [anna, {"user_id": "ben"}]}))
refused(bad, "until they are deleted", lambda: client.add("a", user_id="anna", expiration_date="2030-01-01"))
absent = errors.MemoryNotFoundError
refused(absent, "webhooks", lambda: client.get_webhooks(client.project_id))
refused(absent, "language model", lambda: client.create_memory_export(schema="{}", user_id="anna"))
refused(absent, "language model", lambda: client.get_summary())
refused(absent, "language model", lambda: client.get_profile("anna"))
refused(absent, "feedback", lambda: client.feedback(memory["id"], feedback="POSITIVE"))
refused(absent, "integration", lambda: client.project.get())
refused(ValueError, "not valid", lambda: MemoryClient(api_key="m0-of-another-service", host=HOST))


async def later():
    async with AsyncMemoryClient(api_key=KEY, host=HOST) as client:
        added = await client.add("Tea is green.", user_id="cleo")
        one = added["results"][0]["id"]
        assert (await client.get(one))["memory"] == "Tea is green."
        assert (await client.search("tea", filters={"user_id": "cleo"}))["results"][0]["id"] == one
        assert (await client.get_all(filters={"user_id": "cleo"}))["count"] == 1
        assert (await client.update(one, text="Tea is black."))["memory"] == "Tea is black."
        assert (await client.history(one))[0]["new_memory"] == "Tea is black."
        await client.batch_update([{"memory_id": one, "text": "Tea is white."}])
        await client.batch_delete([{"memory_id": one}])
        await client.add("Tea is red.", user_id="cleo")
        await client.delete_all(user_id="cleo")
        assert (await client.get_all(filters={"user_id": "cleo"}))["count"] == 0
        await client.delete_users(user_id="cleo")
        assert "cleo" not in {e["name"] for e in (await client.users())["results"]}


asyncio.run(later())
client.reset()
assert client.users()["count"] == 0
print("round trip done")
