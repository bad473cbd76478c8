/*
 * The cozo database for C. Made by `make header` of cozo-lib-c/src/lib.rs: edit that.
 *
 * Strings are NUL-terminated UTF-8. Those given to a function are only read, and only until it returns. Each one that a
 * function returns belongs to the caller, who frees it exactly once, with cozo_free_str and nothing else.
 *
 * Databases have numbers, in this process from 0 on; a number is never used again. Any thread may use any database at any
 * time, and may close one that others use.
 *
 * Errors are what a function returns: plain text from cozo_open_db, JSON with "ok": false and a "message" from the others.
 * A null pointer or text that is not UTF-8 is such an error, and so is a defect inside the library. A database that is not
 * open answers {"ok": false, "message": "database closed"}. No function ends the process or throws.
 */

#ifndef COZO_C_H
#define COZO_C_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Opens a database.

 `engine` is "mem", which keeps everything in memory, "sqlite" or, where the library was built with it, "rocksdb".
 `path` is the file of "sqlite" or the directory of "rocksdb"; "mem" ignores it.
 `options` is a JSON object; empty text and "{}" stand for none.

 Returns NULL on success: `*db_id` is then the number of the database. Otherwise returns what is wrong as plain text,
 which is not JSON, and leaves `*db_id` alone. The caller frees the text with `cozo_free_str`.

 # Safety

 `db_id` is NULL or points to an `int32_t`; the strings are NULL or NUL-terminated.
 */
char *cozo_open_db(const char *engine, const char *path, const char *options, int32_t *db_id);

/*
 Tells what is missing of a database, such as commits in a log that was damaged while it was closed.

 Returns {"ok": true, "warnings": [text, ...]}, which has no texts as a rule, or {"ok": false, "message": text, ...};
 the caller frees it with `cozo_free_str`.
 */
char *cozo_warnings(int32_t id);

/*
 Closes a database. Queries of it that other threads run are stopped; its files are released when the last call that
 uses it has returned. A program that ends by `exit` or by the end of `main` closes what is open.

 Returns true if it was open. In a process that was forked from the one that opened it, returns false and does nothing.
 */
bool cozo_close_db(int32_t id);

/*
 Runs a script.

 `params` are its parameters as a JSON object; empty text and "{}" stand for none.
 With `immutable_query`, the script must not write.

 Returns JSON, which the caller frees with `cozo_free_str`:
 {"ok": true, "headers": [...], "rows": [[...], ...], "next": null or a further {"headers", "rows", "next"}, "took": seconds}
 or, with `code` and `help` where they are known and offsets in bytes,
 {"ok": false, "message": text, "severity": "error", "display": text with colours for terminals, "causes": [text, ...],
  "labels": [{"label", "span": {"offset", "length"}}, ...], "related": [], "filename": "", "code", "help"}

 # Safety

 The strings are NULL or NUL-terminated.
 */
char *cozo_run_query(int32_t id,
                     const char *script,
                     const char *params,
                     bool immutable_query);

/*
 Puts rows into relations, or removes them where the name begins with '-': all of them or, after an error, none.

 `json` is {"relation": {"headers": [...], "rows": [[...], ...]}, ...}. Every column of a relation must be among the
 headers (for removal, every key column); triggers do not run.

 Returns {"ok": true} or {"ok": false, "message": text, ...}; the caller frees it with `cozo_free_str`.

 # Safety

 The string is NULL or NUL-terminated.
 */
char *cozo_import_relations(int32_t id, const char *json);

/*
 Gives the contents of relations, all as of one moment.

 `json` is {"relations": ["name", ...]}.

 Returns {"ok": true, "data": {"name": {"headers": [...], "rows": [[...], ...], "next": null}, ...}} or
 {"ok": false, "message": text, ...}; the caller frees it with `cozo_free_str`.

 # Safety

 The string is NULL or NUL-terminated.
 */
char *cozo_export_relations(int32_t id, const char *json);

/*
 Writes everything, as of one moment, into a new file, which is a database of the engine "sqlite".

 Returns {"ok": true} or {"ok": false, "message": text, ...}; the caller frees it with `cozo_free_str`.

 # Safety

 The string is NULL or NUL-terminated.
 */
char *cozo_backup(int32_t id, const char *path);

/*
 Fills a database that has no relations from a backup. After an error nothing has changed.

 Returns {"ok": true} or {"ok": false, "message": text, ...}; the caller frees it with `cozo_free_str`.

 # Safety

 The string is NULL or NUL-terminated.
 */
char *cozo_restore(int32_t id, const char *path);

/*
 Puts the rows of some relations of a backup into the relations of the same names: all of them or, after an error, none.

 `json` is {"path": "file", "relations": ["name", ...]}.

 Returns {"ok": true} or {"ok": false, "message": text, ...}; the caller frees it with `cozo_free_str`.

 # Safety

 The string is NULL or NUL-terminated.
 */
char *cozo_import_from_backup(int32_t id, const char *json);

/*
 Frees a string that a function of this library returned; NULL is fine.

 # Safety

 The string comes from this library and was not freed before.
 */
void cozo_free_str(char *s);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* COZO_C_H */
