#!/usr/bin/env python3
"""Counts the lines of an instruction file that an agent's model is given.

  CLAUDE_BIN=… CODEX_BIN=… scripts/measure/files.py --programs target/debug

A new project has a CLAUDE.md and an AGENTS.md of 1,200 lines each. The real Claude Code and Codex
run there once, against the scripted model of the picture, which keeps their requests.
"""

import argparse
import json
import re
import sys
import tempfile
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "picture"))
import record  # noqa: E402

LINES = 1_200
AGENTS = {"claude": ["claude", "-p", "hello"], "codex": ["codex", "exec", "hello"]}


class Model(record.Model):
    requests = []

    def answer(self, body):
        Model.requests.append(json.dumps(body))
        return super().answer(body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=Path, required=True)
    options = parser.parse_args()
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    Thread(target=model.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="files-") as root:
        machine = record.Machine(Path(root), options.programs, record.agents(), model.server_port)
        for file in ("CLAUDE.md", "AGENTS.md"):
            lines = (f"{file}, line {at}: something about the project\n" for at in range(LINES))
            (machine.project / file).write_text("".join(lines))
        try:
            for agent, command in AGENTS.items():
                Model.requests.clear()
                machine.run(*command)
                given = max(Model.requests, key=len)
                for file in ("CLAUDE.md", "AGENTS.md"):
                    lines = len(set(re.findall(f"{file}, line (\\d+):", given)))
                    print(f"{agent}: {lines} of {LINES} lines of {file}")
        finally:
            machine.run("anchord", "stop")


if __name__ == "__main__":
    main()
