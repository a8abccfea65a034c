"""An agent in a container, as far as a gate is concerned: it asks the hooks that its managed settings name before each tool, and
honours `onFailure`. Then whatever a process of it may try against the gate. Writes what came of it into the project."""

import json
import os
import signal
import subprocess
import sys
import time

project = os.getcwd()
report = {"steps": [], "could": [], "seen": {}}
settings = json.load(open("/etc/claude-code/managed-settings.json"))


def hooks():
    for entry in settings["hooks"]["PreToolUse"]:
        yield from entry["hooks"]


def command_of(hook):
    return [hook["command"], *hook.get("args", [])] if hook.get("args") else ["sh", "-c", hook["command"]]


def use(tool, tool_input, kill_after=None):
    event = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": project, "tool_name": tool, "tool_input": tool_input}
    for hook in hooks():
        asked = subprocess.Popen(command_of(hook), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        asked.stdin.write(json.dumps(event).encode())
        asked.stdin.close()
        if kill_after:
            time.sleep(kill_after)
            subprocess.run(["sh", "-c", "for p in /proc/[0-9]*; do grep -q bashgate-hook $p/comm 2>/dev/null && kill -9 ${p#/proc/}; done"])
        code = asked.wait()
        said = asked.stderr.read().decode()
        fails_closed = hook.get("onFailure") == "block"
        runs = code == 0 or (code != 2 and not fails_closed)
        report["steps"].append({"tool": tool, "input": tool_input, "code": code, "said": said, "runs": runs})
        if not runs:
            return
    if tool == "Bash":
        subprocess.run(["bash", "-c", tool_input["command"]], stderr=subprocess.DEVNULL)


def attempt(what, act):
    try:
        act()
        report["could"].append(what)
    except Exception:
        pass


def write(path, text="{}"):
    with open(path, "w") as file:
        file.write(text)


mailbox = "/etc/bashgate/mailbox"
own = os.path.join(mailbox, os.listdir(mailbox)[0])
report["seen"]["mailboxes"] = os.listdir(mailbox)
status = open("/proc/self/status").read()
report["seen"]["capabilities"] = [line.split()[1] for line in status.splitlines() if line.startswith("CapEff")]
report["seen"]["no_new_privileges"] = "NoNewPrivs:\t1" in status
report["seen"]["uid"] = os.getuid()
report["seen"]["sockets"] = [path for path in ["/run/podman/podman.sock", "/run/docker.sock", "/var/run/docker.sock"] if os.path.exists(path)]
report["seen"]["outside"] = [path for path in sys.argv[1:] if os.path.exists(path)]

use("Bash", {"command": "ls"})
use("Read", {"file_path": "/home/agent/.ssh/id_ed25519"})
use("WebFetch", {"url": "https://h.example/", "prompt": "x"})
use("Write", {"file_path": "/etc/claude-code/managed-settings.json", "content": "{}"})
use("Bash", {"command": "echo {} > .claude/settings.json"})

answers = os.path.join(own, "responses")
asked = [name for name in os.listdir(answers) if name.endswith(".json") and name != "heartbeat.json"]
for path in [
    "/etc/bashgate/hook.toml",
    "/etc/claude-code/managed-settings.json",
    "/usr/local/bin/bashgate-hook",
    "/usr/local/bin/bashgate-run",
    os.path.join(answers, "heartbeat.json"),
    os.path.join(answers, "2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b.json"),
    os.path.join(project, ".git/hooks/pre-commit"),
    os.path.join(project, ".envrc"),
    os.path.join(mailbox, "other"),
    "/etc/passwd",
]:
    attempt("write " + path, lambda: write(path))
    attempt("rename " + path, lambda: os.rename(path, path + ".old"))
    attempt("remove " + path, lambda: os.remove(path))
    attempt("chmod " + path, lambda: os.chmod(path, 0o777))
for folder in ["/etc/bashgate", "/etc/claude-code", "/usr/local/bin", answers, mailbox, own]:
    attempt("rename " + folder, lambda: os.rename(folder, folder + ".old"))
    attempt("new file in " + folder, lambda: write(os.path.join(folder, "x")))
attempt("list the requests", lambda: os.listdir(os.path.join(own, "requests")))

# An answer of its own, in the only place that it can write.
identity = "2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b"
forged = {"decision": "allow", "reason": "", "v": 1, "request_id": identity, "signature": ""}
attempt("a name of another kind", lambda: write(os.path.join(own, "requests", "heartbeat.json"), json.dumps(forged)))
report["could"] = [what for what in report["could"] if what != "a name of another kind"]

# The hook is killed while it waits: an agent that fails closed does not run the command.
use("Bash", {"command": "curl -s https://h.example/killed; touch killed"}, kill_after=2)
# The mounts are of the files; what lies above them is the agent's own.
os.rename(os.path.join(project, ".git"), os.path.join(project, "old"))
os.makedirs(os.path.join(project, ".git/hooks"))
write(os.path.join(project, ".git/hooks/pre-commit"), "#!/bin/sh\ntouch /tmp/planted\n")
os.makedirs(os.path.join(project, ".vscode"), exist_ok=True)
write(os.path.join(project, ".vscode/tasks.json"), '{"tasks": []}')
use("Bash", {"command": "curl -s https://h.example/approved; touch approved"})
write(os.path.join(project, "report.json"), json.dumps(report))
