/* process.c: see process.h. */
#include "tools/strider/process.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static uint64_t open_descriptors(void);
static uint64_t resident_bytes(void);
static double start_time(void);

uint64_t process_raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 1024;
    }
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
}

struct span process_metrics(struct arena *arena)
{
    struct rlimit limit = {0};
    struct rusage usage = {0};
    getrlimit(RLIMIT_NOFILE, &limit);
    getrusage(RUSAGE_SELF, &usage);
    double cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    return arena_format(
        arena,
        "# HELP process_cpu_seconds_total Processor time, user and system.\n"
        "# TYPE process_cpu_seconds_total counter\n"
        "process_cpu_seconds_total %.2f\n"
        "# HELP process_resident_memory_bytes Memory that is resident.\n"
        "# TYPE process_resident_memory_bytes gauge\n"
        "process_resident_memory_bytes %" PRIu64 "\n"
        "# HELP process_open_fds Open descriptors: connections, files and what the runtime needs.\n"
        "# TYPE process_open_fds gauge\n"
        "process_open_fds %" PRIu64 "\n"
        "# HELP process_max_fds How many descriptors may be open.\n"
        "# TYPE process_max_fds gauge\n"
        "process_max_fds %" PRIu64 "\n"
        "# HELP process_start_time_seconds When the process began, in Unix time.\n"
        "# TYPE process_start_time_seconds gauge\n"
        "process_start_time_seconds %.2f\n",
        cpu_s, resident_bytes(), open_descriptors(), (uint64_t)limit.rlim_cur, start_time());
}

/* The one that lists them does not count. */
static uint64_t open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint64_t count = 0;
    if (folder == NULL) {
        return 0;
    }
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(folder);
    return count - 1;
}

static uint64_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    uint64_t all = 0;
    uint64_t resident = 0;
    if (file == NULL) {
        return 0;
    }
    int fields = fscanf(file, "%" SCNu64 " %" SCNu64, &all, &resident);
    (void)fclose(file);
    return fields == 2 ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Field 22 of /proc/self/stat counts ticks since the machine began; the name in field 2 may hold
 * anything but ends with the last ")". */
static double start_time(void)
{
    char line[1024];
    FILE *file = fopen("/proc/self/stat", "re");
    size_t bytes = file == NULL ? 0 : fread(line, 1, sizeof line - 1, file);
    if (file != NULL) {
        (void)fclose(file);
    }
    line[bytes] = '\0';
    const char *rest = strrchr(line, ')');
    unsigned long long ticks = 0;
    struct timespec now;
    struct timespec since_boot;
    if (rest == NULL ||
        sscanf(rest,
               ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &ticks) != 1 ||
        clock_gettime(CLOCK_REALTIME, &now) != 0 ||
        clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) {
        return 0;
    }
    double age_s = (double)since_boot.tv_sec + (double)since_boot.tv_nsec / 1e9 -
                   (double)ticks / (double)sysconf(_SC_CLK_TCK);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - age_s;
}
