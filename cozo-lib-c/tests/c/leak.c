/* Forgets to free an answer: what the check for leaks must find. */
#include "check.h"

int main(void) {
    int32_t db = open_db("mem", "");
    char *answer = cozo_run_query(db, "?[x] := x = 1", "{}", true);
    CHECK(answer != NULL);
    answer = NULL;
    CHECK(cozo_close_db(db));
    return 0;
}
