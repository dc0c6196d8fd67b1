/* Stands before the C library in a program under test: from one sync of a kind of file on, so many of them fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int seen;

static int fails(int fd) {
  char link[64], path[PATH_MAX];
  const char *end = getenv("FAILING_FILE");
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (end == NULL || length < (ssize_t)strlen(end)) return 0;
  path[length] = 0;
  if (strcmp(path + length - strlen(end), end) != 0) return 0;
  int from = atoi(getenv("FAILING_FROM")), times = atoi(getenv("FAILING_TIMES"));
  int number = ++seen;
  if (number < from || number >= from + times) return 0;
  errno = EIO;
  return 1;
}

int fsync(int fd) {
  return fails(fd) ? -1 : ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int fdatasync(int fd) {
  return fails(fd) ? -1 : ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
