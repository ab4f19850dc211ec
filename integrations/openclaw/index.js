// anchord for OpenClaw: tells the daemon what happens in a session, and puts what it answers into
// the prompt. `anchord setup openclaw` installs it, with hook.js below.

const CLIENT = "openclaw"

// Sessions whose last prompt is remembered.
const SESSIONS_MAX = 200

// The argument in which a call's conversation is named. OpenClaw does not tell its MCP servers.
const CONVERSATION = "anchord_conversation"

/** The servers that are anchord's, by their names. */
const oursIn = (config) =>
  Object.entries(config?.mcp?.servers ?? {}).filter(([, server]) =>
    /(^|[\\/])anchord(-mcp)?$/.test(server?.command ?? ""),
  )

/** The project that the server's entry names, if it names one: what is told is told of the same. */
function projectOf(config) {
  const [, ours] = oursIn(config)[0] ?? []
  const args = ours?.args ?? []
  const at = args.indexOf("--project")
  const joined = args.find((arg) => arg.startsWith("--project="))
  return at >= 0 ? args[at + 1] : joined ? joined.slice("--project=".length) : ours?.env?.ANCHORD_PROJECT
}

/** An event of a session, with what every event has. */
const about = (name, context, more) => ({
  hook_event_name: name,
  session_key: context?.sessionKey ?? context?.sessionId,
  session_id: context?.sessionId,
  cwd: context?.workspaceDir,
  trigger: context?.trigger,
  channel: context?.channel,
  pid: process.pid,
  ...more,
})

/** The text of a content, which is a text itself or a list of parts. */
function textOf(content) {
  if (typeof content === "string") return content
  return (Array.isArray(content) ? content : [])
    .filter((part) => part?.type === "text" && part.text)
    .map((part) => part.text)
    .join("\n")
}

/** The text of the last message that the agent wrote. */
const lastMessage = (messages) =>
  textOf((messages ?? []).filter((message) => message?.role === "assistant").at(-1)?.content)

/** What a tool printed, and the error beside it. */
const printed = ({ result, error }) =>
  [textOf(result?.content), typeof error === "string" ? error : error?.message]
    .filter(Boolean)
    .join("\n")

export default {
  id: "anchord",
  name: "anchord",
  description: "Loads, keeps and restores the project's memory by itself",
  register(api) {
    const project = projectOf(api.config)
    // The directory of each session: not every event tells it.
    const places = new Map()
    // A prompt may be built several times; its news are asked for once.
    const news = new Map()

    const keep = (map, key, value) => {
      map.delete(key)
      map.set(key, value)
      if (map.size > SESSIONS_MAX) map.delete(map.keys().next().value)
    }
    const send = (name, context, more) => {
      const event = about(name, context, more)
      if (event.cwd) keep(places, event.session_key, event.cwd)
      else event.cwd = places.get(event.session_key)
      return tell(event, project)
    }
    const observe = (name, more, options) =>
      api.on(
        name,
        async (event, context) => {
          await send(name, { ...context, sessionKey: context?.sessionKey ?? event?.sessionKey }, more(event))
        },
        options,
      )

    api.on(
      "before_prompt_build",
      async (event, context) => {
        const key = context?.sessionKey ?? context?.sessionId
        const prompt = event.currentUserMessage ?? event.prompt ?? ""
        const id = event.currentUserMessageId ?? prompt
        const system = send("before_prompt_build", context)
        if (news.get(key)?.id !== id) {
          keep(news, key, { id, said: send("prompt_submitted", context, { prompt, message_id: event.currentUserMessageId }) })
        }
        const [stable, fresh] = await Promise.all([system, news.get(key).said])
        const result = {}
        // In the system prompt, and the same on each run: the provider's cache holds.
        if (stable.context) result.appendSystemContext = stable.context
        if (fresh.context) result.prependContext = fresh.context
        return result
      },
      { timeoutMs: 4000 },
    )
    const tools = oursIn(api.config).map(([name]) => `${name.replace(/[^A-Za-z0-9_-]/g, "-")}__`)
    api.on(
      "before_tool_call",
      async (event, context) => {
        const conversation = context?.sessionKey ?? context?.sessionId
        if (!conversation) return undefined
        if (tools.some((begin) => event.toolName?.startsWith(begin))) {
          // Always set, so that no model speaks for another conversation.
          return { params: { ...event.params, [CONVERSATION]: conversation } }
        }
        const { deny, ask } = await send("before_tool_call", context, {
          tool: event.toolName,
          call_id: event.toolCallId,
          command: event.params?.command,
          file: event.params?.path ?? event.params?.file_path,
          patch: named(event.params?.input),
        })
        if (deny) return { block: true, blockReason: deny }
        if (!ask) return undefined
        return {
          requireApproval: {
            title: "A rule of this project asks first",
            description: ask,
            severity: "warning",
            timeoutBehavior: "deny",
          },
        }
      },
      // First, since the last one that rewrites a call wins: another plugin's change is not undone.
      { priority: 100 },
    )
    observe("session_start", (event) => ({ resumed_from: event.resumedFrom }))
    observe("after_tool_call", (event) => {
      const exit = event.result?.details?.exitCode ?? (event.error ? 1 : undefined)
      return {
        tool: event.toolName,
        call_id: event.toolCallId,
        // The written text is useless to memory and may be large, so it is not sent.
        command: event.params?.command,
        file: event.params?.path ?? event.params?.file_path,
        patch: named(event.params?.input),
        exit,
        output: exit && event.params?.command ? ends(printed(event)) : undefined,
      }
    })
    observe("before_compaction", (event) => ({ message_count: event.messageCount }))
    observe("after_compaction", (event) => ({ message_count: event.messageCount }))
    observe("before_reset", (event) => ({ reason: event.reason }))
    observe("agent_end", (event) => ({ last_message: lastMessage(event.messages) }))
    observe("session_end", (event) => ({ message_count: event.messageCount, reason: event.reason }))
  },
}
