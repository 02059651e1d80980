#include <criterion/criterion.h>
#include <stdlib.h>

#include "tools/strider/verb.h"

static int run_nothing(const struct cli_arguments *arguments)
{
    (void)arguments;
    return CLI_DONE;
}

static const struct cli_option options[] = {
    {"name", "TEXT", "a name;\nit has two lines"},
    {"loud", NULL, "a flag"},
    {"a-very-long-option", "WITH-A-LONG-VALUE", "below"},
    {0},
};

static const struct cli_verb verb = {.name = "greet",
                                     .summary = "Says hello",
                                     .operands = "WHOM [WHO]",
                                     .operands_min = 1,
                                     .operands_max = 2,
                                     .options = options,
                                     .run = run_nothing};

#define PARSE(...) parse((const char *[]){"greet", __VA_ARGS__, NULL})

static struct cli_arguments arguments;
static bool help;

/* getopt reorders the array, and leaves the texts alone. */
static int parse(const char **argv)
{
    int argc = 0;
    while (argv[argc] != NULL) {
        argc++;
    }
    return cli_verb_parse(&verb, argc, (char **)argv, &arguments, &help);
}

Test(verb, reads_options_in_every_spelling_and_operands_between_them)
{
    cr_assert_eq(PARSE("--name", "a", "you", "--name=b", "--loud", "--", "--me"), CLI_DONE);

    cr_assert_eq(arguments.operand_count, 2u);
    cr_expect_str_eq(arguments.operands[0], "you");
    cr_expect_str_eq(arguments.operands[1], "--me");
    cr_expect_str_eq(cli_option_nth(&arguments, "name", 0), "a");
    cr_expect_str_eq(cli_option_nth(&arguments, "name", 1), "b");
    cr_expect_null(cli_option_nth(&arguments, "name", 2));
    cr_expect_str_eq(cli_option_value(&arguments, "name"), "b");
    cr_expect(cli_option_flag(&arguments, "loud"));
    cr_expect_null(cli_option_value(&arguments, "a-very-long-option"));
}

Test(verb, asks_for_help_by_either_name)
{
    cr_assert_eq(PARSE("--help"), CLI_DONE);
    cr_expect(help);
    cr_assert_eq(PARSE("-h"), CLI_DONE);
    cr_expect(help);
    cr_assert_eq(PARSE("you"), CLI_DONE);
    cr_expect_not(help);
}

Test(verb, words_each_usage_error_in_one_line)
{
    char *said = NULL;
    size_t count = 0;
    FILE *terminal = stderr;
    stderr = open_memstream(&said, &count); /* glibc lets us */
    cr_expect_eq(PARSE("you", "--nam"), CLI_USAGE);
    cr_expect_eq(PARSE("you", "--lood"), CLI_USAGE);
    cr_expect_eq(PARSE("you", "-x"), CLI_USAGE);
    cr_expect_eq(PARSE("you", "--loud=5"), CLI_USAGE);
    cr_expect_eq(PARSE("--loud"), CLI_USAGE);
    cr_expect_eq(PARSE("a", "b", "c"), CLI_USAGE);
    fclose(stderr);
    stderr = terminal;

    cr_expect_str_eq(
        said,
        "strider greet: option \"--nam\" needs a value (strider greet --help)\n"
        "strider greet: no option \"--lood\"; did you mean \"--loud\"? (strider greet --help)\n"
        "strider greet: option \"-x\" is not understood (strider greet --help)\n"
        "strider greet: option \"--loud\" takes no value (strider greet --help)\n"
        "strider greet: usage: strider greet [OPTION…] WHOM [WHO]\n"
        "strider greet: \"c\" is one argument too many (strider greet --help)\n",
        "%s", said);
    free(said);
}

Test(verb, help_shows_all_of_the_table)
{
    char *text = NULL;
    size_t count = 0;
    FILE *stream = open_memstream(&text, &count);
    cli_verb_help(&verb, stream);
    fclose(stream);

    cr_expect_str_eq(text, "usage: strider greet [OPTION…] WHOM [WHO]\n"
                           "\n"
                           "Says hello.\n"
                           "\n"
                           "  --name TEXT               a name;\n"
                           "                            it has two lines\n"
                           "  --loud                    a flag\n"
                           "  --a-very-long-option WITH-A-LONG-VALUE\n"
                           "                            below\n"
                           "  --help                    this text\n");
    free(text);
}

Test(verb, nearest_is_silent_about_what_is_far)
{
    static const char *const names[] = {"start", "restart", "stats"};
    cr_expect_str_eq(cli_nearest("strat", names, 3, sizeof(names[0])), "start");
    cr_expect_str_eq(cli_nearest("stat", names, 3, sizeof(names[0])), "start");
    cr_expect_null(cli_nearest("deploy", names, 3, sizeof(names[0])));
    static const char *const options[] = {"json", "token"};
    cr_expect_null(cli_nearest("reason", options, 2, sizeof(options[0])));
    cr_expect_str_eq(cli_nearest("jsno", options, 2, sizeof(options[0])), "json");
}
