// One trial for each function that sends something through a descriptor or stream, or takes something from one: the main
// thread counts and sends, and another one receives and counts. Nothing here races.
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

// The end that is read and the end that is written, and both as streams.
static int in, out;
static FILE *from, *to;
static char byte;
static struct iovec piece = {&byte, 1};
static struct mmsghdr message;
static unsigned long context;

static void pipes(void) { int ends[2]; if (pipe(ends)) abort(); in = ends[0]; out = ends[1]; }
static void streams(void) { pipes(); from = fdopen(in, "r"); to = fdopen(out, "w"); }
static void sockets(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) abort();
    in = ends[0];
    out = ends[1];
    message = (struct mmsghdr){.msg_hdr = {.msg_iov = &piece, .msg_iovlen = 1}};
}
static void counter(void) { in = out = eventfd(0, 0); }
static void standard(void) { pipes(); dup2(in, 0); }
static void requests(void) { pipes(); syscall(SYS_io_setup, 1, &context); }

// Senders.
static void s_write(void) { if (write(out, "1\n", 2) != 2) abort(); }
static void s_byte(void) { if (write(out, "1", 1) != 1) abort(); }
static void s_writev(void) { if (writev(out, &piece, 1) != 1) abort(); }
static void s_pwritev2(void) { if (pwritev2(out, &piece, 1, -1, 0) != 1) abort(); }
static void s_count(void) { if (write(out, &(uint64_t){1}, 8) != 8) abort(); }
static void s_eventfd(void) { eventfd_write(out, 1); }
static void s_send(void) { send(out, "1", 1, 0); }
static void s_sendto(void) { sendto(out, "1", 1, 0, NULL, 0); }
static void s_sendmsg(void) { sendmsg(out, &message.msg_hdr, 0); }
static void s_sendmmsg(void) { struct mmsghdr one = message; sendmmsg(out, &one, 1, 0); }
static void s_fputs(void) { fputs("1\n", to); fflush(to); }
static void s_fwrite(void) { fwrite("1\n", 2, 1, to); fflush(to); }
static void s_fputc(void) { fputc('1', to); fflush(to); }
static void s_putc_unlocked(void) { putc_unlocked('1', to); fflush(to); }
static void s_putw(void) { putw(1, to); fflush(to); }
static void s_fprintf(void) { fprintf(to, "%d\n", 1); fflush(to); }
static void s_fputwc(void) { fputwc(L'1', to); fflush(to); }
static void s_fputws(void) { fputws(L"1\n", to); fflush(to); }
static void s_fwprintf(void) { fwprintf(to, L"%d\n", 1); fflush(to); }
static void s_dprintf(void) { dprintf(out, "%d\n", 1); }
static void s_list(const char *format, ...) { va_list list; va_start(list, format); vdprintf(out, format, list); va_end(list); }
static void s_vdprintf(void) { s_list("%d\n", 1); }
static void s_close(void) { close(out); }
static int filled(void) { int ends[2]; if (pipe(ends) || write(ends[1], "1\n", 2) != 2) abort(); return ends[0]; }
static void s_splice(void) { if (splice(filled(), NULL, out, NULL, 2, 0) != 2) abort(); }
static void s_tee(void) { if (tee(filled(), out, 2, 0) != 2) abort(); }
static void s_vmsplice(void) { static char text[] = "1\n"; if (vmsplice(out, &(struct iovec){text, 2}, 1, 0) != 2) abort(); }
static void s_sendfile(void) { off_t at = 0; if (sendfile(out, open("/proc/self/exe", O_RDONLY), &at, 2) != 2) abort(); }
static struct aiocb block;
static void ask(int file, int operation) {
    block = (struct aiocb){.aio_fildes = file, .aio_buf = &byte, .aio_nbytes = 1, .aio_lio_opcode = operation};
}
static void await(void) { const struct aiocb *all[] = {&block}; aio_suspend(all, 1, NULL); if (aio_return(&block) != 1) abort(); }
static void s_aio(void) { ask(out, LIO_WRITE); aio_write(&block); await(); }
static void s_listio(void) { ask(out, LIO_WRITE); struct aiocb *all[] = {&block}; lio_listio(LIO_WAIT, all, 1, NULL); }
static void s_raw(void) { syscall(SYS_write, out, "1\n", 2); }
static void s_raw_count(void) { syscall(SYS_write, out, &(uint64_t){1}, 8); }
static void s_raw_sendto(void) { if (syscall(SYS_sendto, out, "1", 1, 0, NULL, 0) != 1) abort(); }
static void s_raw_splice(void) { if (syscall(SYS_splice, filled(), NULL, out, NULL, 2, 0) != 2) abort(); }
// A request of the kernel's own, which is no function of libc: nobody knows what these numbers do.
static void s_submit(void) {
    static struct { uint64_t data; uint32_t key, flags; uint16_t operation; int16_t priority; uint32_t file; uint64_t at, length; int64_t offset; uint64_t unused[2]; } one;
    static void *all[] = {&one};
    one.file = open("/dev/null", O_WRONLY);
    one.operation = 1;
    one.at = (uintptr_t)&byte;
    one.length = 1;
    if (syscall(SYS_io_submit, context, 1, all) != 1) abort();
}

