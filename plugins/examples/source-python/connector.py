#!/usr/bin/env python3
"""A connector: it follows an app for notes over the app's HTTP interface, page by page
at first and by its list of changes from then on, and renews the app's tokens. Put your
app in its place. The connector in Go beside this one says what the app answers.
"""

import json
import os
import threading
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime

import mneme_source_sdk as sdk
from mneme_source_sdk import pb

TIMEOUT = 60

CONFIG = {
    "type": "object", "required": ["url"], "additionalProperties": False,
    "properties": {"url": {"type": "string", "maxLength": 2000, "description": "Address of the app, as in https://notes.example."}},
}
SECRETS = {
    "type": "object", "required": ["token"], "additionalProperties": False,
    "properties": {
        "token": {"type": "string", "description": "Access token."},
        "refresh_token": {"type": "string", "description": "What a new access token is got with when that has expired."},
    },
}

CODES = {401: "credentials", 403: "forbidden", 404: "not_found", 410: "not_found", 429: "rate_limited"}


class Account:
    """What one call works with; calls are made side by side, each with its own."""

    def __init__(self, notes, connection):
        self.notes, self.connection = notes, connection
        # A grant of an end user comes without settings: the operator says which app.
        self.url = connection.config.get("url", "") or os.environ.get("NOTES_URL", "")
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise sdk.Error("config", "config.url is not the address of an app")
        self.tokens = connection.secrets.get("token", ""), connection.secrets.get("refresh_token", "")
        if self.tokens[1]:
            self.tokens = notes.replaced.get(self.tokens[1], self.tokens)

    def once(self, path, query=None, body=None):
        request = urllib.request.Request(
            self.url + path + "?" + urllib.parse.urlencode(query or {}), data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + self.tokens[0]})
        try:
            return urllib.request.urlopen(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as e:
            wait = e.headers.get("Retry-After", "")
            e.close()
            code = CODES.get(e.code, "unavailable")
            raise sdk.Error(code, f"the app answered {e.code}", int(wait) if wait.isdigit() else 0) from None
        except OSError as e:
            raise sdk.Error("unavailable", "the app can't be reached") from e

    def get(self, path, query=None):
        """Reads from the app, with new tokens where it takes the old ones no longer."""
        try:
            return self.once(path, query)
        except sdk.Error as e:
            if e.code != "credentials" or not self.tokens[1]:
                raise
        self.renew()
        return self.once(path, query)

    def renew(self):
        # Several calls may find at once that the old tokens have expired, and the app
        # takes each refresh token once.
        with self.notes.lock:
            old = self.tokens[1]
            if old in self.notes.replaced:
                self.tokens = self.notes.replaced[old]
                return
            with self.once("/token", body={"refresh_token": old}) as answer:
                new = json.load(answer)
            if len(self.notes.replaced) > 1000:  # the host has them, too
                self.notes.replaced.clear()
            self.tokens = self.notes.replaced[old] = new["token"], new["refresh_token"]
            self.connection.renew({"token": self.tokens[0], "refresh_token": self.tokens[1]})

    def page(self, path, query=None):
        with self.get(path, query) as answer:
            page = json.load(answer)
        return page["notes"], page["more"], page["seq"]


def item_of(note):
    item = pb.Item(key=note["id"], version=str(note["seq"]), name=note["title"] or note["id"], url=note["url"],
                   modified_ms=int(datetime.fromisoformat(note["modified"]).timestamp() * 1000))
    if note.get("text") is not None:  # short ones come with the list
        text = note["text"].encode()
        item.size = len(text)
        item.content.CopyFrom(pb.Content(media_type="text/plain", charset="utf-8", data=text))
    return item


class Notes(sdk.Connector):
    def __init__(self):
        self.lock, self.replaced = threading.Lock(), {}  # by the refresh token that the app takes no longer

    def kind(self):
        return pb.Kind(name="notes", title="Notes", summary="The notes of an account.", incremental=True, revokes=True,
                       config_schema=json.dumps(CONFIG).encode(), secrets_schema=json.dumps(SECRETS).encode())

    def check(self, connection, gone):
        try:
            account = Account(self, connection)
        except sdk.Error:
            return [("config.url", "is not the address of an app")]
        account.page("/notes")
        return []

    def list(self, connection, state, gone):
        account = Account(self, connection)
        where = {"url": account.url, "since": -1, "after": ""}
        try:
            earlier = json.loads(state or b"null")
            if isinstance(earlier, dict) and earlier.get("url") == account.url:
                where.update(earlier)
        except ValueError:
            pass  # of another version: everything is listed
        if where["since"] >= 0 and not where["after"]:
            try:
                yield from self.changes(account, where, gone)
                return
            except sdk.Error as e:
                if e.code != "not_found":
                    raise
                where["since"] = -1  # too long ago
        more = True
        while more and not gone():
            notes, more, seq = account.page("/notes", {"after": where["after"]})
            if where["since"] < 0:
                where["since"] = seq  # what changes while this lists is listed the next time
            for note in notes:
                yield item_of(note)
                where["after"] = note["id"]
            if not more:
                where["after"] = ""
            yield pb.Checkpoint(state=json.dumps(where).encode())
        if not more:
            yield pb.Complete(snapshot=True)

    def changes(self, account, where, gone):
        more = True
        while more and not gone():
            notes, more, where["since"] = account.page("/changes", {"since": where["since"]})
            for note in notes:
                yield pb.Gone(key=note["id"]) if note.get("deleted") else item_of(note)
            yield pb.Checkpoint(state=json.dumps(where).encode())
        if not more:
            yield pb.Complete(snapshot=False)

    def fetch(self, connection, item, gone):
        answer = Account(self, connection).get("/note", {"id": item.key})

        def parts():
            with answer:
                while part := answer.read(sdk.CHUNK):
                    yield part

        return pb.Content(media_type="text/plain", charset="utf-8", version=answer.headers.get("X-Seq", "")), parts()

    def revoke(self, connection):
        account = Account(self, connection)
        account.once("/revoke", body={"refresh_token": account.tokens[1]}).close()


if __name__ == "__main__":
    sdk.serve("notes", "1.0", Notes())
