#!/usr/bin/env python3
"""Measures two MCP memory servers side by side: the reference memory server and anchord.

  npm install --prefix DIR @modelcontextprotocol/server-memory
  scripts/measure/servers.py --server-memory DIR/node_modules/.bin/mcp-server-memory \\
    --anchord target/debug

Several sessions, each with a server process of its own, write to one memory at the same time. Then
a new session counts which of the answered writes the memory has, and asks for one of them in two
words that are not neighbours. Private memory is read from /proc, so it is Linux only. Everything
happens in temporary directories; nothing needs a network. Python's standard library is enough.
"""

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path
from threading import Thread

from session import Session


class ServerMemory:
    name = "server-memory"

    def __init__(self, root, program):
        self.command, self.directory = [program], root
        self.environment = {**os.environ, "MEMORY_FILE_PATH": str(root / "memory.jsonl")}

    def write(self, session, name, text):
        entity = {"name": name, "entityType": "note", "observations": [text]}
        return session.call("create_entities", {"entities": [entity]})

    def search(self, session, words):
        return session.call("search_nodes", {"query": words}) or ""

    def read(self, session):
        return session.call("read_graph", {}) or ""

    def shared(self):
        return []

    def stop(self):
        pass


class Anchord:
    name = "anchord"

    def __init__(self, root, programs):
        self.programs, self.directory = programs, root / "project"
        self.command = [programs / "anchord-mcp"]
        settings = root / "home/.config/anchord"
        settings.mkdir(parents=True)
        (settings / "config.toml").write_text("[http]\nenabled = false\n")
        self.environment = {"HOME": str(root / "home"), "PATH": os.environ["PATH"],
                            "ANCHORD_PROJECT": str(self.directory)}
        self.directory.mkdir()

    def run(self, *command):
        return subprocess.run([self.programs / "anchord", *command], env=self.environment,
                              cwd=self.directory, capture_output=True, text=True).stdout

    def write(self, session, name, text):
        return session.call("memory_note", {"key": name, "content": text})

    def search(self, session, words):
        return session.call("memory_search", {"query": words}) or ""

    def read(self, _):
        return self.run("export", "--format", "json")

    def shared(self):
        return [int(re.search(r"pid (\d+)", self.run("status"))[1])]

    def stop(self):
        self.run("stop")


def private_kb(process):
    """Returns a process's private memory and that of its children."""
    fields = Path(f"/proc/{process}/smaps_rollup").read_text()
    own = sum(map(int, re.findall(r"^Private_\w+: +(\d+) kB", fields, re.M)))
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return own + sum(map(private_kb, children))


def measure(server, sessions, writes):
    open_now = [Session(server.command, server.environment, server.directory)
                for _ in range(sessions)]
    answered, refused = [], []

    def work(number, session):
        for at in range(writes):
            name = f"note-{number}-{at}"
            text = f"the upload of parcel {name} waits while its port is taken"
            (answered if server.write(session, name, text) else refused).append(name)

    threads = [Thread(target=work, args=each) for each in enumerate(open_now)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kb = [private_kb(session.process.pid) for session in open_now]
    shared_kb = sum(private_kb(process) for process in server.shared())
    for session in open_now:
        session.end()
    reader = Session(server.command, server.environment, server.directory)
    stored = set(re.findall(r"note-\d+-\d+", server.read(reader)))
    found = [name for name in answered if name in stored]
    by_words = "note-" in server.search(reader, "upload taken")
    reader.end()
    print(f"{server.name}: {sessions} sessions, answered {len(answered)}, refused {len(refused)}, "
          f"found {len(found)}, lost {len(answered) - len(found)}; private memory "
          f"{sum(kb) // len(kb)} kB a session, {shared_kb} kB shared by all; "
          f"two words apart: {'found' if by_words else 'not found'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server-memory", type=Path, metavar="PROGRAM")
    parser.add_argument("--anchord", type=Path, metavar="DIR", help="has anchord and anchord-mcp")
    parser.add_argument("--sessions", type=int, default=2)
    parser.add_argument("--writes", type=int, default=200, help="of each session [default: 200]")
    options = parser.parse_args()
    servers = ((ServerMemory, options.server_memory), (Anchord, options.anchord))
    for kind, program in servers:
        if program:
            with tempfile.TemporaryDirectory(prefix="compare-") as root:
                server = kind(Path(root), program.absolute())
                try:
                    measure(server, options.sessions, options.writes)
                finally:
                    server.stop()


if __name__ == "__main__":
    main()
