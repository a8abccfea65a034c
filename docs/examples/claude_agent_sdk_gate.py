"""bashgate in front of every tool of the Claude Agent SDK.

    from claude_agent_sdk_gate import gated_options
    async with ClaudeSDKClient(options=gated_options(cwd="/workspace")) as client: ...

The SDK calls the hook itself, so that it holds whatever settings the workspace brings along. Everything that is no plain "no
objection" denies: a missing hook, a crash, an answer that is none.
"""

import asyncio
import json
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

# As in the container: `bashgate-hook` on PATH, /etc/bashgate/hook.toml mounted read-only.
HOOK = ["bashgate-hook", "--agent", "claude"]
# Longer than `deadline_s` in hook.toml: a hook that is late lets the tool run.
TIMEOUT_S = 330


def gate(hook: list[str] = HOOK):
    """A hook of the SDK that asks bashgate."""

    async def ask(event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        before = event.get("hook_event_name") == "PreToolUse"
        try:
            process = await asyncio.create_subprocess_exec(
                *hook, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
            answer, aside = await process.communicate(json.dumps(event).encode())
            if process.returncode == 0:
                return json.loads(answer) if answer.strip() else {}
            reason = aside.decode(errors="replace").strip() or "the gate gives no reason"
        except Exception as error:  # noqa: BLE001: whatever went wrong, nobody has said that it may run
            reason = f"the gate could not be asked ({error!r})"
        if not before:
            return {"systemMessage": reason}
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }
        }

    return ask


def gated_options(hook: list[str] = HOOK, **options: Any) -> ClaudeAgentOptions:
    """Options with the gate before each tool and behind it."""
    ask = [HookMatcher(matcher=None, hooks=[gate(hook)], timeout=TIMEOUT_S)]
    hooks = {"PreToolUse": ask, "PostToolUse": ask, "UserPromptSubmit": ask, **options.pop("hooks", {})}
    return ClaudeAgentOptions(hooks=hooks, **options)
