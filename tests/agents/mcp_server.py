"""A server of the Model Context Protocol over stdio with one resource and one tool, as a project may bring it along. It makes the file that
its first argument names when it starts."""

import json
import pathlib
import sys

pathlib.Path(sys.argv[1]).touch()
URI = "notes://all"


def answer(method, asked):
    """The result of one request."""
    if method == "initialize":
        abilities = {"resources": {}, "tools": {}}
        info = {"name": "notes", "version": "1"}
        return {"protocolVersion": asked["protocolVersion"], "capabilities": abilities, "serverInfo": info}
    if method == "resources/list":
        return {"resources": [{"uri": URI, "name": "all"}]}
    if method == "resources/read":
        return {"contents": [{"uri": URI, "mimeType": "text/plain", "text": "read by nobody else"}]}
    if method == "tools/list":
        return {"tools": [{"name": "post", "description": "posts", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": "posted"}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message.get("method"), message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
