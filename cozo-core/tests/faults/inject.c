/* A library that is preloaded into a process and stands between it and the system's calls for files.
 *
 * It looks at calls for paths below one folder alone, and does three things with them:
 *   - It appends each to a trace, with its bytes, in the order in which they took effect.
 *   - It lets the n-th call of a class fail.
 *   - It syncs nothing: the trace knows what was synced, and only the process ends, never the machine.
 *
 * The environment says what to do:
 *   COZO_FAULTS_ROOT   the folder, an absolute path without links; nothing is done without it
 *   COZO_FAULTS_TRACE  the file of the trace, outside of the folder
 *   COZO_FAULTS_SAID   a file whose writes become marks in the trace
 *   COZO_FAULTS_FAIL   "CLASS N ERRNO TIMES HOW PATTERN", see `struct fault`
 *
 * An entry of the trace is a `struct head` and `len` bytes. `trace.rs` reads them.
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Macros of the C library that stand for functions which are ours. */
#undef fread_unlocked
#undef feof_unlocked
#undef ferror_unlocked
#undef clearerr_unlocked

enum { OPEN, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, READ };
static const char *const CLASSES[] = {"open", "write", "sync", "truncate", "rename", "unlink", "read"};

/* How a call fails: without any effect; after its effect; or, for writes, the call writes half and the next one fails. */
enum { PLAIN, LATE, SHORT };

struct fault {
    int class;
    long n; /* the first call that fails, from 1 */
    int error;
    long times;
    int how;
    char pattern[256]; /* of paths relative to the root, as of fnmatch */
};

struct head {
    uint8_t kind;
    uint8_t ok;
    uint8_t flag; /* of an open: 1 if it made the file, 2 if it is a folder */
    uint8_t class;
    int32_t fd;
    uint64_t offset;
    uint64_t len;
};

#define MAX_FILES 8192
static char *paths[MAX_FILES]; /* the relative path of each file that is open */
static char root[PATH_MAX], said[PATH_MAX];
static size_t root_len;
static int said_fd = -1, trace_fd = -1, has_fault, short_fd = -1;
static long calls;
static struct fault fault;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define REAL(result, name, ...)                                                                                        \
    static result (*real_##name)(__VA_ARGS__);                                                                         \
    static void find_##name(void) { *(void **)&real_##name = dlsym(RTLD_NEXT, #name); }

REAL(int, open64, const char *, int, ...)
REAL(ssize_t, write, int, const void *, size_t)
REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
REAL(ssize_t, writev, int, const struct iovec *, int)
REAL(ssize_t, pwritev64, int, const struct iovec *, int, off64_t)
REAL(ssize_t, read, int, void *, size_t)
REAL(ssize_t, pread64, int, void *, size_t, off64_t)
REAL(size_t, fread, void *, size_t, size_t, FILE *)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, sync_file_range, int, off64_t, off64_t, unsigned int)
REAL(int, ftruncate64, int, off64_t)
REAL(int, fallocate64, int, int, off64_t, off64_t)
REAL(int, rename, const char *, const char *)
REAL(int, link, const char *, const char *)
REAL(int, linkat, int, const char *, int, const char *, int)
REAL(int, unlink, const char *)
REAL(int, rmdir, const char *)
REAL(int, mkdir, const char *, mode_t)
REAL(DIR *, opendir, const char *)
REAL(int, close, int)
REAL(int, fclose, FILE *)
REAL(int, renameat2, int, const char *, int, const char *, unsigned int)
REAL(int, unlinkat, int, const char *, int)
REAL(int, openat64, int, const char *, int, ...)
REAL(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned int)
REAL(ssize_t, sendfile64, int, int, off64_t *, size_t)

