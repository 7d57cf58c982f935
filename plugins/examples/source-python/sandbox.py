#!/usr/bin/env python3
"""A small app to try the connector with until yours takes its place: its notes are the
text files of a folder, and it answers what the connector asks, to anyone who has its token.
Edit, add and delete files, and the connector follows.

    APP_TOKEN=a-token-to-try-with python3 sandbox.py 127.0.0.1:8099 ./notes
"""

import http.server
import json
import os
import pathlib
import socketserver
import sys
import threading
import time
import urllib.parse
from datetime import datetime, timezone

IN_PAGE = 10
DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
PLANTS = """Apples Beans Beetroot Cabbage Carrots Celery Cherries Chicory Corn Cress Fennel Figs Garlic Grapes Kale Leeks Lettuce
Onions Parsley Parsnips Pears Peas Potatoes Quinces Radishes Rhubarb Spinach Squash Tomatoes Turnips""".split()


class App:
    def __init__(self, folder, token):
        self.folder, self.token, self.lock = folder, token, threading.Lock()
        self.start = time.time_ns() // 1000  # above all numbers of earlier runs
        self.changes, self.notes = self.start, {}

    def look(self):
        """Finds what has changed in the folder."""
        there = {p.name: p.stat().st_mtime_ns for p in self.folder.iterdir() if p.is_file()}
        for name, modified in there.items():
            if self.notes.get(name, {}).get("seq") != modified:
                self.changes += 1
                when = datetime.fromtimestamp(modified / 1e9, timezone.utc).isoformat()
                self.notes[name] = {"id": name, "title": pathlib.Path(name).stem, "url": "", "seq": modified, "modified": when,
                                    "changed": self.changes}
        for name, old in self.notes.items():
            if name not in there and not old.get("deleted"):
                self.changes += 1
                self.notes[name] = {"id": name, "deleted": True, "changed": self.changes}

    def page(self, path, query):
        """A page of notes, or None: that is too long ago."""
        if path == "/notes":
            after = query.get("after", "")
            found = sorted((n for n in self.notes.values() if not n.get("deleted") and n["id"] > after), key=lambda n: n["id"])
        else:
            since = int(query.get("since", "0"))
            if not self.start <= since <= self.changes:
                return None
            found = sorted((n for n in self.notes.values() if n["changed"] > since), key=lambda n: n["changed"])
        more, seq = len(found) > IN_PAGE, self.changes
        if more:
            found = found[:IN_PAGE]
            if path == "/changes":
                seq = found[-1]["changed"]
        return {"notes": found, "more": more, "seq": seq}

    def answer(self, path, query):
        """(status, body, headers)"""
        with self.lock:
            self.look()
            if path == "/note":
                note = self.notes.get(query.get("id", ""), {"deleted": True})
                if note.get("deleted"):
                    return 404, b"", {}
                return 200, (self.folder / note["id"]).read_bytes(), {"X-Seq": str(note["seq"])}
            if path not in ("/notes", "/changes"):
                return 404, b"", {}
            page = self.page(path, query)
        return (410, b"", {}) if page is None else (200, json.dumps(page).encode(), {})


def handler(app):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            at = urllib.parse.urlsplit(self.path)
            if self.headers.get("Authorization") != "Bearer " + app.token:
                status, body, headers = 401, b"", {}
            else:
                status, body, headers = app.answer(at.path, dict(urllib.parse.parse_qsl(at.query)))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    return Handler


class Server(socketserver.ThreadingTCPServer):  # ThreadingHTTPServer asks name servers for this machine's name first
    allow_reuse_address = daemon_threads = True


def main():
    token = os.environ.get("APP_TOKEN")
    if len(sys.argv) != 3 or not token:
        sys.exit("usage: APP_TOKEN=... sandbox.py ADDRESS FOLDER")
    host, _, port = sys.argv[1].rpartition(":")
    folder = pathlib.Path(sys.argv[2])
    if not folder.exists():
        folder.mkdir()
        for bed, plant in enumerate(PLANTS, 1):
            day = DAYS[(bed - 1) % 7]
            (folder / f"{plant}.txt").write_text(f"{plant} grow in bed {bed} and were last watered on a {day}.\n")
    server = Server((host, int(port)), handler(App(folder, token)))
    print(f"the notes of {folder} at http://{sys.argv[1]}", file=sys.stderr)
    server.serve_forever()


if __name__ == "__main__":
    main()
