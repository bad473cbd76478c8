/*
 * Who is reached from Ann, and after how many steps.
 *
 *     cargo build --package cozo-lib-c
 *     cc -I cozo-lib-c cozo-lib-c/examples/example.c -L target/debug -lcozo_c -Wl,-rpath,target/debug -o example
 *     ./example
 */
#include <stdio.h>
#include <string.h>

#include "cozo_c.h"

/* Runs a script, and prints what it gives. Returns 0 if it succeeded. */
static int run(int32_t db, const char *script, const char *params) {
    char *result = cozo_run_query(db, script, params, false);
    int failed = strstr(result, "\"ok\":true") == NULL;
    puts(result);
    cozo_free_str(result);
    return failed;
}

int main(void) {
    int32_t db;
    char *error = cozo_open_db("mem", "", "{}", &db);
    if (error != NULL) {
        fprintf(stderr, "%s\n", error);
        cozo_free_str(error);
        return 1;
    }
    int failed =
        run(db, "?[fr, to] <- [['Ann', 'Bea'], ['Bea', 'Cid'], ['Cid', 'Dot']] :create follows {fr, to}", "{}") ||
        run(db,
            "reach[x, min(steps)] := *follows{fr: $start, to: x}, steps = 1\n"
            "reach[x, min(steps)] := reach[y, n], *follows{fr: y, to: x}, steps = n + 1\n"
            "?[who, steps] := reach[who, steps]",
            "{\"start\": \"Ann\"}");
    cozo_close_db(db);
    return failed;
}
