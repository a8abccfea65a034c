"""Runs an agent of the Claude Agent SDK, whose model is the scripted server, with the gate as the SDK's own hook.
Usage: claude_agent_run.py FOLDER HOOK_AS_JSON CLAUDE"""

import asyncio
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs/examples"))

from claude_agent_sdk import ClaudeSDKClient  # noqa: E402
from claude_agent_sdk_gate import gated_options  # noqa: E402


async def main():
    cwd, hook, program = sys.argv[1:]
    options = gated_options(
        json.loads(hook), cwd=cwd, cli_path=program, allowed_tools=["Bash", "Read"], setting_sources=[], max_turns=20
    )
    async with ClaudeSDKClient(options=options) as client:
        await client.query("do what the model says")
        async for _ in client.receive_response():
            pass


asyncio.run(main())
