/* Notes what a process does to the files of one folder: preloaded by test_power_cut.py.
 *
 * A record: one letter, the lengths of path and data, the place in the file; then the path and the data.
 * w writes, t truncates, s syncs, u removes (also what is not there, by which the program leaves marks).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int sink = -1;

static void note(char kind, const char *path, int64_t at, const void *data, int64_t length) {
    const char *folder = getenv("DISK_LOG_FOLDER"), *log = getenv("DISK_LOG");
    if (!folder || !log || strncmp(path, folder, strlen(folder))) return;
    if (sink < 0) sink = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int64_t head[4] = {kind, (int64_t)strlen(path), length, at};
    char *record = malloc(sizeof head + (size_t)head[1] + (size_t)length);
    memcpy(record, head, sizeof head);
    memcpy(record + sizeof head, path, (size_t)head[1]);
    if (length) memcpy(record + sizeof head + head[1], data, (size_t)length);
    if (syscall(SYS_write, sink, record, sizeof head + (size_t)(head[1] + length)) < 0) abort();
    free(record);
}

static const char *path_of(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    path[length < 0 ? 0 : length] = 0;
    return path;
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) {
    char path[4096];
    note('w', path_of(fd, path, sizeof path), at, data, (int64_t)length);
    return syscall(SYS_pwrite64, fd, data, length, at);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) { return pwrite64(fd, data, length, at); }

int ftruncate64(int fd, off64_t length) {
    char path[4096];
    note('t', path_of(fd, path, sizeof path), length, "", 0);
    return (int)syscall(SYS_ftruncate, fd, length);
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int fdatasync(int fd) {
    char path[4096];
    note('s', path_of(fd, path, sizeof path), 0, "", 0);
    return (int)syscall(SYS_fdatasync, fd);
}
int fsync(int fd) { return fdatasync(fd); }

int unlink(const char *path) {
    note('u', path, 0, "", 0);
    return (int)syscall(SYS_unlink, path);
}
