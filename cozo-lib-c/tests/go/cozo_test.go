package cozo

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
)

func open(t *testing.T) *DB {
	db, err := Open("mem", "", "{}")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func mustRun(t *testing.T, db *DB, script string, params map[string]any) *Rows {
	t.Helper()
	rows, err := db.Run(script, params, false)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestScripts(t *testing.T) {
	db := open(t)
	mustRun(t, db, "?[k, v] <- $rows :create r {k => v}", map[string]any{"rows": [][]any{{1, "x"}, {2, "ü"}}})
	rows := mustRun(t, db, "?[k, v] := *r[k, v]", nil)
	if !reflect.DeepEqual(rows.Headers, []string{"k", "v"}) || !reflect.DeepEqual(rows.Rows, [][]any{{1.0, "x"}, {2.0, "ü"}}) {
		t.Fatal(rows)
	}
	if _, err := db.Run("?[k] <- [[3]] :put r {k => v: 'z'}", nil, true); err == nil {
		t.Fatal("an immutable script has written")
	}
}

func TestErrors(t *testing.T) {
	db := open(t)
	_, err := db.Run("?[x] := *nope[x]", nil, true)
	var failure *Error
	if !errors.As(err, &failure) || failure.Code != "query::relation_not_found" || failure.Display == "" {
		t.Fatal(err)
	}
	if _, err := Open("nope", "", ""); err == nil {
		t.Fatal("opened an engine that does not exist")
	}
	if !db.Close() || db.Close() {
		t.Fatal("a database closes once")
	}
	if _, err := db.Run("?[x] := x = 1", nil, true); err == nil || err.Error() != "database closed" {
		t.Fatal(err)
	}
}

func TestTransfers(t *testing.T) {
	db, other := open(t), open(t)
	mustRun(t, db, ":create r {k => v}", nil)
	data := map[string]any{"r": map[string]any{"headers": []string{"k", "v"}, "rows": [][]any{{1, nil}, {2, []int{3}}}}}
	if err := db.Import(data); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	if err := db.Backup(file); err != nil {
		t.Fatal(err)
	}
	if err := other.Restore(file); err != nil {
		t.Fatal(err)
	}
	mustRun(t, other, "?[k] <- [[1]] :rm r {k}", nil)
	if err := other.ImportFromBackup(file, "r"); err != nil {
		t.Fatal(err)
	}
	exported, err := other.Export("r")
	if err != nil || !reflect.DeepEqual(exported["r"].Rows, [][]any{{1.0, nil}, {2.0, []any{3.0}}}) {
		t.Fatal(exported, err)
	}
	if err := other.ImportFromBackup(file, "nope"); err == nil {
		t.Fatal("imported a relation that does not exist")
	}
}

func TestGoroutines(t *testing.T) {
	db := open(t)
	mustRun(t, db, ":create r {g, i}", nil)
	failures := make(chan error, 400)
	var group sync.WaitGroup
	for g := range make([]int, 20) {
		group.Add(1)
		go func(g int) {
			defer group.Done()
			for i := range make([]int, 20) {
				_, err := db.Run("?[g, i] <- [[$g, $i]] :put r {g, i}", map[string]any{"g": g, "i": i}, false)
				failures <- err
			}
		}(g)
	}
	group.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			t.Fatal(err)
		}
	}
	if rows := mustRun(t, db, "?[count(i)] := *r[g, i]", nil); fmt.Sprint(rows.Rows) != "[[400]]" {
		t.Fatal(rows)
	}
}