static void start(void) {
    find_open64(), find_write(), find_pwrite64(), find_writev(), find_pwritev64(), find_read(), find_pread64();
    find_fread(), find_fsync();
    find_fdatasync(), find_sync_file_range(), find_ftruncate64(), find_fallocate64(), find_rename(), find_link();
    find_unlink(), find_rmdir(), find_mkdir(), find_opendir(), find_close(), find_fclose(), find_renameat2();
    find_linkat(), find_unlinkat(), find_openat64(), find_copy_file_range(), find_sendfile64();
    const char *folder = getenv("COZO_FAULTS_ROOT");
    if (!folder) return;
    root_len = strlen(folder);
    snprintf(root, sizeof root, "%s", folder);
    const char *trace = getenv("COZO_FAULTS_TRACE"), *marks = getenv("COZO_FAULTS_SAID");
    if (trace) trace_fd = real_open64(trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (marks) snprintf(said, sizeof said, "%s", marks);
    const char *fail = getenv("COZO_FAULTS_FAIL");
    has_fault = fail && sscanf(fail, "%d %ld %d %ld %d %255s", &fault.class, &fault.n, &fault.error, &fault.times,
                               &fault.how, fault.pattern) == 6;
}

static void lock(void) {
    pthread_once(&once, start);
    pthread_mutex_lock(&mutex);
}

static void unlock(void) { pthread_mutex_unlock(&mutex); }

/* Appends an entry to the trace. */
static void note(struct head head, const struct iovec *parts, int count) {
    if (trace_fd < 0) return;
    struct iovec all[1 + 64] = {{&head, sizeof head}};
    head.len = 0;
    for (int i = 0; i < count && i < 64; i++) {
        all[1 + i] = parts[i];
        head.len += parts[i].iov_len;
    }
    int before = errno;
    size_t wanted = sizeof head + head.len;
    if (real_writev(trace_fd, all, 1 + count) != (ssize_t)wanted) {
        fprintf(stderr, "the trace of faults cannot be written\n");
        abort();
    }
    errno = before;
}

static void note_text(struct head head, const char *text) {
    struct iovec part = {(void *)text, strlen(text)};
    note(head, &part, 1);
}

/* The path relative to the root in `out`; whether it is below it, and of interest. */
static int within(const char *path, char *out) {
    char absolute[PATH_MAX];
    if (!root_len) return 0;
    if (path[0] != '/') {
        char folder[PATH_MAX];
        if (!getcwd(folder, sizeof folder)) return 0;
        if (snprintf(absolute, sizeof absolute, "%s/%s", folder, path) >= (int)sizeof absolute) return 0;
        path = absolute;
    }
    if (strncmp(path, root, root_len) != 0 || (path[root_len] != '/' && path[root_len] != 0)) return 0;
    path += root_len;
    while (*path == '/') path++;
    /* RocksDB writes some paths with two slashes, and folders with one at the end. */
    size_t n = 0;
    for (; *path; path++)
        if (!(path[0] == '/' && (path[1] == '/' || path[1] == 0))) out[n++] = *path;
    out[n] = 0;
    const char *end = out + n;
    int is_lock = (n >= 5 && strcmp(end - 5, "-lock") == 0) || (n >= 4 && strcmp(end - 4, "LOCK") == 0);
    int is_shared = n >= 4 && strcmp(end - 4, "-shm") == 0;
    return !is_lock && !is_shared;
}

static const char *path_of(int fd) { return fd >= 0 && fd < MAX_FILES ? paths[fd] : NULL; }

static void forget(int fd) {
    if (fd == said_fd) said_fd = -1;
    if (fd == short_fd) short_fd = -1;
    if (!path_of(fd)) return;
    note((struct head){'C', 1, 0, 0, fd, 0, 0}, NULL, 0);
    free(paths[fd]);
    paths[fd] = NULL;
}

static void note_failure(int class, const char *path, uint64_t offset, uint64_t len, int error, const char *how) {
    char text[PATH_MAX + 200];
    snprintf(text, sizeof text, "%s of %s (call %ld, offset %llu, %llu bytes): %s%s", CLASSES[class], path, calls,
             (unsigned long long)offset, (unsigned long long)len, strerror(error), how);
    note_text((struct head){'F', 0, 0, class, -1, offset, 0}, text);
}

/* Whether this call of a class fails. */
static int fails(int class, const char *path) {
    if (!has_fault || class != fault.class || fnmatch(fault.pattern, path, 0) != 0) return 0;
    calls++;
    return calls >= fault.n && calls - fault.n < fault.times;
}

/* Does a call that returns 0 or -1, unless it is to fail; whether it took effect. */
#define CALL(result, class, path, action)                                                                              \
    ({                                                                                                                 \
        int does_fail = fails(class, path), has_effect = 1;                                                            \
        if (does_fail && fault.how != LATE) {                                                                          \
            result = -1, has_effect = 0;                                                                               \
        } else {                                                                                                       \
            result = (action);                                                                                         \
            has_effect = result >= 0;                                                                                  \
        }                                                                                                              \
        if (does_fail && (has_effect || fault.how != LATE)) {                                                          \
            note_failure(class, path, 0, 0, fault.error, has_effect ? ", done" : "");                                  \
            result = -1, errno = fault.error;                                                                          \
        }                                                                                                              \
        has_effect;                                                                                                    \
    })

static void remember(int fd, const char *path, int flags, int existed) {
    struct stat64 about;
    if (fd < 0 || fd >= MAX_FILES) return;
    forget(fd);
    paths[fd] = strdup(path);
    int is_folder = fstat64(fd, &about) == 0 && S_ISDIR(about.st_mode);
    uint8_t flag = (!existed ? 1 : 0) | (is_folder ? 2 : 0);
    note_text((struct head){'O', 1, flag, OPEN, fd, 0, 0}, path);
    if ((flags & O_TRUNC) && existed) note((struct head){'T', 1, 0, TRUNCATE, fd, 0, 0}, NULL, 0);
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    char relative[PATH_MAX];
    int fd;
    lock();
    if (said[0] && strcmp(path, said) == 0) {
        fd = said_fd = real_openat64(folder, path, flags, mode);
    } else if ((folder != AT_FDCWD && path[0] != '/') || !within(path, relative)) {
        fd = real_openat64(folder, path, flags, mode);
        if (fd >= 0) forget(fd);
    } else {
        int existed = access(path, F_OK) == 0, does_fail = fails(OPEN, relative);
        if (does_fail) {
            note_failure(OPEN, relative, 0, 0, fault.error, "");
            fd = -1, errno = fault.error;
        } else {
            fd = real_openat64(folder, path, flags, mode);
            if (fd >= 0) remember(fd, relative, flags, existed);
        }
    }
    unlock();
    return fd;
}

#define MODE(flags)                                                                                                    \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                             \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode = va_arg(rest, mode_t);                                                                                   \
        va_end(rest);                                                                                                  \
    }

