/* server_test.c: what is left behind by test programs that were killed. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/servers/server.h"

/* A test program that has a server's directory, two minutes old, with something in it. */
static pid_t start_owner(char directory[128])
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct server server;
        char path[160];
        struct timespec old[2] = {{0}, {0}};
        clock_gettime(CLOCK_REALTIME, &old[1]);
        old[1].tv_sec -= 120;
        old[0] = old[1];
        bool made = server_prepare(&server, NULL);
        snprintf(path, sizeof path, "%s/data", server.directory);
        made = made && mkdir(path, 0700) == 0 &&
               utimensat(AT_FDCWD, server.directory, old, 0) == 0 &&
               write(ends[1], server.directory, sizeof server.directory) ==
                   (ssize_t)sizeof server.directory;
        close(ends[1]);
        if (made) {
            pause();
        }
        _exit(1);
    }
    close(ends[1]);
    cr_assert_eq(read(ends[0], directory, 128), 128);
    close(ends[0]);
    return pid;
}

static void end_owner(pid_t pid)
{
    kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

Test(server, directories_of_killed_test_programs_are_removed_by_the_next_and_no_others)
{
    char scratch[] = "/tmp/strider-servers-XXXXXX";
    char living[128];
    char dead[128];
    struct server server;
    cr_assert_not_null(mkdtemp(scratch));
    setenv("TMPDIR", scratch, 1);
    pid_t lives = start_owner(living);
    pid_t dies = start_owner(dead);
    cr_assert(is_there(living) && is_there(dead));

    end_owner(dies);
    cr_assert(server_prepare(&server, NULL));

    cr_expect(is_there(living));
    cr_expect_not(is_there(dead));
    server_remove(&server);
    end_owner(lives);
    cr_assert(server_prepare(&server, NULL));
    cr_expect_not(is_there(living));
    server_remove(&server);
    cr_assert_eq(rmdir(scratch), 0, "nothing else is left");
}
