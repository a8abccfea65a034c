"""A model server for coding agents: answers with scripted tool calls, in the wire format of the Messages API.

Usage: model_server.py PORT SCRIPT LOG. SCRIPT is a JSON list of {"name", "input"}; the next one is chosen by counting the
tool results in the conversation, so the server keeps no state. LOG gets the tool results of each request, a line each.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, SCRIPT, LOG = int(sys.argv[1]), json.load(open(sys.argv[2])), sys.argv[3]


def results(messages):
    blocks = [b for m in messages if isinstance(m.get("content"), list) for b in m["content"]]
    return [b for b in blocks if b.get("type") == "tool_result"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def do_HEAD(self):
        self.reply(200, b"")

    def do_GET(self):
        self.reply(404, b"{}")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if "count_tokens" in self.path:
            return self.reply(200, b'{"input_tokens": 10}')
        if not self.path.startswith("/v1/messages"):
            return self.reply(404, b"{}")
        done = results(body.get("messages", []))
        with open(LOG, "a") as log:
            log.write(json.dumps(done) + "\n")
        turn = SCRIPT[len(done)] if body.get("tools") and len(done) < len(SCRIPT) else None
        block = {"type": "tool_use", "id": f"toolu_{len(done):04}", "name": turn["name"], "input": {}} if turn else {"type": "text", "text": ""}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn["input"])} if turn else {"type": "text_delta", "text": "DONE"}
        usage = {"input_tokens": 10, "output_tokens": 10}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "m"), "content": [], "stop_reason": None,
                   "stop_sequence": None, "usage": usage}
        stop = "tool_use" if turn else "end_turn"
        if not body.get("stream"):
            whole = dict(block, input=turn["input"]) if turn else {"type": "text", "text": "DONE"}
            return self.reply(200, json.dumps(dict(message, content=[whole], stop_reason=stop)).encode())
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 10}},
            {"type": "message_stop"},
        ]
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.reply(200, text.encode(), "text/event-stream")


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
