"""What a program can reach of its surroundings, and those surroundings.

    reach.py listen FOLDER        opens everything that could be reached, and notes in FOLDER/contacts who came
    reach.py try FOLDER           tries all of it, and prints a JSON list of what worked
    reach.py leak FOLDER COMMAND  starts a command with a folder and a connected socket left open
"""

import ctypes
import json
import os
import socket
import struct
import sys
import threading
import time

TCP, UDP, ABSTRACT = 47011, 47012, "\0bashgate-reach"
libc = ctypes.CDLL(None, use_errno=True)


def listen(folder):
    def note(what):
        with open(f"{folder}/contacts", "a") as file:
            file.write(what + "\n")

    def serve(what, family, kind, address):
        server = socket.socket(family, kind)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(address)
        if kind == socket.SOCK_STREAM:
            server.listen()

        def take():
            while True:
                held = server.accept() if kind == socket.SOCK_STREAM else server.recvfrom(4096)
                note(what)
                del held

        threading.Thread(target=take, daemon=True).start()

    serve("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", TCP))
    serve("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", UDP))
    serve("unix", socket.AF_UNIX, socket.SOCK_STREAM, f"{folder}/stream.sock")
    serve("unix datagram", socket.AF_UNIX, socket.SOCK_DGRAM, f"{folder}/datagram.sock")
    serve("abstract", socket.AF_UNIX, socket.SOCK_STREAM, ABSTRACT)
    for name in ["stream.sock", "datagram.sock"]:
        os.chmod(f"{folder}/{name}", 0o777)
    with open(f"{folder}/ready.new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(f"{folder}/ready.new", f"{folder}/ready")
    time.sleep(120)


def connect(family, kind, address):
    with socket.socket(family, kind) as made:
        made.settimeout(2)
        made.connect(address)
        if kind == socket.SOCK_DGRAM:
            made.send(b"x")


def query():
    """A name asked for by hand, as a resolver would."""
    question = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x06secret\x07example\x00\x00\x01\x00\x01"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.sendto(question, ("127.0.0.1", UDP))


def pair_sends(folder):
    one, _other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", f"{folder}/datagram.sock")


def family(number, kind, protocol=0):
    return lambda: socket.socket(number, kind, protocol).close()


def called(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def uring():
    """io_uring's own way to a socket needs a ring first."""
    called(425, 4, ctypes.create_string_buffer(120))


def namespace():
    if libc.unshare(0x10000000 | 0x40000000) != 0:
        raise OSError(ctypes.get_errno(), "refused")


def open_descriptors():
    def is_foreign(fd):
        try:
            where = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            return False
        # What lists them is open, too.
        return int(fd) > 2 and not where.startswith("/proc/")

    found = [fd for fd in os.listdir("/proc/self/fd") if is_foreign(fd)]
    if not found:
        raise OSError("none")


def attempt(folder):
    listener = int(open(f"{folder}/ready").read())
    tries = {
        "tcp": lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", TCP)),
        "tcp over ipv6": lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", TCP)),
        "udp": lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", UDP)),
        "a name": query,
        "unix": lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, f"{folder}/stream.sock"),
        "unix datagram": lambda: connect(socket.AF_UNIX, socket.SOCK_DGRAM, f"{folder}/datagram.sock"),
        "unix pair": lambda: pair_sends(folder),
        "abstract": lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, ABSTRACT),
        "raw": family(socket.AF_INET, socket.SOCK_RAW, 1),
        "vsock": family(40, socket.SOCK_STREAM),
        "netlink": family(16, socket.SOCK_RAW),
        "packet": family(17, socket.SOCK_RAW, socket.htons(3)),
        "algorithms": family(38, socket.SOCK_SEQPACKET),
        "io_uring": uring,
        "namespaces": namespace,
        "descriptors": open_descriptors,
        "signals": lambda: os.kill(listener, 0),
        "a file": lambda: open(f"{folder}/written", "w").close(),
    }
    reached = []
    for what, way in tries.items():
        try:
            way()
            reached.append(what)
        except (OSError, struct.error):
            pass
    print(json.dumps(reached))


def leak(folder, command):
    os.dup2(os.open("/", os.O_RDONLY | os.O_DIRECTORY), 9, inheritable=True)
    made = socket.create_connection(("127.0.0.1", TCP), 2)
    os.dup2(made.fileno(), 10, inheritable=True)
    os.execvp(command[0], command)


if sys.argv[1] == "listen":
    listen(sys.argv[2])
elif sys.argv[1] == "try":
    attempt(sys.argv[2])
else:
    leak(sys.argv[2], sys.argv[3:])
