// Package cozo is the database for Go programs, by nothing but cozo_c.h.
package cozo

/*
#include <stdlib.h>

#include "cozo_c.h"
*/
import "C"

import (
	"encoding/json"
	"errors"
	"unsafe"
)

// DB is an open database. Goroutines may share it.
type DB struct{ id C.int32_t }

// Rows are a result.
type Rows struct {
	Headers []string
	Rows    [][]any
	Next    *Rows
}

// Error is what is wrong with a script.
type Error struct {
	Message string
	Code    string
	Display string
}

func (e *Error) Error() string { return e.Message }

// Open opens a database; options is a JSON object.
func Open(engine, path, options string) (*DB, error) {
	e, p, o := C.CString(engine), C.CString(path), C.CString(options)
	defer free(e, p, o)
	var db DB
	if failure := C.cozo_open_db(e, p, o, &db.id); failure != nil {
		return nil, errors.New(take(failure))
	}
	return &db, nil
}

// Close closes the database; false if it was closed before.
func (db *DB) Close() bool { return bool(C.cozo_close_db(db.id)) }

// Run runs a script.
func (db *DB) Run(script string, params map[string]any, immutable bool) (*Rows, error) {
	encoded, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	if params == nil {
		encoded = nil
	}
	s, p := C.CString(script), C.CString(string(encoded))
	defer free(s, p)
	var rows Rows
	return &rows, read(C.cozo_run_query(db.id, s, p, C.bool(immutable)), &rows)
}

// Export gives the contents of relations.
func (db *DB) Export(relations ...string) (map[string]Rows, error) {
	var result struct{ Data map[string]Rows }
	err := db.withJSON(map[string]any{"relations": relations}, &result, func(request *C.char) *C.char {
		return C.cozo_export_relations(db.id, request)
	})
	return result.Data, err
}

// Import puts rows into relations.
func (db *DB) Import(relations map[string]any) error {
	return db.withJSON(relations, nil, func(request *C.char) *C.char {
		return C.cozo_import_relations(db.id, request)
	})
}

// ImportFromBackup puts the rows of relations of a backup into those of the same names.
func (db *DB) ImportFromBackup(path string, relations ...string) error {
	return db.withJSON(map[string]any{"path": path, "relations": relations}, nil, func(request *C.char) *C.char {
		return C.cozo_import_from_backup(db.id, request)
	})
}

// Backup writes everything into a new file.
func (db *DB) Backup(path string) error {
	p := C.CString(path)
	defer free(p)
	return read(C.cozo_backup(db.id, p), nil)
}

// Restore fills an empty database from a backup.
func (db *DB) Restore(path string) error {
	p := C.CString(path)
	defer free(p)
	return read(C.cozo_restore(db.id, p), nil)
}

func (db *DB) withJSON(request, result any, call func(*C.char) *C.char) error {
	encoded, err := json.Marshal(request)
	if err != nil {
		return err
	}
	r := C.CString(string(encoded))
	defer free(r)
	return read(call(r), result)
}

// take copies a string of the library and frees it.
func take(text *C.char) string {
	defer C.cozo_free_str(text)
	return C.GoString(text)
}

func read(answer *C.char, result any) error {
	text := []byte(take(answer))
	var outcome struct {
		Ok bool
		Error
	}
	if err := json.Unmarshal(text, &outcome); err != nil {
		return err
	}
	if !outcome.Ok {
		return &outcome.Error
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(text, result)
}

func free(strings ...*C.char) {
	for _, text := range strings {
		C.free(unsafe.Pointer(text))
	}
}