// Receivers.
static void r_read(void) { char text[2]; if (read(in, text, 2) < 1) abort(); }
static void r_end(void) { char text[2]; if (read(in, text, 2) != 0) abort(); }
static void r_readv(void) { if (readv(in, &piece, 1) != 1) abort(); }
static void r_preadv2(void) { if (preadv2(in, &piece, 1, -1, 0) != 1) abort(); }
static void r_count(void) { uint64_t count; if (read(in, &count, 8) != 8) abort(); }
static void r_eventfd(void) { eventfd_t count; eventfd_read(in, &count); }
static void r_poll(void) { struct pollfd one = {in, POLLIN, 0}; if (poll(&one, 1, -1) != 1) abort(); r_read(); }
static void r_recv(void) { if (recv(in, &byte, 1, 0) != 1) abort(); }
static void r_recvfrom(void) { if (recvfrom(in, &byte, 1, 0, NULL, NULL) != 1) abort(); }
static void r_recvmsg(void) { if (recvmsg(in, &message.msg_hdr, 0) != 1) abort(); }
static void r_recvmmsg(void) { if (recvmmsg(in, &message, 1, 0, NULL) != 1) abort(); }
static void r_fgetc(void) { if (fgetc(from) != '1') abort(); }
static void r_getc(void) { if (getc(from) != '1') abort(); }
static void r_fgetc_unlocked(void) { if (fgetc_unlocked(from) != '1') abort(); }
static void r_getc_unlocked(void) { if (getc_unlocked(from) != '1') abort(); }
static void r_getw(void) { getw(from); }
static void r_fgets(void) { char text[9]; if (!fgets(text, 9, from)) abort(); }
static void r_fgets_unlocked(void) { char text[9]; if (!fgets_unlocked(text, 9, from)) abort(); }
static void r_fread(void) { if (fread(&byte, 1, 1, from) != 1) abort(); }
static void r_fread_unlocked(void) { if (fread_unlocked(&byte, 1, 1, from) != 1) abort(); }
static void r_getline(void) { char *line = NULL; size_t room = 0; if (getline(&line, &room, from) != 2) abort(); }
static void r_getdelim(void) { char *line = NULL; size_t room = 0; if (getdelim(&line, &room, '\n', from) != 2) abort(); }
static void r_fscanf(void) { int n; if (fscanf(from, "%d", &n) != 1) abort(); }
static int r_list(const char *format, ...) { va_list list; va_start(list, format); int got = vfscanf(from, format, list); va_end(list); return got; }
static void r_vfscanf(void) { int n; if (r_list("%d", &n) != 1) abort(); }
static void r_fwscanf(void) { int n; if (fwscanf(from, L"%d", &n) != 1) abort(); }
static void r_fgetwc(void) { if (fgetwc(from) != L'1') abort(); }
static void r_getwc(void) { if (getwc(from) != L'1') abort(); }
static void r_fgetws(void) { wchar_t text[9]; if (!fgetws(text, 9, from)) abort(); }
static void r_getchar(void) { if (getchar() != '1') abort(); }
static void r_getchar_unlocked(void) { if (getchar_unlocked() != '1') abort(); }
static void r_scanf(void) { int n; if (scanf("%d", &n) != 1) abort(); }
static void r_splice(void) { int ends[2]; if (pipe(ends) || splice(in, NULL, ends[1], NULL, 1, 0) != 1) abort(); }
static void r_tee(void) { int ends[2]; if (pipe(ends) || tee(in, ends[1], 1, 0) != 1) abort(); }
static void r_vmsplice(void) { if (vmsplice(in, &piece, 1, 0) != 1) abort(); }
static void r_aio(void) { ask(in, LIO_READ); aio_read(&block); await(); }
static void r_aio_error(void) { ask(in, LIO_READ); aio_read(&block); while (aio_error(&block)) usleep(100); }
static void r_listio(void) { ask(in, LIO_READ); struct aiocb *all[] = {&block}; lio_listio(LIO_WAIT, all, 1, NULL); }
static void r_raw(void) { if (syscall(SYS_read, in, &byte, 1) != 1) abort(); }
static void r_raw_count(void) { uint64_t count; if (syscall(SYS_read, in, &count, 8) != 8) abort(); }
static void r_raw_readv(void) { if (syscall(SYS_readv, in, &piece, 1) != 1) abort(); }
static void r_raw_recvfrom(void) { if (syscall(SYS_recvfrom, in, &byte, 1, 0, NULL, NULL) != 1) abort(); }
static void r_raw_poll(void) { struct pollfd one = {in, POLLIN, 0}; if (syscall(SYS_poll, &one, 1, -1) != 1) abort(); r_raw(); }
static void r_events(void) { char event[32]; if (syscall(SYS_io_getevents, context, 1, 1, event, NULL) != 1) abort(); }

