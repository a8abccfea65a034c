"""In a container or on the machine: what a command in the cage leaves, changes and sees. Prints a JSON object: what was done without
the cage (the control), and what was done in it, by the names of the cases.

    left_behind.py WORK OUTSIDE RUNNER FOLDERS

FOLDERS is how many a run makes to hide something among them.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

WORK, OUTSIDE, RUNNER, FOLDERS = sys.argv[1:]
HOME = os.environ["HOME"]
PLANTS = [
    "app/.claude/settings.json",
    "app/.mcp.json",
    "app/.envrc",
    "app/.vscode/tasks.json",
    "a/b/c/.husky/pre-commit",
    "node_modules/x/.cursor/hooks.json",
]
SECRETS = {
    f"{HOME}/.ssh/id_ed25519": "canary-key",
    f"{HOME}/.aws/credentials": "canary-aws",
    f"{HOME}/.netrc": "canary-netrc",
}
if os.access("/run", os.W_OK):
    SECRETS["/run/secrets/db"] = "canary-run"
    SECRETS["/run/secrets/deep/er/key"] = "canary-deep-run"
ENVIRONMENT = {
    "DISCORD_TOKEN": "canary-by-name",
    "DBPASS": "canary-dbpass",
    "SSHPASS": "canary-sshpass",
    "DOCKER_AUTH_CONFIG": '{"auths":{"x":{"auth":"canary-docker"}}}',
    "HARMLESS": "sk-ant-api03-" + "canaryKey" * 8,
    "ALSO_HARMLESS": "Bearer " + "canaryBearer" * 3,
}


def put(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def text(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return None


def fresh():
    for name in os.listdir(WORK):
        path = f"{WORK}/{name}"
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)


def run(how, command, runner=RUNNER):
    environment = {**os.environ, **ENVIRONMENT}
    words = ["bash", "-c", command] if how is None else [runner, "exec", *how, "--", command]
    return subprocess.run(words, cwd=WORK, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)


def planting(word):
    return "\n".join(f"mkdir -p {os.path.dirname(plant)}; printf {word} > {plant}" for plant in PLANTS)


def new(how):
    """Files that act later, where there were none."""
    run(how, planting("planted"))
    return [plant for plant in PLANTS if text(f"{WORK}/{plant}") is not None]


def old(how):
    """The same, where there were some."""
    done = []
    for way, command in {
        "overwritten": planting("after"),
        "replaced": "\n".join(f"printf after > x; mv -f x {plant}" for plant in PLANTS),
        "appended to": "\n".join(f"printf after >> {plant}" for plant in PLANTS),
        "linked": "\n".join(f"ln -sf /etc/passwd {plant}" for plant in PLANTS),
    }.items():
        fresh()
        for plant in PLANTS:
            put(f"{WORK}/{plant}", "before")
        run(how, command)
        done += [f"{way}: {plant}" for plant in PLANTS if text(f"{WORK}/{plant}") != "before"]
    return done


def gone(how):
    """What gates an agent, taken away: without it there would be no gate."""
    gating, done = [".claude/settings.json", ".gemini/settings.json"], []
    for command in ["rm -f " + " ".join(gating), "rm -rf .claude .gemini", "mv .claude c; mv .gemini g", "mkdir x; mv .claude .gemini x"]:
        fresh()
        for name in gating:
            put(f"{WORK}/{name}", "before")
        run(how, command)
        done += [f"{command}: {name}" for name in gating if text(f"{WORK}/{name}") != "before"]
    return done


def killed(how):
    """What a run leaves whose runner is killed is no part of the next one's beginnings."""
    command = planting("planted") + "\ntouch there; sleep 30"
    words = ["bash", "-c", command] if how is None else [RUNNER, "exec", *how, "--", command]
    running = subprocess.Popen(words, cwd=WORK, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(400):
        if os.path.exists(f"{WORK}/there"):
            break
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    time.sleep(0.3)
    run(how, "true")
    return [plant for plant in PLANTS if text(f"{WORK}/{plant}") is not None]


def crowded(how):
    """Plants among more folders than anybody looks at."""
    most = int(FOLDERS)
    places = ["f2/.vscode/tasks.json", f"f{most - 11}/.envrc", f"f{most // 2}/app/.mcp.json", "z/.husky/pre-commit", "f7/.claude/settings.json"]
    command = f"mkdir f{{1..{most}}}\n" + "\n".join(f"mkdir -p {os.path.dirname(place)}; printf x > {place}" for place in places)
    run(how, command)
    return [place for place in places if text(f"{WORK}/{place}") is not None]


def outside(how):
    """Files outside of the workspace, and start files of the user."""
    kept, start, fresh_start = f"{OUTSIDE}/kept", f"{HOME}/.bashrc", f"{HOME}/.bash_profile"
    attempts = {
        "written": f"printf x >> {kept}",
        "emptied": f": > {kept}",
        "a start file": f"printf x >> {start}",
        "a new start file": f"printf x > {fresh_start}",
        "another name": f"ln {kept} {WORK}/link && printf x >> {WORK}/link",
        "a link": f"ln -s {kept} {WORK}/soft; printf x >> {WORK}/soft",
        "replaced": f"printf x > {WORK}/new; mv -f {WORK}/new {kept}",
        "removed": f"rm -f {kept}",
    }
    done = []
    for name, command in attempts.items():
        put(kept, "kept")
        put(start, "start")
        run(how, command)
        if [text(kept), text(start), text(fresh_start)] != ["kept", "start", None]:
            done.append(name)
        if os.path.exists(fresh_start):
            os.unlink(fresh_start)
    return done


def gate(how):
    """The runner where a run could change its mode: nothing runs, or its mode stays."""
    own = f"{OUTSIDE}/gate/bashgate-run"
    done = []
    for name, command in {
        "chmod": f"chmod 0 {own}",
        "a folder's": f"chmod 0 {OUTSIDE}/gate",
        "python's": f"python3 -c 'import os; os.chmod(\"{own}\", 0)'",
        "a descriptor's": f"python3 -c 'import os; os.fchmod(os.open(\"{own}\", 0), 0)'",
        "through /proc": f"cd {OUTSIDE}/gate; chmod 0 /proc/self/cwd/bashgate-run",
    }.items():
        shutil.rmtree(f"{OUTSIDE}/gate", ignore_errors=True)
        os.mkdir(f"{OUTSIDE}/gate")
        shutil.copy(RUNNER, own)
        run(how, command, own)
        try:
            usable = os.stat(f"{OUTSIDE}/gate").st_mode & 0o100 and os.stat(own).st_mode & 0o100
        except OSError:
            usable = False
        os.chmod(f"{OUTSIDE}/gate", 0o755)
        if not usable:
            done.append(name)
    return done


def secrets(how):
    """Files and variables with secrets, and what leads to them."""
    for path, value in SECRETS.items():
        put(path, value)
    names = " ".join(SECRETS)
    links = "".join(f"ln -s {path} l{number}; cat l{number}; cat /proc/self/root{path}; " for number, path in enumerate(SECRETS))
    others = "cat /var/run/secrets/db; cd /run && cat secrets/d*; find /run/secrets -type f -exec cat {} +; cp -r /run/secrets $TMPDIR/s && cat $TMPDIR/s/*"
    shown = run(how, f"cat {names}; {links}env; grep -ra canary {HOME} /proc/self/environ /proc/$PPID/environ; {others}").stdout.decode(errors="replace")
    return [value for value in [*SECRETS.values(), *ENVIRONMENT.values()] if value in shown]


def sockets(how):
    """Sockets of others in the workspace, by every name."""
    reached = []
    here = os.getcwd()
    os.chdir(WORK)
    listening = []
    for name in ["relative", "moved", "linked"]:
        server = socket.socket(socket.AF_UNIX)
        server.bind(name)
        server.listen()
        listening.append(server)

        def take(server=server, name=name):
            try:
                while True:
                    server.accept()
                    reached.append(name)
            except OSError:
                pass

        threading.Thread(target=take, daemon=True).start()
    os.rename("moved", "m2")
    os.symlink("linked", "l2")
    os.link("linked", "h2")
    program = (
        "import os, socket\n"
        "for name in ['relative', './relative', os.getcwd() + '/relative', '/proc/self/cwd/relative', 'm2', 'l2', 'h2']:\n"
        "    for kind in [socket.SOCK_STREAM, socket.SOCK_SEQPACKET]:\n"
        "        try: socket.socket(socket.AF_UNIX, kind).connect(name)\n"
        "        except OSError: pass\n"
    )
    put(f"{WORK}/reach.py", program)
    run(how, "python3 reach.py")
    time.sleep(0.2)
    for server in listening:
        server.close()
    os.chdir(here)
    return sorted(set(reached))


def lists(how):
    """Programs of the folder's own under a preset with a list of programs."""
    for name in ["ls", "cat"]:
        put(f"{WORK}/{name}", f"#!/bin/sh\ntouch {WORK}/ran-{name}\n", 0o755)
    how = how and ["--preset", "runner-readonly"]
    commands = ["PATH=.:$PATH ls", "PATH=$PWD:$PATH; cat ls", "env PATH=.:$PATH ls", "./ls", "BASH_ENV=./cat bash -c ls"]
    if shutil.which("cc"):
        put(f"{WORK}/x.c", f'#include <fcntl.h>\n__attribute__((constructor)) void go(void) {{ open("{WORK}/ran-x", O_CREAT | O_WRONLY, 0644); }}\n')
        subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{WORK}/x.so", f"{WORK}/x.c"], check=True)
        commands += ["LD_PRELOAD=./x.so cat x.c", "LD_PRELOAD=$PWD/x.so; export LD_PRELOAD; cat x.c", "env LD_PRELOAD=./x.so cat x.c", "LD_AUDIT=./x.so cat x.c"]
    for command in commands:
        run(how, command)
    return sorted(name for name in os.listdir(WORK) if name.startswith("ran-"))


def output(how):
    """What would write a terminal's title or clipboard, and a pipe that nobody reads."""
    shown = run(how, r"printf 'a\033]0;title\007\033]52;c;eA==\007\233b\377\n'").stdout
    done = [name for name, bad in {"escape": b"\x1b", "bell": b"\x07"}.items() if bad in shown]
    try:
        shown.decode()
    except UnicodeDecodeError:
        done.append("no text")
    for options, reader in [("--json", "true"), ("", "true"), ("", "head -c 1"), ("--json", "head -c 9"), ("--quiet", "sleep 0"), ("", "head -n 1 >&-")]:
        words = "bash -c 'seq 100000'" if how is None else f"{RUNNER} exec {options} {' '.join(how)} -- 'seq 100000'"
        closed = subprocess.run(["bash", "-c", f"{words} | {reader}"], cwd=WORK, capture_output=True, timeout=60)
        if b"panicked" in closed.stderr:
            done.append(f"a panic: {options} | {reader}")
    return done


said = {}
for name, how in {"control": None, "caged": ["--cage"]}.items():
    said[name] = {}
    for case in [new, old, gone, killed, crowded, outside, gate, secrets, sockets, lists, output]:
        fresh()
        said[name][case.__name__] = case(how)
fresh()
outcome = json.loads(run(["--json", "--cage"], "true").stdout)
said["backend"] = outcome["sandbox"]["backend"] if "sandbox" in outcome else "refused"
print(json.dumps(said))
