// anchord for Cline: tells the daemon what happens in a session, and hands what it answers to the
// model. Goes into ~/.cline/plugins/ (`anchord setup cline` does that), with hook.js below.

const CLIENT = "cline"

// Cline runs plugins in a child of its own process. Servers are children of that one, too.
const PID = process.send ? process.ppid : process.pid

let session
let directory = process.cwd()

/** Agents whose first run was told already. */
const started = new Set()

const base = (name, { agentId, parentAgentId, conversationId }) => ({
  hook_event_name: name,
  session_id: session ?? conversationId,
  agent_id: parentAgentId ? agentId : undefined,
  cwd: directory,
  pid: PID,
})

const textOf = (message) =>
  (message?.content ?? [])
    .filter((part) => part.type === "text" && part.text)
    .map((part) => part.text)
    .join("\n")

/** What a person asked, without the wrapper that Cline puts around it. */
function prompt({ messages }) {
  const asked = (messages ?? []).filter((message) => message.role === "user").at(-1)
  const text = textOf(asked)
  return /^<user_input\b[^>]*>([\s\S]*)<\/user_input>$/.exec(text.trim())?.[1] ?? text
}

/** The parts of a call: it may run several commands, or read several files. */
function parts({ toolName, input }) {
  const texts = (value) => [value].flat().filter((text) => typeof text === "string")
  if (toolName === "run_commands") return texts(input?.commands).map((command) => ({ command }))
  if (toolName === "read_files") return [input?.files].flat().map((file) => ({ file: file?.path }))
  if (toolName === "apply_patch") return [{ patch: named(input?.input) }]
  return [{ file: toolName === "editor" ? input?.path : undefined }]
}

/** How a part of a call ended; nothing if it did not run. */
function outcome(part, index, { output, isError }) {
  const ended = Array.isArray(output) ? output[index] : output
  if (!part.command) return isError || ended?.success === false ? undefined : {}
  if (typeof ended?.success !== "boolean") return undefined
  if (ended.success) return { exit: 0 }
  const code = /exited with code (\d+)/.exec(ended.error ?? "")?.[1]
  const printed = String(ended.result ?? "").replace(/^\[Command exited[^\n]*\n/, "")
  return { exit: Number(code ?? 1), output: ends(printed) }
}

const shown = (contexts) => {
  const texts = contexts.filter(Boolean)
  return texts.length ? { appendContext: texts.join("\n\n") } : undefined
}

export default {
  name: "anchord",
  manifest: { capabilities: ["hooks"] },

  setup(_api, context) {
    session = context?.session?.sessionId
    directory = context?.workspaceInfo?.rootPath ?? directory
  },

  hooks: {
    beforeRun: async ({ snapshot }) => {
      const contexts = []
      if (!started.has(snapshot.agentId)) {
        started.add(snapshot.agentId)
        const resumed = (snapshot.messages ?? []).length > 1
        const start = { ...base("start", snapshot), source: resumed ? "resume" : "startup" }
        contexts.push((await tell(start)).context)
      }
      contexts.push((await tell({ ...base("beforeRun", snapshot), prompt: prompt(snapshot) })).context)
      return shown(contexts)
    },

    beforeTool: async ({ snapshot, toolCall }) => {
      const call = { call_id: toolCall.toolCallId, tool: toolCall.toolName }
      for (const part of parts(toolCall)) {
        const { deny } = await tell({ ...base("beforeTool", snapshot), ...call, ...part })
        if (deny) return { skip: true, reason: deny }
      }
    },

    afterTool: async ({ snapshot, toolCall, result }) => {
      const call = { call_id: toolCall.toolCallId, tool: toolCall.toolName }
      const contexts = []
      for (const [index, part] of parts(toolCall).entries()) {
        const ended = outcome(part, index, result ?? {})
        if (!ended) continue
        const told = await tell({ ...base("afterTool", snapshot), ...call, ...part, ...ended })
        contexts.push(told.context)
      }
      return shown(contexts)
    },

    afterRun: async ({ snapshot, result }) => {
      await tell({ ...base("afterRun", snapshot), last_message: result?.outputText })
    },
  },
}
