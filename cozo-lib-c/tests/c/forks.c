/* A process that is forked while databases are open. Arguments: a folder to write to, and an engine. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define FORKED "\"code\":\"db::forked\""

static char path[4096];
static int32_t db;

/* Runs something in a forked process, which must end well. */
static void in_child(void (*work)(void)) {
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        work();
        /* By `exit`: what is done at the end of a program is done in a forked one as well. */
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0) fprintf(stderr, "status %d\n", status);
    CHECK(status == 0);
}

static void use(void) {
    EXPECT(cozo_run_query(db, "?[k] := *r[k]", "", true), FORKED);
    EXPECT(cozo_run_query(db, "?[k] <- [[2]] :put r {k}", "{}", false), "\"ok\":false");
    EXPECT(cozo_run_query(db, "?[k] := *r[k]", "", true), "open it anew here");
    EXPECT(cozo_import_relations(db, "{\"r\": {\"headers\": [\"k\"], \"rows\": [[3]]}}"), FORKED);
    EXPECT(cozo_export_relations(db, "{\"relations\": [\"r\"]}"), FORKED);
    EXPECT(cozo_backup(db, "backup"), FORKED);
    EXPECT(cozo_restore(db, "backup"), FORKED);
    EXPECT(cozo_import_from_backup(db, "{}"), FORKED);
    CHECK(!cozo_close_db(db));
    EXPECT(cozo_run_query(db, "?[k] := *r[k]", "", true), FORKED);
    EXPECT(cozo_run_query(db + 1, "?[k] := *r[k]", "", true), "database closed");
}

static void open_another(void) {
    int32_t other = open_db("mem", "");
    CHECK(other > db);
    EXPECT(cozo_run_query(other, "?[k] <- [[1]] :create r {k}", "", false), "\"ok\":true");
    CHECK(cozo_close_db(other));
    /* This one is left open. */
    other = open_db("mem", "");
    EXPECT(cozo_run_query(db, "?[k] := *r[k]", "", true), FORKED);
}

static void end(void) {}

static void open_locked(void) {
    int32_t id;
    char *error = cozo_open_db("sqlite", path, "{}", &id);
    EXPECT(error, "storage::locked");
}

static void open_again(void) {
    int32_t id = open_db("sqlite", path);
    EXPECT(cozo_run_query(id, "?[k] <- [[5]] :put r {k}", "", false), "\"ok\":true");
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    const char *engine = argv[2];
    snprintf(path, sizeof path, "%s/database-%s", argv[1], engine);
    db = open_db(engine, path);
    EXPECT(cozo_run_query(db, "?[k] <- [[1]] :create r {k}", "", false), "\"ok\":true");
    in_child(use);
    in_child(open_another);
    in_child(end);
    if (strcmp(engine, "sqlite") == 0) in_child(open_locked);
    EXPECT(cozo_run_query(db, "?[k] := *r[k]", "", true), "\"rows\":[[1]]");
    CHECK(cozo_close_db(db));
    in_child(end);
    if (strcmp(engine, "sqlite") == 0) {
        in_child(open_again);
        open_again();
    }
    puts("all as it should be");
    return 0;
}
