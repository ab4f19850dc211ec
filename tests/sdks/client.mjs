// The TypeScript SDK's client through a shim: lists the tools, saves, loads. Its arguments are the
// shim's command.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport, getDefaultEnvironment } from "@modelcontextprotocol/sdk/client/stdio.js";

const passed = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("ANCHORD_")));
const [command, ...args] = process.argv.slice(2);
const transport = new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment(), ...passed } });
const client = new Client({ name: "anchord-tests", version: "0" });
await client.connect(transport);

const names = (await client.listTools()).tools.map((tool) => tool.name);
assert(names.includes("memory_load") && names.includes("memory_save"), names.join(" "));
const saved = await client.callTool({ name: "memory_save", arguments: { session_summary: "from the TypeScript SDK" } });
assert(!saved.isError, JSON.stringify(saved));
const loaded = await client.callTool({ name: "memory_load", arguments: {} });
assert(loaded.content[0].text.includes("from the TypeScript SDK"), JSON.stringify(loaded));
await client.close();
