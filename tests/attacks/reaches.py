#!/usr/bin/env python3
"""Stands in the place of a client that may reach one host, and tries to reach others by every way that it knows.

    reaches.py (arguments are ignored; the environment says where:)
    CANARY    a port of this network's loopback, TCP and UDP, that must not be reached
    OTHER     HOST:PORT that the way out must not lead to
    OWN       HOST:PORT that it leads to
    GATE      the folder with the gate's own socket
    MACHINE   where there is another network: its addresses, with blanks between them, where CANARY must not be reached either

Prints how many ways it has tried. Whether one has led there says whoever listens."""
import ctypes, errno, os, socket, struct, subprocess, sys, threading

PORT = int(os.environ["CANARY"])
OTHER, OWN, GATE = os.environ["OTHER"], os.environ["OWN"], os.environ["GATE"]
proxy = os.environ.get("https_proxy", "http://127.0.0.1:1").split("//")[1]
PROXY = (proxy.split(":")[0], int(proxy.split(":")[1]))
other_host, other_port = OTHER.rsplit(":", 1)
own_host, own_port = OWN.rsplit(":", 1)
libc = ctypes.CDLL(None, use_errno=True)
tried = 0


def way(act):
    global tried
    tried += 1
    mark = ("way %d %s" % (tried, act.__name__)).encode()
    socket.setdefaulttimeout(2)
    try:
        act(mark)
    except (OSError, ValueError, subprocess.SubprocessError, OverflowError, UnicodeError):
        pass


def stream(family, address, kind=socket.SOCK_STREAM, protocol=0, before=lambda s: None):
    def direct(mark):
        with socket.socket(family, kind, protocol) as s:
            before(s)
            s.connect(address)
            s.send(mark)
    way(direct)


V4, V6, TCP, UDP = socket.AF_INET, socket.AF_INET6, socket.SOCK_STREAM, socket.SOCK_DGRAM
# Straight to the port, by each name of this machine, in each protocol.
for name in ["127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0"] + os.environ.get("MACHINE", "").split():
    stream(V4, (name, PORT))
    stream(V4, (name, PORT), UDP)
for name in ["::1", "::", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1"]:
    stream(V6, (name, PORT))
    stream(V6, (name, PORT), UDP)
for protocol in [262, 132, 33, 136, 6, 17, 1]:
    stream(V4, ("127.0.0.1", PORT), TCP, protocol)
    stream(V4, ("127.0.0.1", PORT), socket.SOCK_RAW if protocol in (1, 6, 17) else UDP, protocol)
stream(V4, ("127.0.0.1", PORT), socket.SOCK_SEQPACKET, 132)
stream(V4, ("127.0.0.1", PORT), before=lambda s: s.setsockopt(socket.IPPROTO_TCP, 30, 1))
stream(V4, ("127.0.0.1", PORT), before=lambda s: s.setblocking(False))
stream(V4, ("127.0.0.1", PORT), before=lambda s: s.bind(("127.0.0.1", 0)))


def sends_to(mark):
    with socket.socket(V4, UDP) as s: s.sendto(mark, ("127.0.0.1", PORT))
def sends_message(mark):
    with socket.socket(V4, UDP) as s: s.sendmsg([mark], [], 0, ("127.0.0.1", PORT))
def opens_fast(mark):
    with socket.socket(V4, TCP) as s: s.sendto(mark, 0x20000000, ("127.0.0.1", PORT))
def opens_fast_by_message(mark):
    with socket.socket(V4, TCP) as s: s.sendmsg([mark], [], 0x20000000, ("127.0.0.1", PORT))
def opens_fast_in_other_protocol(mark):
    with socket.socket(V4, TCP, 262) as s: s.sendto(mark, 0x20000000, ("127.0.0.1", PORT))
def connects_again(mark):
    with socket.socket(V4, TCP) as s:
        s.connect(PROXY)
        libc.connect(s.fileno(), struct.pack("H14x", 0), 16)
        s.connect(("127.0.0.1", PORT)); s.send(mark)
def changes_address_meanwhile(mark):
    address = ctypes.create_string_buffer(struct.pack("!2xH4s8x", PROXY[1], socket.inet_aton("127.0.0.1")))
    struct.pack_into("H", address, 0, V4)
    over = threading.Event()
    def flips():
        while not over.is_set():
            struct.pack_into("!H", address, 2, PORT); struct.pack_into("!H", address, 2, PROXY[1])
    threading.Thread(target=flips, daemon=True).start()
    for _ in range(300):
        with socket.socket(V4, TCP) as s:
            if libc.connect(s.fileno(), address, 16) == 0 and s.getpeername()[1] == PORT: s.send(mark)
    over.set()
def by_ring(mark):
    if libc.syscall(425, 8, ctypes.create_string_buffer(120)) >= 0: print("BROKEN: a ring was made")
def by_shell(mark):
    subprocess.run(["bash", "-c", "echo '%s' > /dev/tcp/127.0.0.1/%d" % (mark.decode(), PORT)], timeout=5, capture_output=True)
def by_datagrams_of_shell(mark):
    subprocess.run(["bash", "-c", "echo '%s' > /dev/udp/127.0.0.1/%d" % (mark.decode(), PORT)], timeout=5, capture_output=True)
def packets(mark):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s: s.bind(("lo", 0)); s.send(b"\0" * 14 + mark)
def gates_socket(mark):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(GATE + "/proxy.sock"); s.send(b"GET http://%s/ HTTP/1.1\r\n\r\n" % OTHER.encode()); s.recv(99)
def gates_socket_through_others(mark):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with socket.socket(socket.AF_UNIX) as s: s.connect("/proc/%s/root%s/proxy.sock" % (pid, GATE)); s.send(mark)
        except OSError: pass
def abstract(mark):
    with socket.socket(socket.AF_UNIX) as s: s.connect("\0canary"); s.send(mark)
def vsock_is_refused(mark):
    # Only made, never connected.
    try: socket.socket(40, socket.SOCK_STREAM).close()
    except OSError: return
    print("BROKEN: a vsock was made")
def inherited(mark):
    for fd in range(3, 256):
        try: os.write(fd, mark)
        except OSError: pass
def of_others(mark):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for fd in range(0, 32):
            pidfd = libc.syscall(434, int(pid), 0)
            taken = libc.syscall(438, pidfd, fd, 0) if pidfd >= 0 else -1
            if taken >= 0: os.write(taken, mark)
            if pidfd >= 0: os.close(pidfd)
def other_network(mark):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try: fd = os.open("/proc/%s/ns/net" % pid, os.O_RDONLY)
        except OSError: continue
        if libc.setns(fd, 0) == 0:
            with socket.socket(V4, TCP) as s: s.connect(("127.0.0.1", PORT)); s.send(mark)
def traces(mark):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) != os.getpid() and libc.ptrace(16, int(pid), 0, 0) == 0: print("BROKEN: traced", pid)
def by_name(mark):
    socket.create_connection((other_host, int(other_port)), 2).send(mark)
