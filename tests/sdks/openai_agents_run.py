"""Runs an agent of the OpenAI Agents SDK with a scripted model: each argument behind the folder and the hook's command line is one
shell call. Prints what the model is told of each, as one JSON array."""

import asyncio
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs/examples"))

from agents import Agent, ModelResponse, Runner, set_tracing_disabled  # noqa: E402
from agents.models.interface import Model  # noqa: E402
from agents.usage import Usage  # noqa: E402
from openai.types.responses import ResponseFunctionShellToolCall, ResponseOutputMessage, ResponseOutputText  # noqa: E402
from openai.types.responses.response_function_shell_tool_call import Action  # noqa: E402
from openai_agents_gate import gated_shell  # noqa: E402



class Scripted(Model):
    def __init__(self, commands):
        self.commands = list(commands)
        self.told = []

    async def get_response(self, system_instructions, input, *args, **kwargs):
        if isinstance(input, list):
            self.told = [item for item in input if item.get("type") == "shell_call_output"]
        if self.commands:
            number = len(self.told)
            action = Action(commands=[self.commands.pop(0)])
            call = ResponseFunctionShellToolCall(
                id=f"sh_{number}", call_id=f"call_{number}", action=action, status="completed", type="shell_call"
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        text = ResponseOutputText(text="done", type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id="m", content=[text], role="assistant", status="completed", type="message"
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


async def main():
    cwd, hook, *commands = sys.argv[1:]
    set_tracing_disabled(True)
    model = Scripted(commands)
    agent = Agent(name="coder", model=model, tools=[gated_shell(cwd, json.loads(hook))])
    await Runner.run(agent, "work", max_turns=20)
    print(json.dumps(model.told))


asyncio.run(main())
