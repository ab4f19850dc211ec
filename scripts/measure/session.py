"""A client of an MCP server, for the scripts beside it."""

import json
import subprocess


class Session:
    """A client of a server over stdio."""

    def __init__(self, command, environment=None, directory=None):
        self.process = subprocess.Popen(command, env=environment, cwd=directory, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.requests = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "measure", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.requests += 1
        self.send({"id": self.requests, "method": method, "params": params})
        for line in self.process.stdout:
            reply = json.loads(line)
            if reply.get("id") == self.requests:
                return reply
        raise SystemExit("the server ended")

    def call(self, tool, arguments):
        """Returns the reply's text, or None for an error."""
        reply = self.ask("tools/call", {"name": tool, "arguments": arguments})
        result = reply.get("result", {"isError": True})
        return None if result.get("isError") else "".join(
            part.get("text", "") for part in result["content"])

    def end(self):
        self.process.stdin.close()
        self.process.wait()
