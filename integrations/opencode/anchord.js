// anchord for opencode: tells the daemon what happens in a session, and puts what it answers into
// the prompt. Goes into ~/.config/opencode/plugin/ (`anchord setup opencode` does that), with
// hook.js below.

const CLIENT = "opencode"

const textOf = (parts) =>
  (parts ?? [])
    .filter((part) => part.type === "text" && !part.synthetic && part.text)
    .map((part) => part.text)
    .join("\n")

export const Anchord = async ({ directory, client }) => {
  // Subagents are sessions with a parent.
  const parents = new Map()
  const base = (name, id) => ({
    hook_event_name: name,
    session_id: id,
    parent_id: parents.get(id),
    cwd: directory,
    pid: process.pid,
  })

  /** What the agent said last in a session. */
  async function lastMessage(id) {
    try {
      const { data } = await client.session.messages({ path: { id } })
      const answers = (data ?? []).filter((message) => message.info?.role === "assistant")
      return textOf(answers.at(-1)?.parts)
    } catch {
      return ""
    }
  }

  return {
    event: async ({ event }) => {
      const properties = event.properties ?? {}
      if (event.type === "session.created") {
        const { id, parentID } = properties.info ?? {}
        if (parentID) parents.set(id, parentID)
        await tell(base("session.created", id))
      } else if (event.type === "session.compacted") {
        await tell(base("session.compacted", properties.sessionID))
      } else if (event.type === "session.idle") {
        const id = properties.sessionID
        await tell({ ...base("session.idle", id), last_message: await lastMessage(id) })
      } else if (event.type === "session.deleted") {
        await tell(base("session.deleted", properties.info?.id))
      }
    },

    "chat.message": async (input, output) => {
      const id = input.sessionID
      const { context } = await tell({
        ...base("chat.message", id),
        message_id: output.message?.id,
        prompt: textOf(output.parts),
      })
      const last = output.parts.at(-1)
      if (context && last) {
        const part = `prt_${Date.now().toString(16)}${Math.random().toString(36).slice(2)}`
        const own = { id: part, messageID: last.messageID, sessionID: id, synthetic: true }
        output.parts.push({ ...own, type: "text", text: context })
      }
    },

    "experimental.chat.system.transform": async (input, output) => {
      if (!input.sessionID) return
      const { context } = await tell(base("system.transform", input.sessionID))
      if (context) output.system.push(context)
    },

    "experimental.session.compacting": async (input, output) => {
      const { context } = await tell(base("session.compacting", input.sessionID))
      if (context) output.context.push(context)
    },

    "tool.execute.before": async (input, output) => {
      const { deny } = await tell({
        ...base("tool.execute.before", input.sessionID),
        call_id: input.callID,
        tool: input.tool,
        command: output.args?.command,
        file: output.args?.filePath,
        patch: named(output.args?.patchText),
      })
      // An error stops the tool, and its text is what the model is given.
      if (deny) throw new Error(deny)
    },

    "tool.execute.after": async (input, output) => {
      const { context } = await tell({
        ...base("tool.execute.after", input.sessionID),
        call_id: input.callID,
        tool: input.tool,
        // What was written is of no use to memory, and may be large.
        command: input.args?.command,
        file: input.args?.filePath,
        patch: named(input.args?.patchText),
        exit: output.metadata?.exit,
        output: output.metadata?.exit ? ends(output.output ?? output.metadata?.output) : undefined,
      })
      // Memory's text about the file or the failure goes after the tool's own output.
      if (context && typeof output.output === "string") output.output += `\n\n${context}`
    },
  }
}