static const struct { void (*make)(void), (*send)(void), (*receive)(void); } trials[] = {
    {pipes, s_write, r_read}, {pipes, s_writev, r_read}, {pipes, s_pwritev2, r_read}, {pipes, s_close, r_end},
    {pipes, s_dprintf, r_read}, {pipes, s_vdprintf, r_read}, {pipes, s_splice, r_read}, {pipes, s_tee, r_read},
    {pipes, s_vmsplice, r_read}, {pipes, s_sendfile, r_read}, {pipes, s_aio, r_read}, {pipes, s_listio, r_read},
    {pipes, s_write, r_readv}, {pipes, s_write, r_preadv2}, {pipes, s_write, r_poll}, {pipes, s_write, r_splice},
    {pipes, s_write, r_tee}, {pipes, s_write, r_vmsplice}, {pipes, s_write, r_aio}, {pipes, s_write, r_aio_error},
    {pipes, s_write, r_listio},
    {counter, s_count, r_count}, {counter, s_eventfd, r_eventfd},
    {sockets, s_send, r_recv}, {sockets, s_sendto, r_recvfrom}, {sockets, s_sendmsg, r_recvmsg},
    {sockets, s_sendmmsg, r_recvmmsg}, {sockets, s_byte, r_read},
    {streams, s_fputs, r_read}, {streams, s_fwrite, r_read}, {streams, s_fputc, r_read}, {streams, s_putc_unlocked, r_read},
    {streams, s_putw, r_getw}, {streams, s_fprintf, r_read}, {streams, s_fputwc, r_read}, {streams, s_fputws, r_read},
    {streams, s_fwprintf, r_read},
    {streams, s_write, r_fgetc}, {streams, s_write, r_getc}, {streams, s_write, r_fgetc_unlocked},
    {streams, s_write, r_getc_unlocked}, {streams, s_write, r_fgets}, {streams, s_write, r_fgets_unlocked},
    {streams, s_write, r_fread}, {streams, s_write, r_fread_unlocked}, {streams, s_write, r_getline},
    {streams, s_write, r_getdelim}, {streams, s_write, r_fscanf}, {streams, s_write, r_vfscanf}, {streams, s_write, r_fwscanf},
    {streams, s_write, r_fgetwc}, {streams, s_write, r_getwc}, {streams, s_write, r_fgetws},
    {standard, s_byte, r_getchar}, {standard, s_byte, r_getchar_unlocked}, {standard, s_write, r_scanf},
    {pipes, s_raw, r_raw}, {pipes, s_raw, r_raw_readv}, {pipes, s_raw, r_raw_poll}, {pipes, s_raw_splice, r_raw},
    {counter, s_raw_count, r_raw_count}, {sockets, s_raw_sendto, r_raw_recvfrom}, {requests, s_submit, r_events},
};

enum { TRIALS = sizeof trials / sizeof *trials };
static int count[TRIALS];

static void *receive(void *argument) {
    int trial = (int)(intptr_t)argument;
    trials[trial].receive();
    count[trial]++;
    return NULL;
}

int main(int arguments, char **argument) {
    // All of them, or one.
    int first = arguments > 1 ? atoi(argument[1]) : 0, last = arguments > 1 ? first + 1 : TRIALS, sum = 0;
    for (int trial = first; trial < last; trial++) {
        pthread_t thread;
        trials[trial].make();
        pthread_create(&thread, NULL, receive, (void *)(intptr_t)trial);
        usleep(500);
        count[trial]++;
        trials[trial].send();
        pthread_join(thread, NULL);
        sum += count[trial];
    }
    printf("%d\n", sum - 2 * (last - first));
    return 0;
}
