"""A model server for coding agents: answers with scripted tool calls, in the wire formats of Anthropic's Messages API
(`/v1/messages`), of OpenAI's Responses (`/v1/responses`) and Chat Completions (`/v1/chat/completions`) and of Gemini's
`streamGenerateContent`.

Usage: model_server.py [ADDRESS:]PORT SCRIPT LOG. SCRIPT is a JSON list of {"name", "input"}, or of lists of them, which are called at once; the
next one is chosen by counting the tool results in the conversation, so the server keeps no state. A conversation in which somebody says
what begins with "INNER" is a subagent's: its script is the value of "inner" of the call that has one. An "item" has more fields for the
call; a "session_id" of "last" is the terminal that was opened last. LOG gets the tool results of each request, a line each. Whoever does not show the key
"dummy", or that of the environment variable MODEL_KEY, gets 401.
"""

import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ADDRESS, _, PORT = sys.argv[1].rpartition(":")
KEY = os.environ.get("MODEL_KEY", "dummy")
SCRIPT, LOG = json.load(open(sys.argv[2])), sys.argv[3]


def turns_after(count, script):
    """The calls of the next turn behind so many results; none at the end."""
    for turn in script:
        calls = turn if isinstance(turn, list) else [turn]
        if count < len(calls):
            return calls[count:]
        count -= len(calls)
    return []


def script_of(conversation, by_line=False):
    """The script of a conversation, by what was said in it: some clients put words of their own before those that start a subagent."""
    contents = [said.get("content") for said in conversation if said.get("role") == "user"]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    texts = [content for content in contents if isinstance(content, str)] + [block.get("text") or "" for block in blocks]
    inner = [call["inner"] for call in SCRIPT if isinstance(call, dict) and "inner" in call]
    return inner[0] if inner and any(part.startswith("INNER") for text in texts for part in (text.splitlines() if by_line else [text])) else SCRIPT


def in_terminal(call, told):
    """A call with the number of the terminal that was opened last, where it asks for it."""
    if call["input"].get("session_id") != "last":
        return call
    number = (re.findall(r"session ID (\d+)", told) or ["0"])[-1]
    return dict(call, input=dict(call["input"], session_id=int(number)))


def results(messages):
    blocks = [b for m in messages if isinstance(m.get("content"), list) for b in m["content"]]
    return [b for b in blocks if b.get("type") == "tool_result"]


