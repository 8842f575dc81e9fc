/* Preloaded into a server: makes syncs of some files fail like those of a failing disk. FAILING_SYNC names a file that contains "<count> <path suffix>";
   that many syncs of matching files fail with EIO. The count in the file is decremented, and the file is deleted after the last one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int fd) {
  const char *order = getenv("FAILING_SYNC");
  char link[64], path[4096], end[256];
  int count = 0;
  FILE *file = order ? fopen(order, "r") : NULL;
  if (!file) return 0;
  int read = fscanf(file, "%d %255s", &count, end);
  fclose(file);
  if (read != 2) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < (ssize_t)strlen(end)) return 0;
  path[length] = 0;
  if (strcmp(path + length - strlen(end), end) != 0) return 0;
  if (count <= 1) unlink(order);
  else if ((file = fopen(order, "w"))) {
    fprintf(file, "%d %s", count - 1, end);
    fclose(file);
  }
  errno = EIO;
  return 1;
}

int fsync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  return fails(fd) ? -1 : real(fd);
}

int fdatasync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  return fails(fd) ? -1 : real(fd);
}
