// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which system calls change a file system, and which path they are about; see
 * killat.h. Memory that is mapped shared and written to makes no call and is
 * not seen; neither git, quilt, patch nor coreutils write files that way.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "killat.h"
#include "util.h"

#define NONE -1
#define CWD -2

/* Indexes of arguments: up to two paths, each with the folder it starts at, or a file. */
struct call {
	long nr;
	const char *name;
	signed char dir[2], path[2], fd, flags, count;
};

#define CALL(n) .nr = __NR_##n, .name = #n
#define ONE_PATH(n, d, p) \
	{ CALL(n), { d, NONE }, { p, NONE }, NONE, NONE, NONE }
#define TWO_PATHS(n, d, p, d2, p2) \
	{ CALL(n), { d, d2 }, { p, p2 }, NONE, NONE, NONE }
#define OPEN(n, d, p, f) \
	{ CALL(n), { d, NONE }, { p, NONE }, NONE, f, NONE }
#define BY_FD(n, f) \
	{ CALL(n), { NONE, NONE }, { NONE, NONE }, f, NONE, NONE }
#define WRITE(n, c) \
	{ CALL(n), { NONE, NONE }, { NONE, NONE }, 0, NONE, c }

static const struct call calls[] = {
#ifdef __NR_open
	OPEN(open, CWD, 0, 1),
	ONE_PATH(creat, CWD, 0),
	TWO_PATHS(rename, CWD, 0, CWD, 1),
	TWO_PATHS(link, CWD, 0, CWD, 1),
	ONE_PATH(symlink, CWD, 1),
	ONE_PATH(unlink, CWD, 0),
	ONE_PATH(mkdir, CWD, 0),
	ONE_PATH(rmdir, CWD, 0),
	ONE_PATH(mknod, CWD, 0),
	ONE_PATH(chmod, CWD, 0),
	ONE_PATH(chown, CWD, 0),
	ONE_PATH(lchown, CWD, 0),
	ONE_PATH(utime, CWD, 0),
	ONE_PATH(utimes, CWD, 0),
	ONE_PATH(futimesat, 0, 1),
#endif
#ifdef __NR_renameat
	TWO_PATHS(renameat, 0, 1, 2, 3),
#endif
#ifdef __NR_fchmodat2
	ONE_PATH(fchmodat2, 0, 1),
#endif
	OPEN(openat, 0, 1, 2),
	OPEN(openat2, 0, 1, 2),
	TWO_PATHS(renameat2, 0, 1, 2, 3),
	TWO_PATHS(linkat, 0, 1, 2, 3),
	ONE_PATH(symlinkat, 1, 2),
	ONE_PATH(unlinkat, 0, 1),
	ONE_PATH(mkdirat, 0, 1),
	ONE_PATH(mknodat, 0, 1),
	ONE_PATH(fchmodat, 0, 1),
	ONE_PATH(fchownat, 0, 1),
	ONE_PATH(utimensat, 0, 1),
	ONE_PATH(truncate, CWD, 0),
	ONE_PATH(setxattr, CWD, 0),
	ONE_PATH(lsetxattr, CWD, 0),
	ONE_PATH(removexattr, CWD, 0),
	ONE_PATH(lremovexattr, CWD, 0),
	WRITE(write, 2),
	WRITE(pwrite64, 2),
	BY_FD(writev, 0),
	BY_FD(pwritev, 0),
	BY_FD(pwritev2, 0),
	BY_FD(copy_file_range, 2),
	BY_FD(sendfile, 0),
	BY_FD(splice, 2),
	BY_FD(ftruncate, 0),
	BY_FD(fallocate, 0),
	BY_FD(fchmod, 0),
	BY_FD(fchown, 0),
	BY_FD(fsetxattr, 0),
	BY_FD(fremovexattr, 0),
	BY_FD(ioctl, 0),
};

const struct call *find_call(long nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].nr == nr)
			return &calls[i];
	return NULL;
}

const char *call_name(const struct call *c)
{
	return c->name;
}

int call_count_arg(const struct call *c)
{
	return c->count;
}

long call_nr(unsigned int i)
{
	return i < ARRAY_SIZE(calls) ? calls[i].nr : -1;
}

/* Copy up to @len bytes from @addr of @pid, a page at a time: a string may end before a hole. */
static size_t peek(pid_t pid, uint64_t addr, void *buf, size_t len)
{
	size_t have = 0;

	while (have < len) {
		size_t n = 4096 - (addr + have) % 4096;
		struct iovec local = { (char *)buf + have, n < len - have ? n : len - have };
		struct iovec remote = { (void *)(uintptr_t)(addr + have), local.iov_len };
		ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

		if (got <= 0)
			break;
		have += got;
		if (memchr(local.iov_base, '\0', got))
			break;
	}
	return have;
}