int open(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags) return open_at(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags) return open_at(folder, path, flags, mode); }
int __open_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

DIR *opendir(const char *path) {
    char relative[PATH_MAX];
    lock();
    DIR *folder = NULL;
    if (within(path, relative) && fails(OPEN, relative)) {
        note_failure(OPEN, relative, 0, 0, fault.error, "");
        errno = fault.error;
    } else {
        folder = real_opendir(path);
        if (folder) forget(dirfd(folder));
    }
    unlock();
    return folder;
}

int close(int fd) {
    lock();
    forget(fd);
    int result = real_close(fd);
    unlock();
    return result;
}

int fclose(FILE *file) {
    lock();
    forget(fileno(file));
    int result = real_fclose(file);
    unlock();
    return result;
}

static size_t total(const struct iovec *parts, int count) {
    size_t all = 0;
    for (int i = 0; i < count; i++) all += parts[i].iov_len;
    return all;
}


static void note_write(int fd, const struct iovec *parts, int count, off64_t offset, size_t len) {
    uint64_t at = offset < 0 ? (uint64_t)lseek64(fd, 0, SEEK_CUR) - len : (uint64_t)offset;
    struct iovec written[64];
    int n = 0;
    for (; n < count && n < 64 && len > 0; n++) {
        written[n] = parts[n];
        if (written[n].iov_len > len) written[n].iov_len = len;
        len -= written[n].iov_len;
    }
    note((struct head){fd == said_fd ? 'K' : 'W', 1, 0, WRITE, fd, at, 0}, written, n);
}

/* Writes parts at an offset, or where the file is (-1). */
static ssize_t real_parts(int fd, const struct iovec *parts, int count, off64_t offset) {
    if (count == 1)
        return offset < 0 ? real_write(fd, parts->iov_base, parts->iov_len)
                          : real_pwrite64(fd, parts->iov_base, parts->iov_len, offset);
    return offset < 0 ? real_writev(fd, parts, count) : real_pwritev64(fd, parts, count, offset);
}

static ssize_t write_to(int fd, const struct iovec *parts, int count, off64_t offset) {
    lock();
    const char *path = path_of(fd);
    if (!path && fd != said_fd) {
        unlock();
        return real_parts(fd, parts, count, offset);
    }
    ssize_t result;
    size_t len = total(parts, count);
    int does_fail = path && fails(WRITE, path);
    if (path && fd == short_fd) {
        does_fail = 1, short_fd = -1;
    } else if (does_fail && fault.how == SHORT && parts->iov_len > 1) {
        struct iovec half = {parts->iov_base, parts->iov_len / 2};
        result = real_parts(fd, &half, 1, offset);
        if (result > 0) note_write(fd, &half, 1, offset, result);
        note_failure(WRITE, path, offset, len, 0, ", half");
        short_fd = fd;
        unlock();
        return result;
    }
    if (does_fail && fault.how != LATE) {
        result = -1;
    } else {
        result = real_parts(fd, parts, count, offset);
        if (result > 0) note_write(fd, parts, count, offset, result);
    }
    if (does_fail) {
        note_failure(WRITE, path, offset, len, fault.error, fault.how == LATE ? ", done" : "");
        result = -1, errno = fault.error;
    }
    unlock();
    return result;
}