def events_of_response(body, calls, number):
    """The events of one streamed answer of the Responses API."""
    items = [{"type": "function_call", "id": f"fc_{number + at}", "call_id": f"call_{number + at:04}", "name": call["name"],
              "arguments": json.dumps(call["input"]), "status": "completed", **call.get("item", {})} for at, call in enumerate(calls)]
    items = items or [{"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
                       "content": [{"type": "output_text", "text": "DONE", "annotations": []}]}]
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 20}
    response = {"id": f"resp_{number}", "object": "response", "created_at": 0, "status": "in_progress", "model": body.get("model", "m"),
                "output": [], "parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "error": None, "usage": None}
    whole = dict(response, status="completed", output=items, usage=usage)
    events = [{"type": "response.created", "response": response}]
    for at, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": at, "item": item})
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return [dict(event, sequence_number=at) for at, event in enumerate(events)]


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

    def noted(self, done):
        """Notes the tool results of a request: how many there are."""
        with open(LOG, "a") as log:
            log.write(json.dumps(done) + "\n")
        return len(done)

    def chat(self, body):
        done = [message for message in body.get("messages", []) if message.get("role") == "tool"]
        number = self.noted(done)
        turns = turns_after(number, script_of(body.get("messages", []), by_line=True)) if body.get("tools") else []
        calls = [{"index": at, "id": f"call_{number + at:04}", "type": "function",
                  "function": {"name": turn["name"], "arguments": json.dumps(turn["input"])}} for at, turn in enumerate(turns)]
        delta = {"role": "assistant", "content": None, "tool_calls": calls} if calls else {"role": "assistant", "content": "DONE"}
        reason = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        base = {"id": f"chat_{number}", "created": 0, "model": body.get("model", "m")}
        if not body.get("stream"):
            message = {key: value for key, value in delta.items() if value is not None}
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return self.reply(200, json.dumps(dict(base, object="chat.completion", choices=[choice], usage=usage)).encode())
        chunks = [
            dict(base, object="chat.completion.chunk", choices=[{"index": 0, "delta": delta, "finish_reason": None}]),
            dict(base, object="chat.completion.chunk", choices=[{"index": 0, "delta": {}, "finish_reason": reason}], usage=usage),
        ]
        text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        self.reply(200, text.encode(), "text/event-stream")

    def gemini(self, body):
        if "countTokens" in self.path:
            return self.reply(200, b'{"totalTokens": 10}')
        parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
        done = [part["functionResponse"] for part in parts if "functionResponse" in part]
        settings = body.get("generationConfig", {})
        if "responseJsonSchema" in settings or "responseSchema" in settings:
            # Which model, and who speaks next.
            parts = [{"text": json.dumps({"reasoning": "x", "model_choice": "flash", "next_speaker": "user"})}]
        else:
            number = self.noted(done)
            said = [{"role": content.get("role"), "content": content.get("parts", [])} for content in body.get("contents", [])]
            turns = turns_after(number, script_of(said)) if body.get("tools") else []
            parts = [{"functionCall": {"name": turn["name"], "args": turn["input"]}} for turn in turns] or [{"text": "DONE"}]
        answer = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
                  "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}, "modelVersion": "fake"}
        if "stream" in self.path:
            return self.reply(200, f"data: {json.dumps(answer)}\r\n\r\n".encode(), "text/event-stream")
        self.reply(200, json.dumps(answer).encode())

    def has_key(self):
        shown = [self.headers.get(name, "") for name in ("x-api-key", "authorization", "x-goog-api-key")]
        return any(key.split(" ")[-1] == KEY for key in shown) or f"key={KEY}" in self.path

    def do_POST(self):
        if not self.has_key():
            return self.reply(401, b'{"error": {"type": "authentication_error", "message": "no key"}}')
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if self.path.startswith("/v1beta/"):
            return self.gemini(body)
        if self.path.startswith("/v1/chat/completions"):
            return self.chat(body)
        if "count_tokens" in self.path:
            return self.reply(200, b'{"input_tokens": 10}')
        if self.path.startswith("/v1/responses"):
            done = [item for item in body.get("input", []) if item.get("type") == "function_call_output"]
            with open(LOG, "a") as log:
                log.write(json.dumps(done) + "\n")
            calls = turns_after(len(done), script_of(body.get("input", []))) if body.get("tools") else []
            calls = [in_terminal(call, json.dumps(done)) for call in calls]
            return self.stream(events_of_response(body, calls, len(done)))
        if not self.path.startswith("/v1/messages"):
            return self.reply(404, b"{}")
        done = results(body.get("messages", []))
        with open(LOG, "a") as log:
            log.write(json.dumps(done) + "\n")
        calls = turns_after(len(done), script_of(body.get("messages", []))) if body.get("tools") else []
        ids = [f"toolu_{len(done) + at:04}" for at in range(len(calls))]
        blocks = [({"type": "tool_use", "id": id, "name": call["name"], "input": {}},
                   {"type": "input_json_delta", "partial_json": json.dumps(call["input"])}) for id, call in zip(ids, calls)]
        blocks = blocks or [({"type": "text", "text": ""}, {"type": "text_delta", "text": "DONE"})]
        usage = {"input_tokens": 10, "output_tokens": 10}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "m"), "content": [], "stop_reason": None,
                   "stop_sequence": None, "usage": usage}
        stop = "tool_use" if calls else "end_turn"
        if not body.get("stream"):
            whole = [dict(block, input=call["input"]) for (block, _), call in zip(blocks, calls)]
            whole = whole or [{"type": "text", "text": "DONE"}]
            return self.reply(200, json.dumps(dict(message, content=whole, stop_reason=stop)).encode())
        events = [{"type": "message_start", "message": message}]
        for at, (block, delta) in enumerate(blocks):
            events.append({"type": "content_block_start", "index": at, "content_block": block})
            events.append({"type": "content_block_delta", "index": at, "delta": delta})
            events.append({"type": "content_block_stop", "index": at})
        events.append({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 10}})
        events.append({"type": "message_stop"})
        self.stream(events)

    def stream(self, events):
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.reply(200, text.encode(), "text/event-stream")


ThreadingHTTPServer((ADDRESS or "127.0.0.1", int(PORT)), Handler).serve_forever()
