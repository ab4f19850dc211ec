#!/usr/bin/env python3
"""Records the run that the README's picture shows, as an asciinema recording.

  record.py --programs DIR [--out FILE.cast]

DIR has anchord, anchord-mcp and anchord-hook. CLAUDE_BIN and CODEX_BIN name the two agents, else
they are taken from the PATH; `.ci/clients` installs them. Python's standard library is enough.

The terminal, the agents, their hooks, the shims and the daemon are real. HOME is a new directory,
and no account or network is needed: a scripted model on 127.0.0.1 takes the place of the agents'
own. In Claude Code it calls `memory_save` with a lesson. In Codex it has no text of its own: it
quotes the lesson that it finds in its request, and says that it knows nothing if there is none.
"""

import argparse
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from fcntl import ioctl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from termios import TIOCSWINSZ
from threading import Thread

COLUMNS, ROWS = 92, 30
KEY_SECONDS = 0.045  # between two keys
PATIENCE_SECONDS = 60
PROMPT = "$ "
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

COMMANDS = [
    "# One agent learns.",
    'claude -p "The upload test hangs. Find out why."',
    "# Another one knows.",
    'codex exec "The upload test hangs again. Why?" 2>/dev/null',
    "# What was it given, and when?",
    "anchord log",
]

LESSON = {
    "session_summary": "The upload test hung; it was the port.",
    "lessons": [{
        "summary": "The upload test hangs when port 8080 is taken: listen on port 0",
        "details": "Another test's server keeps 8080. Port 0 makes the system choose a free one.",
        "files": ["tests/upload.py"],
    }],
}
LEARNED = "The server of another test keeps port 8080. anchord answered:\n{}"


class Model(BaseHTTPRequestHandler):
    """Answers as the Anthropic Messages API and as the OpenAI Responses API."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        size = int(self.headers.get("content-length", 0))
        self.reply(*self.answer(json.loads(self.rfile.read(size) or "{}")))

    def do_GET(self):
        self.reply("application/json", json.dumps({"object": "list", "data": [], "models": []}))

    def answer(self, body):
        path = self.path.split("?")[0]
        if path.endswith("/v1/messages"):
            return messages(body)
        if path.endswith("/responses"):
            return responses(body)
        return "application/json", json.dumps({"input_tokens": 1})

    def reply(self, kind, text):
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def messages(body):
    if not body.get("tools"):
        content = {"type": "text", "text": "a title"}
    elif "tool_result" in (last := json.dumps(body["messages"][-1])):
        saved = re.search(r"Saved as [^\\\"]*", last)
        text = LEARNED.format(saved[0]) if saved else f"It was not saved: {last}"
        content = {"type": "text", "text": text}
    else:
        content = {"type": "tool_use", "id": "toolu_1", "name": "mcp__anchord__memory_save",
                   "input": LESSON}
    is_text = content["type"] == "text"
    stop = "end_turn" if is_text else "tool_use"
    usage = {"input_tokens": 100, "output_tokens": 20}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"),
               "content": [content], "stop_reason": stop, "stop_sequence": None, "usage": usage}
    if not body.get("stream"):
        return "application/json", json.dumps(message)
    if is_text:
        block, delta = {**content, "text": ""}, {"type": "text_delta", "text": content["text"]}
    else:
        block = {**content, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(content["input"])}
    begun = {**message, "content": [], "stop_reason": None}
    return events(
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage},
        {"type": "message_stop"},
    )


def responses(body):
    texts = [part.get("text", "") for item in body.get("input", [])
             for part in item.get("content") or [] if isinstance(part, dict)]
    frames = re.findall(r"<anchord-memory.*?</anchord-memory>", "\n".join(texts), re.S)
    found = re.search(r"^(l\d+) (.*upload test.*?)(?: \(.*\))?$", "\n".join(frames), re.M)
    text = f"Memory has it, lesson {found[1]}: {found[2]}." if found else "I do not know yet."
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}
    usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 120}
    response = {"id": "resp_1", "object": "response", "created_at": 0, "model": body.get("model"),
                "status": "completed", "output": [item], "usage": usage}
    return events(
        {"type": "response.created",
         "response": {**response, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    )


def events(*each):
    lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in each)
    return "text/event-stream", "".join(lines)


def agents():
    """Returns the agents' programs by name."""
    found = {name: os.environ.get(f"{name.upper()}_BIN") or shutil.which(name)
             for name in ("claude", "codex")}
    missing = [name for name, program in found.items() if not program]
    if missing:
        raise SystemExit(f"not installed: {', '.join(missing)}")
    return found


