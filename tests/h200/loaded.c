/* In: a program that this is preloaded into, and LOADED_SOCKET, the path of a socket to listen at. Out: the program, loaded and relocated,
 * waits instead of starting: each connection passes three files and a command line, which a fork of the program runs. Only the user who
 * started it can open the socket. loaded_run.c is the other end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

typedef int program(int, char **, char **);
typedef int starter(program *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static int connection = -1;

/* Reports the exit code over the connection, whether the program ends by exit or _exit. A killed program reports nothing. */
static void tell(int code)
{
    if (connection >= 0 && write(connection, &(unsigned char){(unsigned char)code}, 1) < 0) code = 1;
    connection = -1;
}

static void tell_at_exit(int code, void *unused)
{
    (void)unused;
    tell(code);
}

void _exit(int code)
{
    tell(code);
    for (;;) syscall(SYS_exit_group, code);
}

void _Exit(int code)
{
    _exit(code);
}

void quick_exit(int code)
{
    _exit(code);
}

/* The socket file appears once connections are accepted. */
static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (snprintf(address.sun_path, sizeof address.sun_path, "%s.part", path) >= (int)sizeof address.sun_path) return -1;
    const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0 || bind(s, (struct sockaddr *)&address, sizeof address) != 0 || listen(s, 1024) != 0) return -1;
    return rename(address.sun_path, path) == 0 ? s : -1;
}

/* Receives the length of the command, and the files 0, 1 and 2. */
static int take_files(int from, uint32_t *bytes)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(3 * sizeof(int))];
    } control;
    struct iovec part = {bytes, sizeof *bytes};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (recvmsg(from, &m, MSG_WAITALL) != sizeof *bytes || !CMSG_FIRSTHDR(&m)) return -1;
    int files[3];
    memcpy(files, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof files);
    for (int i = 0; i < 3; i++)
        if (dup2(files[i], i) < 0) return -1;
    for (int i = 0; i < 3; i++) close(files[i]);
    return 0;
}

/* Receives folder and arguments, each ended by NUL; then lays out argv, NULL, the environment, NULL, as the kernel does. */
static char **take_command(int from, uint32_t bytes, int *count)
{
    extern char **environ;
    char *text = malloc(bytes), **argv;
    for (uint32_t have = 0; have < bytes;) {
        const ssize_t n = read(from, text + have, bytes - have);
        if (n <= 0) return NULL;
        have += (uint32_t)n;
    }
    size_t variables = 0, strings = 0;
    while (environ[variables]) variables++;
    for (uint32_t i = 0; i < bytes; i++) strings += !text[i];
    if (!strings || chdir(text) || !(argv = calloc(strings + variables + 1, sizeof *argv))) return NULL;
    *count = 0;
    for (char *p = text + strlen(text) + 1; p < text + bytes; p += strlen(p) + 1) argv[(*count)++] = p;
    memcpy(argv + *count + 1, environ, variables * sizeof *environ);
    return argv;
}

/* A fork that has a command to run returns from here; the program that was started never does. */
static char **serve(int listening, int *count)
{
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        const int one = accept(listening, NULL, NULL);
        if (one < 0) continue;
        if (fork()) {
            close(one);
            continue;
        }
        close(listening);
        signal(SIGCHLD, SIG_DFL);
        uint32_t bytes;
        char **argv = take_files(one, &bytes) ? NULL : take_command(one, bytes, count);
        if (!argv) _exit(127);
        connection = one;
        on_exit(tell_at_exit, NULL);
        /* If the waiting side is killed, the connection ends, and SIGIO ends this process. */
        signal(SIGIO, SIG_DFL);
        fcntl(one, F_SETOWN, getpid());
        fcntl(one, F_SETFL, fcntl(one, F_GETFL) | O_ASYNC);
        return argv;
    }
}

int __libc_start_main(program *main, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                      void *stack_end)
{
    starter *start = (starter *)dlsym(RTLD_NEXT, "__libc_start_main");
    const char *path = getenv("LOADED_SOCKET");
    if (path) {
        const int listening = listen_at(path);
        if (listening < 0) _exit(126);
        unsetenv("LOADED_SOCKET");
        unsetenv("LD_PRELOAD");
        argv = serve(listening, &argc);
    }
    return start(main, argc, argv, init, fini, loader_fini, stack_end);
}
