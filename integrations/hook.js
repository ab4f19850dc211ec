// The part that all of anchord's plugins have: it hands events to the daemon. `anchord setup`
// writes it below the plugin of a client, which names itself in CLIENT.
//
// Whatever goes wrong, the client goes on: a hook that fails or is late says nothing.

import { spawn } from "node:child_process"

const PROGRAM = "anchord"

// A little longer than the hook gives itself.
const DEADLINE_MS = 1500

// The output of a failed command is sent as its beginning and its end.
const HEAD_CHARS = 1000
const TAIL_CHARS = 4000

/** The beginning and the end of a text. */
function ends(text) {
  if (typeof text !== "string" || !text) return undefined
  if (text.length <= HEAD_CHARS + TAIL_CHARS) return text
  return `${text.slice(0, HEAD_CHARS)}\n…\n${text.slice(-TAIL_CHARS)}`
}

/** The lines of a patch that name its files. Its text may be large, and only those are needed. */
function named(patch) {
  if (typeof patch !== "string") return undefined
  return patch.split("\n").filter((line) => line.trimStart().startsWith("*** ")).join("\n")
}

/** For JSON.stringify: half of a character, as a cut may leave it, makes an event unreadable. */
const wellFormed = (_, value) =>
  typeof value === "string" && value.toWellFormed ? value.toWellFormed() : value

/** Hands one event to anchord, of a project if one is named; gives its answer, or nothing. */
function tell(event, project) {
  return new Promise((resolve) => {
    let said = ""
    let timer
    const done = (answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    try {
      const hook = spawn(PROGRAM, ["hook", CLIENT], {
        cwd: event.cwd,
        env: project ? { ...process.env, ANCHORD_PROJECT: project } : process.env,
        stdio: ["pipe", "pipe", "ignore"],
      })
      timer = setTimeout(() => {
        hook.kill("SIGKILL")
        done({})
      }, DEADLINE_MS)
      hook.on("error", () => done({}))
      hook.stdin.on("error", () => {})
      hook.stdout.on("data", (part) => (said += part))
      hook.on("close", () => {
        try {
          done(said.trim() ? JSON.parse(said) : {})
        } catch {
          done({})
        }
      })
      hook.stdin.end(JSON.stringify(event, wellFormed))
    } catch {
      done({})
    }
  })
}
