/* A program that ends with open databases, while other threads use them. Arguments: a folder to write to, an engine, and
   whether to look at what the last program has left. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int32_t db;

static void *query_for_ever(void *argument) {
    (void)argument;
    for (;;) cozo_free_str(cozo_run_query(db, "n[x] := x = 0  n[x] := n[y], x = y + 1  ?[x] := n[x], x < 0", "", true));
    return NULL;
}

static void *write_for_ever(void *argument) {
    for (int i = 0;; i++) {
        char params[100];
        snprintf(params, sizeof params, "{\"t\": %d, \"i\": %d}", (int)(intptr_t)argument, i);
        cozo_free_str(cozo_run_query(db, "?[t, i] <- [[$t, $i]] :put r {t, i}", params, false));
    }
    return NULL;
}

static void last(void) { EXPECT(cozo_run_query(db, "?[i] := *r[-1, i]", "", true), "\"rows\":[[1]]"); }

int main(int argc, char **argv) {
    CHECK(argc == 4);
    char path[4096];
    snprintf(path, sizeof path, "%s/database-%s", argv[1], argv[2]);
    db = open_db(argv[2], path);
    if (strcmp(argv[3], "look") == 0) {
        EXPECT(cozo_run_query(db, "?[i] := *r[-1, i]", "", true), "\"rows\":[[1]]");
        puts("all as it should be");
        return 0;
    }
    EXPECT(cozo_run_query(db, "?[t, i] <- [[-1, 1]] :create r {t, i}", "", false), "\"ok\":true");
    /* A function that the program registers after it has opened the database still has it. */
    CHECK(atexit(last) == 0);
    pthread_t thread;
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&thread, NULL, query_for_ever, NULL) == 0);
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&thread, NULL, write_for_ever, (void *)(intptr_t)i) == 0);
    nanosleep(&(struct timespec){0, 50 * 1000 * 1000}, NULL);
    puts("all as it should be");
    return 0;
}
