// anchord for pi: brings its tools, tells the daemon what happens in a session, and hands what it
// answers to the model. pi has no MCP, so this file talks to anchord's server itself. Goes into
// ~/.pi/agent/extensions/ (`anchord setup pi` does that), with hook.js below.

const CLIENT = "pi"

const SERVER_ARGUMENTS = ["mcp"]

// How long pi's start waits for the server's tools.
const START_MS = 5000

/** anchord's server, as a child that speaks lines of JSON. It is started again if it has ended. */
class Server {
  #cwd
  #child
  #ready
  #waiting = new Map()
  #last = 0

  constructor(cwd) {
    this.#cwd = cwd
  }

  async ask(method, params) {
    this.#ready ??= this.#start()
    await this.#ready
    return this.#request(method, params)
  }

  end() {
    this.#child?.stdin.end()
  }

  async #start() {
    const child = spawn(PROGRAM, SERVER_ARGUMENTS, {
      cwd: this.#cwd,
      stdio: ["pipe", "pipe", "ignore"],
    })
    this.#child = child
    let rest = ""
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (part) => {
      const lines = (rest + part).split("\n")
      rest = lines.pop()
      lines.filter((line) => line.trim()).forEach((line) => this.#heard(line))
    })
    child.stdin.on("error", () => {})
    child.on("error", (error) => this.#ended(error))
    child.on("close", () => this.#ended(new Error("anchord's server has ended")))
    await this.#request("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "pi-coding-agent", version: "0" },
    })
    this.#send({ method: "notifications/initialized" })
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message }, wellFormed)}\n`)
  }

  #request(method, params) {
    const id = ++this.#last
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#send({ id, method, params })
    })
  }

  #heard(line) {
    let message
    try {
      message = JSON.parse(line)
    } catch {
      return
    }
    if (message.method && message.id !== undefined) {
      this.#send({ id: message.id, error: { code: -32601, message: "not supported" } })
      return
    }
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.error) waiting?.reject(new Error(message.error.message))
    else waiting?.resolve(message.result)
  }

  #ended(error) {
    this.#ready = undefined
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
  }
}

const textOf = (content) =>
  typeof content === "string"
    ? content
    : (content ?? [])
        .filter((part) => part.type === "text" && part.text)
        .map((part) => part.text)
        .join("\n")

/** What the agent said last. */
const lastMessage = (messages) =>
  textOf((messages ?? []).filter((message) => message.role === "assistant").at(-1)?.content)

/** How a command ended; nothing if it did not run. */
function outcome({ toolName, content, isError }) {
  if (toolName !== "bash") return isError ? undefined : {}
  if (!isError) return { exit: 0 }
  const text = textOf(content)
  const code = /Command exited with code (\d+)\s*$/.exec(text)
  return code ? { exit: Number(code[1]), output: ends(text.slice(0, code.index).trimEnd()) } : undefined
}

export default function (pi) {
  let server
  /** Texts for the next prompt. */
  let waiting = []

  const base = (name, ctx) => ({
    hook_event_name: name,
    session_id: ctx.sessionManager.getSessionId(),
    cwd: ctx.cwd,
    pid: process.pid,
  })

  const message = (texts) => ({
    customType: "anchord",
    content: texts.filter(Boolean).join("\n\n"),
    display: false,
  })

  /** Brings the server's tools. */
  async function bring() {
    const { tools } = await server.ask("tools/list", {})
    for (const tool of tools ?? []) {
      pi.registerTool({
        name: tool.name,
        label: tool.title ?? tool.name,
        description: tool.description ?? "",
        parameters: tool.inputSchema,
        async execute(_id, params) {
          const { content, isError } = await server.ask("tools/call", {
            name: tool.name,
            arguments: params,
          })
          // An error that is thrown is what the model is given.
          if (isError) throw new Error(textOf(content))
          return { content, details: {} }
        },
      })
    }
  }

  pi.on("session_start", async (event, ctx) => {
    server = new Server(ctx.cwd)
    let timer
    const late = new Promise((resolve) => (timer = setTimeout(resolve, START_MS)))
    // Without its tools, the session still has its memory.
    await Promise.race([bring().catch(() => {}), late])
    clearTimeout(timer)
    const known = ctx.sessionManager.getEntries().some((entry) => entry.type === "message")
    const source = event.reason === "fork" ? "fork" : known ? "resume" : "startup"
    waiting.push((await tell({ ...base("session_start", ctx), source })).context)
  })

  pi.on("before_agent_start", async (event, ctx) => {
    const told = await tell({ ...base("before_agent_start", ctx), prompt: event.prompt })
    const texts = [...waiting, told.context].filter(Boolean)
    waiting = []
    return texts.length ? { message: message(texts) } : undefined
  })

  pi.on("tool_call", async (event, ctx) => {
    const { deny, ask } = await tell({
      ...base("tool_call", ctx),
      call_id: event.toolCallId,
      tool: event.toolName,
      command: event.input?.command,
      file: event.input?.path,
    })
    const allowed = ask && ctx.hasUI && (await ctx.ui.confirm("anchord", ask))
    const stop = deny ?? ask
    return stop && !allowed ? { block: true, reason: stop } : undefined
  })

  pi.on("tool_result", async (event, ctx) => {
    const ended = outcome(event)
    if (!ended) return
    const { context } = await tell({
      ...base("tool_result", ctx),
      call_id: event.toolCallId,
      tool: event.toolName,
      // What was written is of no use to memory, and may be large.
      command: event.input?.command,
      file: event.input?.path,
      ...ended,
    })
    if (context) return { content: [...event.content, { type: "text", text: context }] }
  })

  pi.on("session_before_compact", async (_event, ctx) => {
    await tell(base("session_before_compact", ctx))
  })

  pi.on("session_compact", async (event, ctx) => {
    const summary = event.compactionEntry?.summary
    const { context } = await tell({ ...base("session_compact", ctx), summary })
    if (!context) return
    // In the middle of a run the model needs it before its next call.
    if (ctx.isIdle()) waiting.push(context)
    else pi.sendMessage(message([context]), { deliverAs: "steer" })
  })

  pi.on("agent_end", async (event, ctx) => {
    await tell({ ...base("agent_end", ctx), last_message: lastMessage(event.messages) })
  })

  pi.on("session_shutdown", async (event, ctx) => {
    server?.end()
    if (event.reason !== "reload") await tell(base("session_shutdown", ctx))
  })
}