ssize_t write(int fd, const void *bytes, size_t len) {
    struct iovec part = {(void *)bytes, len};
    return write_to(fd, &part, 1, -1);
}
ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset) {
    struct iovec part = {(void *)bytes, len};
    return write_to(fd, &part, 1, offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t offset) {
    struct iovec part = {(void *)bytes, len};
    return write_to(fd, &part, 1, offset);
}
ssize_t writev(int fd, const struct iovec *parts, int count) { return write_to(fd, parts, count, -1); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return write_to(fd, parts, count, at); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { return write_to(fd, parts, count, at); }

/* Whether a read of a file fails. */
static int read_fails(int fd, uint64_t offset, size_t len) {
    lock();
    const char *path = path_of(fd);
    int does_fail = path && fails(READ, path);
    if (path) note((struct head){'r', 1, 0, READ, fd, 0, 0}, NULL, 0);
    if (does_fail) note_failure(READ, path, offset, len, fault.error, "");
    unlock();
    if (does_fail) errno = fault.error;
    return does_fail;
}

ssize_t read(int fd, void *out, size_t len) { return read_fails(fd, 0, len) ? -1 : real_read(fd, out, len); }
ssize_t __read_chk(int fd, void *out, size_t len, size_t size) { return (void)size, read(fd, out, len); }
ssize_t pread64(int fd, void *out, size_t len, off64_t offset) {
    return read_fails(fd, offset, len) ? -1 : real_pread64(fd, out, len, offset);
}
ssize_t pread(int fd, void *out, size_t len, off_t offset) { return pread64(fd, out, len, offset); }
ssize_t __pread_chk(int fd, void *out, size_t len, off_t at, size_t size) { return (void)size, pread64(fd, out, len, at); }
ssize_t __pread64_chk(int fd, void *out, size_t len, off64_t at, size_t size) {
    return (void)size, pread64(fd, out, len, at);
}
static __thread int failed_read;
size_t fread(void *out, size_t size, size_t count, FILE *file) {
    failed_read = read_fails(fileno(file), 0, size * count);
    return failed_read ? 0 : real_fread(out, size, count, file);
}
size_t fread_unlocked(void *out, size_t size, size_t count, FILE *file) { return fread(out, size, count, file); }
/* A stream tells of an error by its flag, which only the C library sets: the next question is answered here. */
int ferror(FILE *file) {
    static int (*real)(FILE *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "ferror");
    return failed_read || real(file);
}
int ferror_unlocked(FILE *file) { return ferror(file); }
int feof(FILE *file) {
    static int (*real)(FILE *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "feof");
    return !failed_read && real(file);
}
int feof_unlocked(FILE *file) { return feof(file); }
void clearerr(FILE *file) {
    static void (*real)(FILE *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "clearerr");
    failed_read = 0;
    real(file);
}
void clearerr_unlocked(FILE *file) { clearerr(file); }

static int sync_file(int fd) {
    lock();
    const char *path = path_of(fd);
    int result = 0;
    if (path) {
        int does_fail = fails(SYNC, path);
        int is_done = !does_fail || fault.how == LATE;
        note((struct head){'S', is_done, 0, SYNC, fd, 0, 0}, NULL, 0);
        if (does_fail) {
            note_failure(SYNC, path, 0, 0, fault.error, is_done ? ", done" : "");
            result = -1, errno = fault.error;
        }
    }
    unlock();
    return result;
}

int fsync(int fd) { return sync_file(fd); }
int fdatasync(int fd) { return sync_file(fd); }
/* It asks for writes to begin, and promises nothing. */
int sync_file_range(int fd, off64_t offset, off64_t len, unsigned int flags) {
    lock();
    unlock();
    return path_of(fd) ? 0 : real_sync_file_range(fd, offset, len, flags);
}

static int resize(int fd, off64_t len, int mode, off64_t offset) {
    lock();
    const char *path = path_of(fd);
    int result, is_allocation = mode >= 0;
    if (!path) {
        result = is_allocation ? real_fallocate64(fd, mode, offset, len) : real_ftruncate64(fd, len);
    } else if (CALL(result, is_allocation ? WRITE : TRUNCATE, path,
                    is_allocation ? real_fallocate64(fd, mode, offset, len) : real_ftruncate64(fd, len))) {
        struct stat64 about;
        int before = errno;
        if (fstat64(fd, &about) == 0)
            note((struct head){'T', 1, 0, is_allocation ? WRITE : TRUNCATE, fd, about.st_size, 0}, NULL, 0);
        errno = before;
    }
    unlock();
    return result;
}

int ftruncate(int fd, off_t len) { return resize(fd, len, -1, 0); }
int ftruncate64(int fd, off64_t len) { return resize(fd, len, -1, 0); }
int fallocate(int fd, int mode, off_t offset, off_t len) { return resize(fd, len, mode, offset); }
int fallocate64(int fd, int mode, off64_t offset, off64_t len) { return resize(fd, len, mode, offset); }
int posix_fallocate(int fd, off_t offset, off_t len) { return resize(fd, len, 0, offset) == 0 ? 0 : errno; }
int posix_fallocate64(int fd, off64_t offset, off64_t len) { return resize(fd, len, 0, offset) == 0 ? 0 : errno; }

/* A rename or a link: from one path below the root to another. */
static int move(const char *from, const char *to, uint8_t kind, unsigned int flags) {
    char old[PATH_MAX], new[2 * PATH_MAX];
    lock();
    int result, is_ours = within(from, old) && within(to, new);
    if (!is_ours) {
        result = kind == 'L' ? real_link(from, to) : real_renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
    } else if (CALL(result, RENAME, new,
                    kind == 'L' ? real_link(from, to) : real_renameat2(AT_FDCWD, from, AT_FDCWD, to, flags))) {
        struct iovec parts[] = {{old, strlen(old) + 1}, {new, strlen(new)}};
        note((struct head){kind, 1, 0, RENAME, -1, 0, 0}, parts, 2);
    }
    unlock();
    return result;
}

int rename(const char *from, const char *to) { return move(from, to, 'R', 0); }
int link(const char *from, const char *to) { return move(from, to, 'L', 0); }
int linkat(int a, const char *from, int b, const char *to, int flags) {
    int is_plain = (a == AT_FDCWD || from[0] == '/') && (b == AT_FDCWD || to[0] == '/') && flags == 0;
    pthread_once(&once, start);
    return is_plain ? move(from, to, 'L', 0) : real_linkat(a, from, b, to, flags);
}
int renameat2(int a, const char *from, int b, const char *to, unsigned int flags) {
    int is_plain = (a == AT_FDCWD || from[0] == '/') && (b == AT_FDCWD || to[0] == '/');
    pthread_once(&once, start);
    return is_plain ? move(from, to, 'R', flags) : real_renameat2(a, from, b, to, flags);
}
int renameat(int a, const char *from, int b, const char *to) { return renameat2(a, from, b, to, 0); }

static int remove_name(const char *path, int is_folder) {
    char relative[PATH_MAX];
    lock();
    int result;
    if (!within(path, relative)) {
        result = is_folder ? real_rmdir(path) : real_unlink(path);
    } else if (CALL(result, UNLINK, relative, is_folder ? real_rmdir(path) : real_unlink(path))) {
        note_text((struct head){'U', 1, 0, UNLINK, -1, 0, 0}, relative);
    }
    unlock();
    return result;
}

int unlink(const char *path) { return remove_name(path, 0); }
int rmdir(const char *path) { return remove_name(path, 1); }
int unlinkat(int folder, const char *path, int flags) {
    pthread_once(&once, start);
    if (folder != AT_FDCWD && path[0] != '/') return real_unlinkat(folder, path, flags);
    return remove_name(path, (flags & AT_REMOVEDIR) != 0);
}

int mkdir(const char *path, mode_t mode) {
    char relative[PATH_MAX];
    lock();
    int result;
    if (!within(path, relative)) {
        result = real_mkdir(path, mode);
    } else if (CALL(result, OPEN, relative, real_mkdir(path, mode))) {
        note_text((struct head){'M', 1, 0, OPEN, -1, 0, 0}, relative);
    }
    unlock();
    return result;
}

/* What copies within the system is refused, so that a copy is made by reads and writes. */
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t len, unsigned int flags) {
    lock();
    int is_ours = path_of(out) != NULL;
    unlock();
    if (is_ours) return errno = ENOSYS, -1;
    return real_copy_file_range(in, from, out, to, len, flags);
}
ssize_t sendfile64(int out, int in, off64_t *offset, size_t len) {
    lock();
    int is_ours = path_of(out) != NULL;
    unlock();
    if (is_ours) return errno = EINVAL, -1;
    return real_sendfile64(out, in, offset, len);
}
ssize_t sendfile(int out, int in, off_t *offset, size_t len) { return sendfile64(out, in, offset, len); }