for act in [sends_to, sends_message, opens_fast, opens_fast_by_message, opens_fast_in_other_protocol, connects_again,
            changes_address_meanwhile, by_ring, by_shell, by_datagrams_of_shell, packets, gates_socket, gates_socket_through_others,
            abstract, by_name]:
    way(act)
# What other processes have: never where nothing keeps them from this one.
if "ALONE" not in os.environ:
    for act in [vsock_is_refused, inherited, of_others, other_network, traces]:
        way(act)


# Through the way out, to others than it leads to.
def says(request):
    def through(mark):
        with socket.create_connection(PROXY, 2) as s:
            s.sendall(request.replace(b"MARK", mark.replace(b" ", b"-")))
            if s.recv(4096).startswith((b"HTTP/1.1 200", b"\x05\0")): s.sendall(b"GET /" + mark.replace(b" ", b"-") + b" HTTP/1.1\r\n\r\n"); s.recv(99)
    way(through)


o, w = other_host.encode(), own_host.encode()
for target in [OTHER.encode(), o + b".:" + other_port.encode(), o.upper() + b":" + other_port.encode(), w + b"@" + OTHER.encode(),
               OTHER.encode() + b"#" + w, b"127.0.0.1:%d" % PORT, b"localhost:" + other_port.encode(), b"[::1]:" + other_port.encode(),
               b"2130706433:" + other_port.encode(), b"0x7f.1:" + other_port.encode(), w + b":22", w + b":25", w + b":80",
               w + b"." + OTHER.encode(), w + b"%00." + OTHER.encode(), b"x." + OWN.encode()]:
    says(b"CONNECT " + target + b" HTTP/1.1\r\nHost: " + OWN.encode() + b"\r\n\r\n")
for target in [b"http://" + OTHER.encode(), b"http://" + OWN.encode() + b"@" + OTHER.encode(), b"https://" + OTHER.encode()]:
    says(b"GET " + target + b"/MARK HTTP/1.1\r\nHost: " + OWN.encode() + b"\r\n\r\n")
says(b"\x01" + b"0" * 100)
says(b"\x02" + b"2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0bCONNECT " + OTHER.encode() + b" HTTP/1.1\r\n\r\n")
for command in [1, 2, 3]:
    for address in [b"\x03" + bytes([len(o)]) + o, b"\x01" + socket.inet_aton("127.0.0.1"), b"\x04" + socket.inet_pton(V6, "::1")]:
        def socks(mark, command=command, address=address):
            with socket.create_connection(PROXY, 2) as s:
                s.sendall(b"\x05\x01\0"); s.recv(2)
                s.sendall(bytes([5, command, 0]) + address + struct.pack("!H", int(other_port)))
                if s.recv(10)[1:2] == b"\0": s.sendall(b"GET /" + mark.replace(b" ", b"-") + b" HTTP/1.1\r\n\r\n")
        way(socks)
print("tried", tried)
