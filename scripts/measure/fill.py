#!/usr/bin/env python3
"""Fills a project's memory through anchord-mcp: saves of 600 lessons and 400 anchors each.

scripts/fill.py DIRECTORY SAVES
"""

import json
import random
import subprocess
import sys

WORDS = "queue retry deploy cache token parser schema lock index socket batch worker metric shard".split()


class Agent:
    """An agent that calls tools over stdio."""

    def __init__(self, directory):
        self.process = subprocess.Popen(
            ["anchord-mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=directory
        )
        self.number = 0
        client = {"name": "fill", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        for line in self.process.stdout:
            reply = json.loads(line)
            if reply.get("id") == self.number:
                return reply
        sys.exit("anchord-mcp ended")


def text(words):
    return " ".join(random.choice(WORDS) for _ in range(words))


def main():
    directory, saves = sys.argv[1], int(sys.argv[2])
    random.seed(1)
    agent = Agent(directory)
    for save in range(saves):
        first = save * 1_000
        lessons = [{"summary": f"{text(4)} {first + at}", "detail": text(12)} for at in range(600)]
        anchors = [
            {"file": f"src/m{(first + at) % 5_000}.rs", "lines": f"{save * 4 + 1}-{save * 4 + 3}", "concept": text(5)}
            for at in range(400)
        ]
        part = {"session_summary": f"save {save}", "lessons": lessons, "anchors": anchors}
        reply = agent.ask("tools/call", {"name": "memory_save", "arguments": part})
        if "error" in reply or reply["result"].get("isError"):
            sys.exit(json.dumps(reply))
        print(f"\r{save + 1} of {saves} saves", end="", file=sys.stderr)
    print(file=sys.stderr)


main()