class Machine:
    """A new home with two agents, anchord set up in both, and a project."""

    def __init__(self, root, programs, agents, port):
        self.home, self.bin, self.project = (root / name for name in ("home", "bin", "parcel"))
        for folder in (self.home / ".claude", self.home / ".codex", self.home / ".config/anchord",
                       self.bin, self.project, root / "tmp"):
            folder.mkdir(parents=True)
        for name in ("anchord", "anchord-mcp", "anchord-hook"):
            shutil.copy(programs / name, self.bin)
        # A person trusts the hooks in Codex's terminal, but nobody is there.
        for name, more in (("claude", ""), ("codex", " --dangerously-bypass-hook-trust")):
            program = self.bin / name
            program.write_text(f'#!/bin/sh\nexec "{agents[name]}"{more} "$@"\n')
            program.chmod(0o755)
        self.environment = {
            "HOME": str(self.home), "PATH": f"{self.bin}:{os.environ['PATH']}",
            "TMPDIR": str(root / "tmp"), "TERM": "xterm-256color", "LANG": "C.UTF-8",
            "SHELL": "/bin/sh", "PS1": PROMPT, "HTTPS_PROXY": "http://127.0.0.1:9",
            "HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1", "SCRIPT_KEY": "dummy",
        }
        (self.home / ".config/anchord/config.toml").write_text("[http]\nenabled = false\n")
        allow = {"permissions": {"allow": ["mcp__anchord"]}}
        (self.home / ".claude/settings.json").write_text(json.dumps(allow))
        (self.home / ".codex/config.toml").write_text(
            'model = "script"\nmodel_provider = "script"\ncheck_for_update_on_startup = false\n'
            f'[model_providers.script]\nname = "script"\nbase_url = "http://127.0.0.1:{port}/v1"\n'
            'wire_api = "responses"\nenv_key = "SCRIPT_KEY"\n[analytics]\nenabled = false\n'
            f'[projects."{self.project}"]\ntrust_level = "trusted"\n')
        self.run("git", "init", "--quiet")
        self.run("anchord", "setup", "--yes", "claude-code", "codex")

    def run(self, *command):
        program = shutil.which(command[0], path=self.environment["PATH"])
        subprocess.run([program, *command[1:]], env=self.environment, cwd=self.project, check=True,
                       stdout=sys.stderr)


def record(machine):
    """Types the commands into a shell. Returns what its terminal got, as times and texts."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(machine.project)
        shell = ["bash", "--norc", "--noprofile", "--noediting", "-i"]
        os.execvpe("bash", shell, machine.environment)
    ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    start, got = time.monotonic(), []

    def wait_for(is_there):
        """Reads until the text since the call is as wanted."""
        since, deadline = "", time.monotonic() + PATIENCE_SECONDS
        while not is_there(since):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([terminal], [], [], left)[0]:
                raise SystemExit(f"nothing more came after {since!r}")
            text = os.read(terminal, 65536).decode(errors="replace")
            got.append((time.monotonic() - start, text))
            since += text

    wait_for(lambda text: text.endswith(PROMPT))
    for command in COMMANDS:
        time.sleep(0.6)
        for key in command:
            os.write(terminal, key.encode())
            wait_for(lambda text, key=key: key in text)
            time.sleep(KEY_SECONDS)
        os.write(terminal, b"\n")
        wait_for(lambda text: ESCAPE.sub("", text).endswith("\n" + PROMPT))
    os.write(terminal, b"exit\n")
    os.waitpid(child, 0)
    return got


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("docs/pictures/two-agents.cast"))
    options = parser.parse_args()
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    Thread(target=model.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="picture-") as root:
        machine = Machine(Path(root), options.programs, agents(), model.server_port)
        try:
            got = record(machine)
        finally:
            machine.run("anchord", "stop")
    header = {"version": 2, "width": COLUMNS, "height": ROWS}
    lines = [header, *([round(at, 3), "o", text] for at, text in got)]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
