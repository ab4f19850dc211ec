#!/usr/bin/env python3
"""Lists the functions that the daemon runs while agents work, those that take most time first.

  scripts/measure/functions.py PROGRAMS > functions

PROGRAMS is the directory of anchord, anchord-mcp and anchord-hook. They need their symbols: build
them with `--config 'profile.release.strip="debuginfo"'`. Valgrind must be installed.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from session import Session

START_SECONDS = 120
ROUNDS = 3


def tools(number):
    """The calls of a session, one of each kind."""
    return [
        ("memory_load", {"task": "deploy the parser"}),
        ("memory_note", {"key": f"deploy.step{number}", "content": "Deploy with `make deploy`."}),
        ("memory_note", {"content": f"The parser of module {number} reads UTF-8 only."}),
        ("memory_search", {"query": "how do I deploy the parser"}),
        ("memory_search", {"query": "\"module\" -nothing", "mode": "content"}),
        ("memory_checkpoint", {
            "blueprints": [{"title": f"Parser {number}", "category": "decision",
                            "content": "The parser is a hand-written one."}],
            "lessons": [{"summary": f"Parser {number} needs a lock", "detail": "It had none.",
                         "files": ["src/parser.rs"]}],
            "anchors": [{"file": "src/parser.rs", "lines": "1-2", "concept": f"entry {number}"}],
            "topic": {"status": "the parser is under way", "open_questions": ["Which encoding?"]},
        }),
        ("memory_status", {}),
        ("memory_save", {"session_summary": f"The parser of module {number} is done."}),
        ("memory_get", {"ids": ["n1"]}),
        ("memory_load", {}),
    ]


def events(session, project):
    """The events of a conversation in Claude Code."""
    file = {"tool_name": "Edit", "tool_input": {"file_path": f"{project}/src/parser.rs"}}
    command = {"tool_name": "Bash", "tool_input": {"command": "make deploy"}}
    return [{"hook_event_name": name, "session_id": session, "cwd": str(project), **fields}
            for name, fields in [
                ("SessionStart", {"source": "startup"}),
                ("UserPromptSubmit", {"prompt": "deploy the parser of module 1"}),
                ("PreToolUse", file),
                ("PostToolUse", {**file, "tool_response": {}}),
                ("PostToolUseFailure", {**command, "error": "error: no such host"}),
                ("PostToolUse", {**command, "tool_response": {"stdout": "done"}}),
                ("PreCompact", {"trigger": "auto"}),
                ("SessionStart", {"source": "compact"}),
                ("Stop", {"last_assistant_message": "The parser is deployed."}),
                ("SessionEnd", {"reason": "other"}),
            ]]


def work(programs, environment, project):
    sessions = [Session([programs / "anchord-mcp"], environment, project) for _ in range(4)]
    for number in range(ROUNDS):
        for at, session in enumerate(sessions):
            session.ask("tools/list", {})
            for tool, arguments in tools(number * len(sessions) + at):
                if session.call(tool, arguments) is None:
                    raise SystemExit(f"{tool} failed: {json.dumps(arguments)}")
        for event in events(f"conversation-{number}", project):
            subprocess.run([programs / "anchord-hook", "claude-code"], env=environment,
                           cwd=project, input=json.dumps(event), text=True, check=True,
                           stdout=subprocess.DEVNULL)
    for session in sessions:
        session.end()


def instructions(profiles):
    """The instructions that each function took itself, by callgrind's files."""
    taken = Counter()
    for profile in profiles:
        function, is_call = None, False
        for line in profile.read_text(errors="replace").splitlines():
            if line.startswith("fn="):
                function = line[3:]
            elif line.startswith("calls="):
                is_call = True
            elif re.match(r"[-+*0-9]", line) and function:
                # The line after a call has the cost of what was called.
                if not is_call:
                    taken[function] += int(line.split()[-1])
                is_call = False
    return taken


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    programs = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="functions-") as root:
        root = Path(root)
        project, run = root / "project", root / "run"
        (project / "src").mkdir(parents=True)
        (project / "src" / "parser.rs").write_text("fn main() {\n}\n")
        run.mkdir(mode=0o700)
        subprocess.run(["git", "init", "-q", project], check=True)
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("ANCHORD", "XDG"))}
        environment = {**kept, "HOME": str(root), "XDG_RUNTIME_DIR": str(run)}
        anchord = programs / "anchord"
        # The daemon starts itself anew with its own settings of malloc: a child to valgrind.
        daemon = subprocess.Popen(
            ["valgrind", "--quiet", "--tool=callgrind", "--trace-children=yes",
             "--compress-strings=no", "--compress-pos=no", "--demangle=no",
             f"--callgrind-out-file={root}/profile.%p", anchord, "daemon"], env=environment)
        until = time.monotonic() + START_SECONDS
        while subprocess.run([anchord, "status"], env=environment, capture_output=True).returncode:
            if daemon.poll() is not None or time.monotonic() > until:
                raise SystemExit("the daemon did not start")
            time.sleep(0.5)
        try:
            work(programs, environment, project)
        finally:
            subprocess.run([anchord, "stop"], env=environment, check=True,
                           stdout=subprocess.DEVNULL)
            daemon.wait()
        taken = instructions(root.glob("profile.*"))
    print("\n".join(name for name, _ in taken.most_common()))


if __name__ == "__main__":
    main()