static bool peek_string(pid_t pid, uint64_t addr, char *buf, size_t size)
{
	size_t n = addr ? peek(pid, addr, buf, size) : 0;

	return memchr(buf, '\0', n);
}

/* Whether an open with these flags can create or change the file. */
static bool opens_for_write(pid_t pid, const struct call *c, const uint64_t *args)
{
	uint64_t flags = args[(int)c->flags];

	if (c->nr == __NR_openat2) {
		struct iovec local = { &flags, sizeof(flags) };
		struct iovec remote = { (void *)(uintptr_t)args[2], sizeof(flags) };

		if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != sizeof(flags))
			return false;
	}
	return flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC);
}

static bool ioctl_changes(uint64_t request)
{
	return (uint32_t)request == FICLONE || (uint32_t)request == FICLONERANGE ||
	       (uint32_t)request == FS_IOC_SETFLAGS;
}

/* The file behind a descriptor of @pid; NULL for a pipe, a socket or none. */
static char *fd_path(pid_t pid, int fd)
{
	char *link = xasprintf("/proc/%d/fd/%d", pid, fd);
	char buf[PATH_MAX];
	ssize_t n = readlink(link, buf, sizeof(buf) - 1);

	free(link);
	if (n <= 0 || buf[0] != '/')
		return NULL;
	buf[n] = '\0';
	return xstrdup(buf);
}

/*
 * The path that @pid means by argument @i of @c: links in its folder are
 * followed, one at its end only by an open, as the kernel does it for the calls
 * that make or remove names.
 */
static char *arg_path(pid_t pid, const struct call *c, const uint64_t *args, int i)
{
	int dirfd = c->dir[i] == CWD ? AT_FDCWD : (int)args[(int)c->dir[i]];
	char name[PATH_MAX], parent[PATH_MAX], *full, *base, *path;

	if (!args[(int)c->path[i]] || !peek_string(pid, args[(int)c->path[i]], name, sizeof(name)))
		return dirfd >= 0 ? fd_path(pid, dirfd) : NULL; /* futimens() */
	if (!name[0])
		return dirfd >= 0 ? fd_path(pid, dirfd) : NULL; /* AT_EMPTY_PATH */
	while (strlen(name) > 1 && name[strlen(name) - 1] == '/')
		name[strlen(name) - 1] = '\0';
	if (name[0] == '/')
		full = xstrdup(name);
	else if (dirfd == AT_FDCWD)
		full = xasprintf("/proc/%d/cwd/%s", pid, name);
	else
		full = xasprintf("/proc/%d/fd/%d/%s", pid, dirfd, name);
	base = strrchr(full, '/');
	*base++ = '\0';
	if (!strcmp(base, "..") || !strcmp(base, "."))
		base[-1] = '/';
	if (!realpath(*full ? full : "/", parent))
		path = xasprintf("%s%s%s", full, base[-1] ? "" : "/", base[-1] ? "" : base); /* fails */
	else if (base[-1] == '/')
		path = xstrdup(parent);
	else
		path = xasprintf("%s/%s", strcmp(parent, "/") ? parent : "", base);
	if (path && c->flags != NONE && realpath(path, parent)) {
		free(path);
		path = xstrdup(parent);
	}
	free(full);
	return path;
}

static bool is_below(const char *path, char *const *below)
{
	for (; path && *below; below++) {
		size_t n = strlen(*below);

		if (!strcmp(*below, "/"))
			return true;
		if (!strncmp(path, *below, n) && (!path[n] || path[n] == '/'))
			return true;
	}
	return false;
}

char *call_target(pid_t pid, const struct call *c, const uint64_t *args,
		  char *const *below)
{
	char *path, *second = NULL, *both = NULL;

	if (c->flags != NONE && !opens_for_write(pid, c, args))
		return NULL;
	if (c->nr == __NR_ioctl && !ioctl_changes(args[1]))
		return NULL;
	path = c->fd != NONE ? fd_path(pid, (int)args[(int)c->fd]) : arg_path(pid, c, args, 0);
	if (c->path[1] != NONE)
		second = arg_path(pid, c, args, 1);
	if (is_below(path, below) || is_below(second, below))
		both = c->path[1] == NONE ? xstrdup(path) :
		       xasprintf("%s -> %s", path ? path : "?", second ? second : "?");
	free(path);
	free(second);
	return both;
}
