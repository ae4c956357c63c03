/* Out: the JSON Schema of specs on stdout, generated from ir/op.def's tables. */
#include "ir/read/schema.h"
#include "runtime/cli/cli.h"

static void print_schema(void *argument)
{
    fputs(schema_json(argument), stdout);
}

int command_schema_main(const cli_options *o)
{
    (void)o;
    arena *a = arena_new();
    return cli_run(print_schema, a, a);
}
