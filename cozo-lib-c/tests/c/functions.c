/* Every function: what it gives, and its errors. Arguments: a folder to write to, and an engine. */
#include "check.h"

#define CLOSED "\"message\":\"database closed\""
#define NOT_OK "\"ok\":false"

static void opening(const char *folder) {
    int32_t id = 77;
    EXPECT(cozo_open_db("no such engine", "", "{}", &id), "no such engine");
    EXPECT(cozo_open_db("mem", "", "{", &id), "");
    EXPECT(cozo_open_db("sqlite", "", "{}", &id), "");
    EXPECT(cozo_open_db("sqlite", folder, "{}", &id), "");
    EXPECT(cozo_open_db("m\xff", "", "{}", &id), "'engine' is not UTF-8 encoded");
    EXPECT(cozo_open_db(NULL, "", "{}", &id), "'engine' is a null pointer");
    EXPECT(cozo_open_db("mem", NULL, "{}", &id), "'path' is a null pointer");
    EXPECT(cozo_open_db("mem", "", NULL, &id), "'options' is a null pointer");
    EXPECT(cozo_open_db("mem", "", "{}", NULL), "'db_id' is a null pointer");
    CHECK(id == 77);
    /* The first that opens is 0: those that failed took no number. */
    CHECK(cozo_open_db("mem", "", "", &id) == NULL);
    CHECK(id == 0);
    CHECK(cozo_close_db(id));
    CHECK(!cozo_close_db(id));
    CHECK(!cozo_close_db(-1));
    CHECK(!cozo_close_db(12345));
    EXPECT(cozo_warnings(id), CLOSED);
    for (int32_t expected = 1; expected < 10; expected++) {
        CHECK(open_db("mem", "") == expected);
        EXPECT(cozo_warnings(expected), "{\"ok\":true,\"warnings\":[]}");
        CHECK(cozo_close_db(expected));
    }
}

static void queries(int32_t db) {
    EXPECT(cozo_run_query(db, "?[x] := x in [1, 2]", "{}", true), "\"rows\":[[1],[2]]");
    EXPECT(cozo_run_query(db, "?[x] := x in [1, 2]", "", true), "\"headers\":[\"x\"]");
    EXPECT(cozo_run_query(db, "?[x] := x = 1", "{}", true), "\"next\":null");
    EXPECT(cozo_run_query(db, "?[x] := x = 1", "{}", true), "\"ok\":true");
    EXPECT(cozo_run_query(db, "?[x] := x = 1", "{}", true), "\"took\":");
    EXPECT(cozo_run_query(db, "?[x] := x = $a", "{\"a\": {\"b\": [null, 1.0, \"\xc3\xbc\"]}}", true),
           "[[{\"b\":[null,1.0,\"\xc3\xbc\"]}]]");
    EXPECT(cozo_run_query(db, "?[x] := x = \"a\\u0000b\"", "{}", true), "a\\u0000b");
    EXPECT(cozo_run_query(db, "{?[a] := a = 1} {?[b] := b = 2}", "{}", true), "\"rows\":[[2]]");

    EXPECT(cozo_run_query(db, "?[k, v] <- [[1, 'x'], [2, 'y']] :create r {k => v}", "{}", false), "\"ok\":true");
    EXPECT(cozo_run_query(db, "?[v] := *r[2, v]", "{}", true), "[[\"y\"]]");
    EXPECT(cozo_run_query(db, "?[k, v] <- [[3, 'z']] :put r {k => v}", "{}", true), NOT_OK);
    EXPECT(cozo_run_query(db, "?[k] := *r[k, v], v = 'z'", "{}", true), "\"rows\":[]");

    EXPECT(cozo_run_query(db, "?[x] := *nope[x]", "{}", true), "\"code\":\"query::relation_not_found\"");
    EXPECT(cozo_run_query(db, "?[x", "{}", true), "\"severity\":\"error\"");
    EXPECT(cozo_run_query(db, "?[x] := x = 1", "[1]", true), "params argument is not a JSON map");
    EXPECT(cozo_run_query(db, "?[x] := x = 1", "{", true), "params argument is not a JSON map");
    static char deep[100000];
    memset(deep, '[', sizeof deep - 1);
    memcpy(deep, "{\"x\": ", 6);
    EXPECT(cozo_run_query(db, "?[x] := x = $x", deep, true), "recursion limit exceeded");
    EXPECT(cozo_import_relations(db, deep), NOT_OK);
    EXPECT(cozo_export_relations(db, deep), NOT_OK);
    EXPECT(cozo_import_from_backup(db, deep), NOT_OK);
    EXPECT(cozo_run_query(db, "\xc3(", "{}", true), "'script' is not UTF-8 encoded");
    EXPECT(cozo_run_query(db, "?[x] := x = 1", "{\"\xff\": 1}", true), "'params' is not UTF-8 encoded");
    EXPECT(cozo_run_query(db, NULL, "{}", true), "'script' is a null pointer");
    EXPECT(cozo_run_query(db, "?[x] := x = 1", NULL, true), "'params' is a null pointer");
    EXPECT(cozo_run_query(4321, "?[x] := x = 1", "{}", true), "{\"message\":\"database closed\",\"ok\":false}");
    EXPECT(cozo_run_query(-1, "?[x] := x = 1", "{}", true), CLOSED);
}

