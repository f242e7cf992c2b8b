/*
 * Preloaded into a process (LD_PRELOAD), moves the wall clock that it reads by the number of seconds in the file that
 * WALL_CLOCK_OFFSET names: 8 bytes, a signed integer in the machine's byte order, which may change at any time.
 *
 * Like an operator who sets the clock, it leaves the monotonic clock and all timed waits alone. libfaketime intercepts
 * those too, and sometimes makes waits of an hour of them, in any thread of a JVM.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t none;
static const volatile int64_t *offset = &none;

__attribute__((constructor)) static void map_offset(void) {
  const char *path = getenv("WALL_CLOCK_OFFSET");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    perror("wall-clock: WALL_CLOCK_OFFSET");
    abort();
  }
  close(file);
  offset = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    now->tv_sec += *offset;
  }
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != NULL) {
    *result = now.tv_sec;
  }
  return now.tv_sec;
}
