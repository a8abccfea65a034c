// Puts bashgate in front of OpenCode's tools. Written by `bashgate-hook install`; `bashgate-hook uninstall` takes it away.
import { spawn } from "node:child_process"

const HOOK = "@HOOK@"
const ARGUMENTS = @ARGUMENTS@
const TIMEOUT_MS = @TIMEOUT_MS@

// Anything but exit 0 within the time denies: a hook that is missing, crashes, hangs or says no.
const ask = (event) =>
  new Promise((resolve) => {
    let said = ""
    let done = (answer) => {
      done = () => {}
      clearTimeout(timer)
      resolve(answer)
    }
    const child = spawn(HOOK, ARGUMENTS, { stdio: ["pipe", "ignore", "pipe"] })
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      done("bashgate: denied: the hook did not answer in time")
    }, TIMEOUT_MS)
    child.on("error", (error) => done(`bashgate: denied: the hook does not run (${error.message})`))
    child.stderr.on("data", (data) => {
      if (said.length < 65536) said += data
    })
    child.stdin.on("error", () => {})
    child.on("close", (code) => done(code === 0 ? null : said.trim() || "bashgate: denied"))
    child.stdin.end(JSON.stringify(event))
  })

export const Bashgate = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const args = output.args ?? {}
    const denied = await ask({
      event: "before_tool_use",
      tool_name: input.tool,
      tool_input: args,
      cwd: directory,
      session: input.sessionID,
      tool_use_id: input.callID,
    })
    if (denied) throw new Error(denied)
  },
})
