/* What the C programs of the tests share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cozo_c.h"

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

/* The answer has the text in it; frees the answer. */
#define EXPECT(answer, part) expect(__FILE__, __LINE__, answer, part)

static inline void expect(const char *file, int line, char *answer, const char *part) {
    if (answer == NULL || strstr(answer, part) == NULL) {
        fprintf(stderr, "%s:%d: expected %s in %s\n", file, line, part, answer ? answer : "NULL");
        exit(1);
    }
    cozo_free_str(answer);
}

static inline int32_t open_db(const char *engine, const char *path) {
    int32_t id = -1;
    char *error = cozo_open_db(engine, path, "{}", &id);
    if (error != NULL) {
        fprintf(stderr, "%s %s: %s\n", engine, path, error);
        exit(1);
    }
    CHECK(id >= 0);
    return id;
}