static void transfers(int32_t db) {
    EXPECT(cozo_import_relations(db, "{\"r\": {\"headers\": [\"v\", \"k\"], \"rows\": [[\"new\", 5]]}}"), "{\"ok\":true}");
    EXPECT(cozo_export_relations(db, "{\"relations\": [\"r\"]}"), "\"rows\":[[1,\"x\"],[2,\"y\"],[5,\"new\"]]");
    EXPECT(cozo_import_relations(db, "{\"-r\": {\"headers\": [\"k\"], \"rows\": [[5]]}}"), "{\"ok\":true}");
    EXPECT(cozo_export_relations(db, "{\"relations\": [\"r\"]}"),
           "{\"data\":{\"r\":{\"headers\":[\"k\",\"v\"],\"next\":null,\"rows\":[[1,\"x\"],[2,\"y\"]]}},\"ok\":true}");
    EXPECT(cozo_export_relations(db, "{\"relations\": []}"), "\"data\":{}");

    EXPECT(cozo_import_relations(db, "{\"nope\": {\"headers\": [], \"rows\": []}}"), NOT_OK);
    EXPECT(cozo_import_relations(db, "{\"r\": {\"headers\": [\"k\"], \"rows\": [[9]]}}"), NOT_OK);
    EXPECT(cozo_import_relations(db, "not JSON"), NOT_OK);
    EXPECT(cozo_import_relations(db, NULL), "'json' is a null pointer");
    EXPECT(cozo_import_relations(db, "\xff"), "'json' is not UTF-8 encoded");
    EXPECT(cozo_import_relations(4321, "{}"), CLOSED);
    EXPECT(cozo_export_relations(db, "{\"relations\": [\"nope\"]}"), NOT_OK);
    EXPECT(cozo_export_relations(db, "{}"), NOT_OK);
    EXPECT(cozo_export_relations(db, NULL), "'json' is a null pointer");
    EXPECT(cozo_export_relations(db, "\xff"), "'json' is not UTF-8 encoded");
    EXPECT(cozo_export_relations(4321, "{\"relations\": []}"), CLOSED);
}

static void backups(int32_t db, const char *folder) {
    char file[4096], request[5000];
    snprintf(file, sizeof file, "%s/backup-%d.db", folder, (int)db);
    EXPECT(cozo_backup(db, file), "{\"ok\":true}");
    EXPECT(cozo_backup(db, file), NOT_OK);
    EXPECT(cozo_backup(db, ""), NOT_OK);
    EXPECT(cozo_backup(db, NULL), "'path' is a null pointer");
    EXPECT(cozo_backup(db, "\xff"), "'path' is not UTF-8 encoded");
    EXPECT(cozo_backup(4321, file), CLOSED);

    int32_t other = open_db("mem", "");
    EXPECT(cozo_restore(other, "/no/such/file"), NOT_OK);
    EXPECT(cozo_restore(other, NULL), "'path' is a null pointer");
    EXPECT(cozo_restore(other, "\xff"), "'path' is not UTF-8 encoded");
    EXPECT(cozo_restore(4321, file), CLOSED);
    EXPECT(cozo_restore(other, file), "{\"ok\":true}");
    EXPECT(cozo_restore(other, file), NOT_OK);
    EXPECT(cozo_run_query(other, "?[v] := *r[1, v]", "{}", true), "[[\"x\"]]");

    EXPECT(cozo_run_query(other, "?[k] <- [[1], [2]] :rm r {k}", "{}", false), "\"ok\":true");
    snprintf(request, sizeof request, "{\"path\": \"%s\", \"relations\": [\"r\"]}", file);
    EXPECT(cozo_import_from_backup(other, request), "{\"ok\":true}");
    EXPECT(cozo_run_query(other, "?[count(k)] := *r[k, _]", "{}", true), "[[2]]");
    snprintf(request, sizeof request, "{\"path\": \"%s\", \"relations\": [\"nope\"]}", file);
    EXPECT(cozo_import_from_backup(other, request), NOT_OK);
    EXPECT(cozo_import_from_backup(other, "{}"), NOT_OK);
    EXPECT(cozo_import_from_backup(other, NULL), "'json' is a null pointer");
    EXPECT(cozo_import_from_backup(other, "\xff"), "'json' is not UTF-8 encoded");
    EXPECT(cozo_import_from_backup(4321, request), CLOSED);
    CHECK(cozo_close_db(other));

    /* A backup is a database. */
    int32_t opened = open_db("sqlite", file);
    EXPECT(cozo_run_query(opened, "?[v] := *r[1, v]", "{}", true), "[[\"x\"]]");
    CHECK(cozo_close_db(opened));
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    const char *folder = argv[1], *engine = argv[2];
    char path[4096];
    snprintf(path, sizeof path, "%s/database-%s", folder, engine);
    cozo_free_str(NULL);
    opening(folder);
    int32_t db = open_db(engine, path);
    queries(db);
    transfers(db);
    backups(db, folder);
    CHECK(cozo_close_db(db));
    EXPECT(cozo_run_query(db, "?[x] := x = 1", "{}", true), CLOSED);
    if (strcmp(engine, "mem") != 0) {
        /* Closing released the files, and the rows are there. */
        int32_t again = open_db(engine, path);
        CHECK(again > db);
        EXPECT(cozo_run_query(again, "?[v] := *r[2, v]", "{}", true), "[[\"y\"]]");
        CHECK(cozo_close_db(again));
    }
    puts("all as it should be");
    return 0;
}
