/* Connects again and again to a name that another thread keeps exchanging for another one of the same length. Prints how
   often somebody answered: swap OWN OTHER TIMES */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static const char *names[2];
static volatile int over;

static void *exchange(void *unused) {
    (void)unused;
    for (unsigned turn = 0; !over; turn++) memcpy(address.sun_path, names[turn % 2], strlen(names[0]));
    return NULL;
}

static void *serve(void *unused) {
    int listener = *(int *)unused;
    for (;;) {
        int one = accept(listener, NULL, NULL);
        if (one >= 0) close(one);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 4 || strlen(argv[1]) != strlen(argv[2])) return 64;
    names[0] = argv[1], names[1] = argv[2];
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    strcpy(own.sun_path, argv[1]);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&own, sizeof own) || listen(listener, 64)) return 1;
    pthread_t a, b;
    strcpy(address.sun_path, argv[1]);
    pthread_create(&a, NULL, serve, &listener);
    pthread_create(&b, NULL, exchange, NULL);
    int answered = 0;
    for (int left = atoi(argv[3]); left > 0; left--) {
        int one = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(one, (struct sockaddr *)&address, sizeof address) == 0) answered++;
        close(one);
    }
    over = 1;
    printf("%d\n", answered);
    return 0;
}
