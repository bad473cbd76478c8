/* Threads share databases, open and close them, and close what others use. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 8, ROUNDS = 50 };

static int32_t shared;
static int32_t opened[THREADS][ROUNDS];

static void *write_rows(void *argument) {
    int number = (int)(intptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        char params[100];
        snprintf(params, sizeof params, "{\"t\": %d, \"i\": %d}", number, i);
        EXPECT(cozo_run_query(shared, "?[t, i] <- [[$t, $i]] :put r {t, i}", params, false), "\"ok\":true");
        EXPECT(cozo_run_query(shared, "?[i] := *r[$t, i], i = $i", params, true), "\"ok\":true");
        opened[number][i] = open_db("mem", "");
        EXPECT(cozo_run_query(opened[number][i], "?[a] <- [[1]] :create own {a}", "", false), "\"ok\":true");
        CHECK(cozo_close_db(opened[number][i]));
    }
    return NULL;
}

static void *count_without_end(void *argument) {
    (void)argument;
    EXPECT(cozo_run_query(shared, "n[x] := x = 0  n[x] := n[y], x = y + 1  ?[x] := n[x], x < 0", "", true), "\"ok\":false");
    EXPECT(cozo_run_query(shared, "?[x] := x = 1", "", true), "database closed");
    return NULL;
}

static int compare(const void *a, const void *b) { return *(const int32_t *)a - *(const int32_t *)b; }

int main(void) {
    pthread_t threads[THREADS];
    shared = open_db("mem", "");
    EXPECT(cozo_run_query(shared, ":create r {t, i}", "{}", false), "\"ok\":true");
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, write_rows, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    EXPECT(cozo_run_query(shared, "?[count(i)] := *r[t, i]", "{}", true), "[[400]]");

    /* No number was given out twice. */
    qsort(opened, THREADS * ROUNDS, sizeof(int32_t), compare);
    const int32_t *ids = &opened[0][0];
    for (int i = 0; i < THREADS * ROUNDS; i++) CHECK(ids[i] != shared && (i == 0 || ids[i - 1] < ids[i]));

    /* Closing stops what runs. */
    pthread_t endless;
    CHECK(pthread_create(&endless, NULL, count_without_end, NULL) == 0);
    bool runs = false;
    while (!runs) {
        char *running = cozo_run_query(shared, "::running", "{}", true);
        CHECK(running != NULL);
        runs = strstr(running, "],[") != NULL;
        cozo_free_str(running);
    }
    CHECK(cozo_close_db(shared));
    CHECK(pthread_join(endless, NULL) == 0);
    puts("all as it should be");
    return 0;
}
