// SPDX-License-Identifier: MIT
// A file layer that fails: LD_PRELOAD it. Counts operations that change files below UDV_FAULT_UNDER and, at the one with the
// number UDV_FAULT_AT (1, 2, ...), does what UDV_FAULT_MODE says:
//   fail   this one fails with EIO
//   full   this one and all later ones that need space fail with ENOSPC
//   kill   the process is killed before it
// UDV_FAULT_COUNT names a file that gets the number of operations when the process ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static long operations = 0;
enum { kMost = 4096 };
static char watched[kMost];  // descriptors of files below the folder

static int is_below(const char* path) {
  const char* under = getenv("UDV_FAULT_UNDER");
  return under && path && strncmp(path, under, strlen(under)) == 0;
}

static int is_below_at(int folder, const char* path) {
  if (path[0] == '/' || folder == AT_FDCWD) return is_below(path);
  char link[64], place[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  ssize_t size = readlink(link, place, sizeof place - 1);
  if (size < 0) return 0;
  place[size] = 0;
  return is_below(place);
}

// True where the operation is to fail; errno says why.
static int fails(int needs_space) {
  const char* at = getenv("UDV_FAULT_AT");
  const char* mode = getenv("UDV_FAULT_MODE");
  ++operations;
  if (!at || !mode) return 0;
  if (strcmp(mode, "kill") == 0 && operations == atol(at)) kill(getpid(), SIGKILL);
  if (strcmp(mode, "fail") == 0 && operations == atol(at)) {
    errno = EIO;
    return 1;
  }
  if (strcmp(mode, "full") == 0 && operations >= atol(at) && needs_space) {
    errno = ENOSPC;
    return 1;
  }
  return 0;
}

static int remember(int handle, const char* path) {
  if (handle >= 0 && handle < kMost) watched[handle] = (char)is_below(path);
  return handle;
}

static int is_watched(FILE* stream) {
  int handle = stream ? fileno(stream) : -1;
  return handle >= 0 && handle < kMost && watched[handle];
}

FILE* fopen(const char* path, const char* mode) {
  if (mode[0] != 'r' && is_below(path) && fails(1)) return NULL;
  FILE* stream = REAL(fopen)(path, mode);
  if (stream && mode[0] != 'r') remember(fileno(stream), path);
  return stream;
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if ((flags & O_CREAT) && is_below(path) && fails(1)) return -1;
  int handle = REAL(open)(path, flags, mode);
  return flags & O_CREAT ? remember(handle, path) : handle;
}

size_t fwrite(const void* data, size_t size, size_t count, FILE* stream) {
  if (is_watched(stream) && fails(1)) return 0;
  return REAL(fwrite)(data, size, count, stream);
}

int fclose(FILE* stream) {
  int handle = stream ? fileno(stream) : -1;
  int failed = is_watched(stream) && fails(1), why = errno;
  if (handle >= 0 && handle < kMost) watched[handle] = 0;
  int result = REAL(fclose)(stream);
  if (failed) errno = why;
  return failed ? EOF : result;
}

ssize_t write(int handle, const void* data, size_t size) {
  if (handle >= 0 && handle < kMost && watched[handle] && fails(1)) return -1;
  return REAL(write)(handle, data, size);
}

int fallocate(int handle, int mode, off_t offset, off_t size) {
  if (handle >= 0 && handle < kMost && watched[handle] && fails(1)) return -1;
  return REAL(fallocate)(handle, mode, offset, size);
}

int rename(const char* from, const char* to) {
  return is_below(to) && fails(0) ? -1 : REAL(rename)(from, to);
}

int mkdir(const char* path, mode_t mode) {
  return is_below(path) && fails(1) ? -1 : REAL(mkdir)(path, mode);
}

int unlink(const char* path) {
  return is_below(path) && fails(0) ? -1 : REAL(unlink)(path);
}

int remove(const char* path) {
  return is_below(path) && fails(0) ? -1 : REAL(remove)(path);
}

int unlinkat(int folder, const char* path, int flags) {
  return is_below_at(folder, path) && fails(0) ? -1 : REAL(unlinkat)(folder, path, flags);
}

__attribute__((destructor)) static void tell(void) {
  const char* place = getenv("UDV_FAULT_COUNT");
  if (!place) return;
  FILE* stream = REAL(fopen)(place, "w");
  if (!stream) return;
  fprintf(stream, "%ld\n", operations);
  REAL(fclose)(stream);
}
