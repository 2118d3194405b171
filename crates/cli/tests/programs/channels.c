// Threads that wait for each other by nothing but files: a pipe, a pair of sockets, an event counter, and a descriptor that
// is closed and got again. Nothing here races.
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int through_pipe, through_socket, through_event, through_number[64], through_set;
static int pipes[2], sockets[2], events, set, done[2];

static void *worker(void *unused) {
    char byte;
    uint64_t count;
    struct epoll_event event;
    if (read(pipes[0], &byte, 1) != 1) return unused;
    through_pipe++;
    if (recv(sockets[1], &byte, 1, 0) != 1) return unused;
    through_socket++;
    if (read(events, &count, sizeof count) != sizeof count) return unused;
    through_event++;
    if (epoll_wait(set, &event, 1, -1) != 1) return unused;
    through_set++;
    // A number that is got again was given back before.
    int file = open("/dev/null", O_RDONLY);
    if (file >= 0 && file < 64) through_number[file]++;
    return write(done[1], "x", 1) == 1 ? NULL : unused;
}

int main(void) {
    pthread_t thread;
    uint64_t one = 1;
    char byte;
    events = eventfd(0, 0);
    set = epoll_create1(0);
    if (pipe(pipes) || pipe(done) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || events < 0 || set < 0) return 2;
    int file = open("/dev/null", O_RDONLY);
    pthread_create(&thread, NULL, worker, &thread);
    through_pipe = 1;
    if (write(pipes[1], "x", 1) != 1) return 3;
    through_socket = 1;
    if (send(sockets[0], "x", 1, 0) != 1) return 4;
    through_event = 1;
    if (write(events, &one, sizeof one) != sizeof one) return 5;
    if (file >= 0 && file < 64) through_number[file] = 1;
    close(file);
    through_set = 1;
    struct epoll_event event = {.events = EPOLLOUT};
    if (epoll_ctl(set, EPOLL_CTL_ADD, sockets[0], &event)) return 6;
    if (read(done[0], &byte, 1) != 1) return 7;
    int sum = through_pipe + through_socket + through_event + through_set;
    pthread_join(thread, NULL);
    puts(sum == 8 ? "ok" : "wrong");
    return sum != 8;
}
