/* Tries what no sandboxed program may do, and prints one line for each attempt: its name and the error, or `done`. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *name, long result) {
    printf("%s %s\n", name, result < 0 ? strerrorname_np(errno) : "done");
    fflush(stdout);
}

static void family(const char *name, int family, int type, int protocol) {
    int fd = socket(family, type, protocol);
    say(name, fd);
    if (fd >= 0) close(fd);
}

int main(int argc, char **argv) {
    struct io_uring_params params;
    memset(&params, 0, sizeof params);
    family("unix", AF_UNIX, SOCK_STREAM, 0);
    family("inet", AF_INET, SOCK_STREAM, 0);
    family("vsock", AF_VSOCK, SOCK_STREAM, 0);
    family("netlink", AF_NETLINK, SOCK_RAW, 0);
    family("packet", AF_PACKET, SOCK_RAW, 0);
    family("alg", AF_ALG, SOCK_SEQPACKET, 0);
    family("bluetooth", AF_BLUETOOTH, SOCK_RAW, 0);
    int pair[2];
    say("pair-stream", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    say("pair-datagram", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    // Connects while it sends; without the rule the kernel would look at the descriptor first.
    say("fast-open", syscall(SYS_sendto, -1, "x", 1, 0x20000000, 0, 0));
    say("fast-open-message", syscall(SYS_sendmsg, -1, 0, 0x20000000));
    say("fast-open-messages", syscall(SYS_sendmmsg, -1, 0, 0, 0x20000000));
    say("io-uring", syscall(SYS_io_uring_setup, 4, &params));
    say("ptrace", ptrace(PTRACE_TRACEME, 0, 0, 0));
    say("bpf", syscall(SYS_bpf, 0, 0, 0));
    say("perf", syscall(SYS_perf_event_open, 0, 0, -1, -1, 0));
    say("userfaultfd", syscall(SYS_userfaultfd, 0));
    say("keyctl", syscall(SYS_keyctl, 0, -3, 0));
    say("mount", mount("none", "/tmp", "tmpfs", 0, 0));
    say("unshare-user", unshare(CLONE_NEWUSER));
    say("unshare-net", unshare(CLONE_NEWNET));
    struct rlimit limit;
    say("limits-of-others", prlimit(getppid(), RLIMIT_CPU, NULL, &limit));
    say("own-limits", prlimit(0, RLIMIT_CPU, NULL, &limit));
    say("shared-memory", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
    say("queue", syscall(SYS_mq_open, "bashgate", O_CREAT | O_RDWR, 0600, 0));
    long child = syscall(SYS_clone, CLONE_NEWUSER | 17, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    say("clone-user", child);
    say("clone3", syscall(SYS_clone3, 0, 0));
    say("x32", syscall(0x40000000 + SYS_getpid));
    int tty = open("/dev/tty", O_RDWR);
    say("tty", tty);
    say("tiocsti", ioctl(tty >= 0 ? tty : 0, TIOCSTI, "x"));
    say("tioclinux", ioctl(tty >= 0 ? tty : 0, 0x541c, "\003"));
    int file = open("suid-attempt", O_CREAT | O_WRONLY, 0600);
    say("setuid-mode", fchmod(file, 04755));
    say("lease", fcntl(open("/etc/passwd", O_RDONLY), 1024 /* F_SETLEASE */, F_RDLCK));
    say("notify", fcntl(open(".", O_RDONLY), 1026 /* F_NOTIFY */, 1));
    say("core-pattern", open("/proc/sys/kernel/core_pattern", O_WRONLY));
    /* 32-bit calls: getpid by int 0x80, in a child, since the answer is the end. */
    pid_t other = fork();
    if (other == 0) {
        long result;
        __asm__ volatile("int $0x80" : "=a"(result) : "0"(20));
        _exit(result > 0 ? 0 : 1);
    }
    int status;
    waitpid(other, &status, 0);
    printf("int80 %s\n", WIFSIGNALED(status) ? "killed" : WEXITSTATUS(status) == 0 ? "done" : "refused");
    return 0;
}
