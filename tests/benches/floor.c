/* The least that could do it, in C, static: a program that reads its input, and a client and a responder that pass the
 * same files through the same folders and do nothing else.
 *   floor true                          read standard input to its end, exit 0
 *   floor walk                          list every name below the working directory, print none
 *   floor client MAILBOX N              write request N, poll for its response with growing pauses, remove the request
 *   floor responder MAILBOX             answer every request with a response of the same size as ours, on inotify
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char body[900];

static void put(const char *folder, const char *name, size_t size) {
    char temporary[512], path[512];
    snprintf(temporary, sizeof temporary, "%s/.%s.tmp", folder, name);
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, body, size) < 0 || close(fd) < 0 || rename(temporary, path) < 0) {
        perror(path);
        exit(1);
    }
}

/* As the kernel hands names out; no copies, no sorting, no library between. */
static void walk(int above, const char *name) {
    struct entry { unsigned long ino; long off; unsigned short length; unsigned char kind; char name[]; } *entry;
    char buffer[32768];
    int folder = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) exit(1);
    for (long got; (got = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;)
        for (long at = 0; at < got; at += entry->length) {
            entry = (struct entry *) (buffer + at);
            if (entry->kind == 4 && strcmp(entry->name, ".") && strcmp(entry->name, "..")) walk(folder, entry->name);
        }
    close(folder);
}

static int client(const char *mailbox, const char *name) {
    char requests[512], responses[512], path[1100];
    snprintf(requests, sizeof requests, "%s/requests", mailbox);
    snprintf(responses, sizeof responses, "%s/responses/%s.json", mailbox, name);
    put(requests, name, 300);
    long pause = 50;
    for (;;) {
        int fd = open(responses, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            char buffer[2048];
            while (read(fd, buffer, sizeof buffer) > 0) {}
            close(fd);
            break;
        }
        struct timespec t = {0, pause * 1000};
        nanosleep(&t, NULL);
        pause = pause * 3 / 2 > 20000 ? 20000 : pause * 3 / 2;
    }
    snprintf(path, sizeof path, "%s/%s.json", requests, name);
    unlink(path);
    return 0;
}

static int responder(const char *mailbox) {
    char requests[512], responses[512], path[1100], buffer[65536];
    snprintf(requests, sizeof requests, "%s/requests", mailbox);
    snprintf(responses, sizeof responses, "%s/responses", mailbox);
    int notify = inotify_init1(IN_CLOEXEC);
    inotify_add_watch(notify, requests, IN_MOVED_TO);
    puts("ready");
    fflush(stdout);
    for (;;) {
        ssize_t length = read(notify, buffer, sizeof buffer);
        for (char *at = buffer; at < buffer + length; at += sizeof(struct inotify_event) + ((struct inotify_event *)at)->len) {
            struct inotify_event *event = (struct inotify_event *)at;
            char name[256];
            snprintf(name, sizeof name, "%s", event->name);
            char *dot = strrchr(name, '.');
            if (!dot || name[0] == '.') continue;
            *dot = 0;
            snprintf(path, sizeof path, "%s/%s.json", requests, name);
            int fd = open(path, O_RDONLY | O_CLOEXEC);
            if (fd < 0) continue;
            char request[4096];
            while (read(fd, request, sizeof request) > 0) {}
            close(fd);
            put(responses, name, 700);
        }
    }
}

int main(int argc, char **argv) {
    memset(body, 'x', sizeof body);
    if (argc > 1 && !strcmp(argv[1], "walk")) return walk(AT_FDCWD, "."), 0;
    if (argc > 3 && !strcmp(argv[1], "client")) return client(argv[2], argv[3]);
    if (argc > 2 && !strcmp(argv[1], "responder")) return responder(argv[2]);
    char buffer[65536];
    while (read(0, buffer, sizeof buffer) > 0) {}
    return 0;
}
