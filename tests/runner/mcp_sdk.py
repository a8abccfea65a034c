"""Everything that the MCP server offers, called by the official SDK. Says `all of it` at its end."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


@asynccontextmanager
async def connected(kind, *target):
    if kind == "stdio":
        async with stdio_client(StdioServerParameters(command=target[0], args=list(target[1:]))) as streams:
            yield streams[0], streams[1]
        return
    from mcp.client.streamable_http import streamable_http_client
    import httpx2 as httpx

    headers = {"Authorization": f"Bearer {target[1]}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as client:
        async with streamable_http_client(target[0], http_client=client) as streams:
            yield streams[0], streams[1]


async def main():
    async with connected(*sys.argv[1:]) as (read, write), ClientSession(read, write) as session:
        await session.initialize()

        async def call(tool_called, /, **arguments):
            return await session.call_tool(tool_called, arguments)

        async def told(tool_called, /, **arguments):
            result = await call(tool_called, **arguments)
            assert not failed(result), (tool_called, result)
            return structured(result)

        tools = (await session.list_tools()).tools
        assert len(tools) == 17, tools
        assert (await told("bash", command="echo one"))["output"] == "one\n"
        denied = await call("bash", command="curl https://forbidden.example")
        assert failed(denied), denied
        assert failed(await call("bash", command="exit 3"))
        # In the background: seen, and stopped.
        job = (await told("bash", command="echo begun; sleep 600", background=True))["job"]
        jobs = (await told("bash_jobs"))["jobs"]
        assert [one["id"] for one in jobs] == [job], jobs
        for _ in range(100):
            if "begun" in (await told("bash_tail", job=job))["output"]:
                break
            await asyncio.sleep(0.1)
        else:
            raise AssertionError("the job says nothing")
        await told("bash_stop", job=job)
        # A call that is given up ends.
        gone = "sleep 600; touch never; exit 0 # given up"
        waiting = asyncio.create_task(call("bash", command=gone, slow_ok=True))
        for _ in range(100):
            if running(gone):
                break
            await asyncio.sleep(0.1)
        else:
            raise AssertionError("it does not run")
        waiting.cancel()
        for _ in range(200):
            if not running(gone):
                break
            await asyncio.sleep(0.1)
        else:
            raise AssertionError("it goes on")
        # Scripts: made, looked at, approved by a person, changed, restored.
        made = await told("create_script", name="greet", content='echo "hello ${who}"\n', variables=["who"], description="greets")
        script = made["id"]
        assert made["can_run"] and made["version"] == 1, made
        assert (await told("validate_script", script_id=script))["valid"]
        run = {"script_id": script, "variables": {"who": "you"}}
        assert (await told("run_script", **run))["stdout"] == "hello you\n"
        edited = await told("edit_script", script_id=script, content='echo "goodbye ${who}"\n')
        assert edited["version"] == 2 and edited["id"] == script, edited
        assert (await told("run_script", **run))["stdout"] == "goodbye you\n"
        assert "+ echo" in (await told("diff_script", script_id=script))["difference"]
        assert len((await told("script_versions", script_id=script))["versions"]) == 2
        assert (await told("restore_script", script_id=script, version=1))["version"] == 3
        assert (await told("run_script", **run))["stdout"] == "hello you\n"
        assert (await told("find_scripts", words="greet somebody"))["scripts"][0]["id"] == script
        forbidden = await told("create_script", name="forbidden", content="echo never\n")
        assert failed(await call("run_script", script_id=forbidden["id"]))
        # A chain.
        action = {"type": "bash.run", "script_id": script, "variables": {"who": "${trigger.name}"}}
        chain = await told("run_action", actions=[action, action], known={"trigger": {"name": "all"}})
        assert chain["success"] and [step["stdout"] for step in chain["steps"]] == ["hello all\n"] * 2, chain
        assert len((await told("list_scripts"))["scripts"]) == 2
        assert (await told("get_script", script_id=script))["content"].startswith("echo")
        assert (await told("delete_script", script_id=script))["deleted"] == script
        await told("delete_script", script_id="forbidden")
    print("all of it")


def running(text):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if text.encode() in file.read():
                    return True
        except OSError:
            pass
    return False


def failed(result):
    return bool(getattr(result, "is_error", getattr(result, "isError", False)))


def structured(result):
    return getattr(result, "structured_content", None) or getattr(result, "structuredContent", None)


asyncio.run(main())
