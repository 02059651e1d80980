/* command_test.c: what is written to Redis, byte by byte. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "storage/redis/command.h"

static void expect(const struct storage_redis_command *command, const char *text)
{
    cr_assert_eq(command->count, strlen(text));
    cr_assert_eq(memcmp(command->bytes, text, command->count), 0);
}

Test(redis_command, is_an_array_of_bulk_strings_and_takes_the_place_of_the_one_before)
{
    struct storage_redis_command command = {0};
    const struct span set[] = {span_text("SET"), span_text("session:12"), SPAN_EMPTY};
    const struct span del[] = {span_text("DEL"), span_of("a\0\r\n", 4)};

    cr_assert_eq(storage_redis_command_write(&command, set, 3), RESULT_OK);
    expect(&command, "*3\r\n$3\r\nSET\r\n$10\r\nsession:12\r\n$0\r\n\r\n");
    cr_assert_eq(storage_redis_command_write(&command, del, 2), RESULT_OK);
    cr_assert_eq(command.count, 4u + 9 + 10);
    cr_assert_eq(memcmp(command.bytes, "*2\r\n$3\r\nDEL\r\n$4\r\na\0\r\n\r\n", command.count), 0);
    storage_redis_command_release(&command);
    storage_redis_command_release(&command);
}

Test(redis_command, of_a_large_value_is_whole_and_its_room_is_given_back)
{
    struct storage_redis_command command = {0};
    static char value[1000000];
    memset(value, 'v', sizeof value);
    const struct span set[] = {span_text("SET"), span_text("k"), span_of(value, sizeof value)};

    cr_assert_eq(storage_redis_command_write(&command, set, 3), RESULT_OK);
    static const char head[] = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n";
    cr_assert_eq(command.count, strlen(head) + sizeof value + 2);
    cr_assert_eq(memcmp(command.bytes, head, strlen(head)), 0);
    cr_assert_eq(memcmp(command.bytes + strlen(head), value, sizeof value), 0);
    storage_redis_command_trim(&command);
    cr_assert_eq(command.capacity, 0);
    cr_assert_eq(storage_redis_command_write(&command, set, 2), RESULT_OK);
    storage_redis_command_trim(&command);
    cr_assert_gt(command.capacity, 0);
    storage_redis_command_release(&command);
}

Test(redis_command, that_no_memory_can_hold_is_refused)
{
    struct storage_redis_command command = {0};
    const struct span set[] = {span_text("SET"), {(const uint8_t *)"", SIZE_MAX / 2}};

    cr_assert_eq(storage_redis_command_write(&command, set, 2), RESULT_LIMIT);
    storage_redis_command_release(&command);
}
