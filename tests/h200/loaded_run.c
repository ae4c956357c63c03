/* Stands in for clang, and under the name ld for the linker. It hands a command line of clang -c, or of the linker, to a program that
 * loaded.c has loaded beforehand, and whose fork runs it: that saves the 20 ms of loading. The folder LOADED has the sockets of these
 * programs, clang-22.I and ld.lld.I with I below LOADED_COUNT. Any other command line is run by LOADED_CLANG, unchanged. LOADED_LEVEL
 * replaces -O3. The exit code is that of the command; 127 if the arguments are too long. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { most_arguments = 256 };

typedef struct {
    const char *at[most_arguments];
    int count; /* most_arguments: more than fit */
} line;

static void add(line *l, const char *argument)
{
    if (l->count < most_arguments) l->at[l->count++] = argument;
}

static int give(int to, const line *l)
{
    static char text[1 << 16];
    uint32_t bytes = 0;
    if (l->count == most_arguments || !getcwd(text, 4096)) return -1;
    bytes = (uint32_t)strlen(text) + 1;
    for (int i = 0; i < l->count; i++) {
        const size_t n = strlen(l->at[i]) + 1;
        if (n > sizeof text - bytes) return -1;
        memcpy(text + bytes, l->at[i], n);
        bytes += (uint32_t)n;
    }
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(3 * sizeof(int))];
    } control = {0};
    struct iovec parts[2] = {{&bytes, sizeof bytes}, {text, bytes}};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control};
    *CMSG_FIRSTHDR(&m) = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(3 * sizeof(int))};
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), (int[]){0, 1, 2}, 3 * sizeof(int));
    return sendmsg(to, &m, MSG_NOSIGNAL) == (ssize_t)(sizeof bytes + bytes) ? 0 : -1;
}

/* Has a fork of the program that listens run a command. Returns the command's exit code; 127: none was received. */
static int run(const char *program, const line *l)
{
    const char *folder = getenv("LOADED"), *count = getenv("LOADED_COUNT");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s.%d", folder, program, (int)(getpid() % (count ? atoi(count) : 1)));
    const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unsigned char code;
    if (s < 0 || connect(s, (struct sockaddr *)&address, sizeof address) || give(s, l) || read(s, &code, 1) != 1) {
        fprintf(stderr, "loaded_run: %s at %s ended without a word\n", program, address.sun_path);
        return 127;
    }
    close(s);
    return code;
}

/* Arguments that ld adds by itself, and one thread, since all processors are busy. */
static const char *const linker[] = {"ld.lld", "--threads=1", "-L/lib/x86_64-linux-gnu", "-L/usr/lib/x86_64-linux-gnu"};

int main(int argc, char **argv)
{
    const char *level = getenv("LOADED_LEVEL"), *slash = strrchr(argv[0], '/');
    const int links = !strcmp(slash ? slash + 1 : argv[0], "ld");
    int compiles = 0;
    line l = {0};
    for (size_t i = 0; i < (links ? sizeof linker / sizeof *linker : 0); i++) add(&l, linker[i]);
    if (!links) add(&l, "clang-22");
    for (int i = 1; i < argc; i++) {
        if (level && !strcmp(argv[i], "-O3")) argv[i] = (char *)level;
        compiles |= !strcmp(argv[i], "-c");
        add(&l, argv[i]);
    }
    if (links || compiles) return run(links ? "ld.lld" : "clang-22", &l);
    execv(getenv("LOADED_CLANG"), argv);
    return 127;
}
