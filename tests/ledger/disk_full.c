/* Fails the calls of a process that need space in one folder: preloaded by test_full_disk.py.
 *
 * Calls are counted: creations, writes, truncations and syncs. Those from `from` on, and before `until`, have no
 * space; where `halves` is set a write takes half of its bytes first, as on a disk with a few bytes left.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[4096];
static long calls, from = -1, until = -1;
static int halves;

void fill_disk(const char *path, long first, long end, int half) {
    snprintf(folder, sizeof folder, "%s", path);
    calls = 0, from = first, until = end, halves = half;
}

long calls_made(void) { return calls; }

static int is_there(const char *path) { return folder[0] && !strncmp(path, folder, strlen(folder)); }

static int is_full(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    if (!is_there(path)) return 0;
    long call = calls++;
    return from <= call && call < until;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define FULL (errno = ENOSPC, -1)

#define WRITES(name, ...) { REAL(name); \
    if (!is_full(fd)) return real(fd, data, length, ##__VA_ARGS__); \
    return halves && length > 1 ? real(fd, data, length / 2, ##__VA_ARGS__) : FULL; }
ssize_t write(int fd, const void *data, size_t length) WRITES(write)
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) WRITES(pwrite, at)
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) WRITES(pwrite64, at)

int ftruncate(int fd, off_t size) { REAL(ftruncate); return is_full(fd) ? FULL : real(fd, size); }
int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); return is_full(fd) ? FULL : real(fd, size); }
int fsync(int fd) { REAL(fsync); return is_full(fd) ? FULL : real(fd); }
int fdatasync(int fd) { REAL(fdatasync); return is_full(fd) ? FULL : real(fd); }

#define OPENS(name) int name(const char *path, int flags, ...) { REAL(name); \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); } \
    if ((flags & O_CREAT) && is_there(path) && access(path, F_OK)) { \
        long call = calls++; \
        if (from <= call && call < until) return FULL; \
    } \
    return real(path, flags, mode); }
OPENS(open)
OPENS(open64)
