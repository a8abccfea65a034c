"""A shell tool for the OpenAI Agents SDK behind bashgate: every command is asked about before it runs.

    from openai_agents_gate import gated_shell
    agent = Agent(name="coder", tools=[gated_shell("/workspace")])

Everything that is no plain "no objection" denies: a missing hook, a crash, an answer that is none.
"""

import asyncio
import json

from agents import ShellCallOutcome, ShellCommandOutput, ShellCommandRequest, ShellResult, ShellTool

# As in the container: `bashgate-hook` on PATH, /etc/bashgate/hook.toml mounted read-only.
HOOK = ["bashgate-hook", "--agent", "neutral"]


async def objection(tool_name: str, tool_input: dict, cwd: str, hook: list[str] = HOOK) -> str | None:
    """Why this use of a tool is denied; None when there is no objection. It may take as long as a person takes to answer."""
    event = {"event": "before_tool_use", "tool_name": tool_name, "tool_input": tool_input, "cwd": cwd}
    try:
        process = await asyncio.create_subprocess_exec(
            *hook, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        answer, aside = await process.communicate(json.dumps(event).encode())
        said = json.loads(answer)
        if process.returncode == 0 and said["allowed"] is True:
            return None
        return said.get("reason") or aside.decode(errors="replace").strip() or "the gate gives no reason"
    except Exception as error:  # noqa: BLE001: whatever went wrong, nobody has said that it may run
        return f"the gate could not be asked ({error!r})"


def gated_shell(cwd: str, hook: list[str] = HOOK) -> ShellTool:
    """A shell tool that works in a folder."""

    async def run(command: str, timeout_s: float | None) -> ShellCommandOutput:
        process = await asyncio.create_subprocess_exec(
            "bash", "--noprofile", "--norc", "-c", "--", command,
            cwd=cwd, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            stdout, stderr = await asyncio.wait_for(process.communicate(), timeout_s)
        except asyncio.TimeoutError:
            process.kill()
            stdout, stderr = await process.communicate()
            return ShellCommandOutput(
                command=command, stdout=stdout.decode(errors="replace"), stderr=stderr.decode(errors="replace"),
                outcome=ShellCallOutcome(type="timeout"),
            )  # fmt: skip
        outcome = ShellCallOutcome(type="exit", exit_code=process.returncode)
        return ShellCommandOutput(
            command=command, stdout=stdout.decode(errors="replace"), stderr=stderr.decode(errors="replace"), outcome=outcome
        )

    async def execute(request: ShellCommandRequest) -> ShellResult:
        action = request.data.action
        timeout_s = action.timeout_ms / 1000 if action.timeout_ms else None
        output = []
        for command in action.commands:
            reason = await objection("Bash", {"command": command}, cwd, hook)
            if reason is None:
                output.append(await run(command, timeout_s))
                continue
            denied = ShellCallOutcome(type="exit", exit_code=126)
            reason = f"Command blocked by security policy: {reason}"
            output.append(ShellCommandOutput(command=command, stderr=reason, outcome=denied))
            # What comes behind it was written in the belief that it has run.
            break
        return ShellResult(output=output)

    return ShellTool(executor=execute)
