//! `cozo_c.h` is what `src/lib.rs` says. `make header` writes it anew.

use std::path::Path;
use std::process::Command;

use super::support::{root, run};

#[test]
fn the_header_is_current() {
    let path = root().join("cozo_c.h");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("header");
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--locked", "--manifest-path"]).arg(root().join("header/Cargo.toml"));
    let header = run(command.arg("--target-dir").arg(target));
    let committed = std::fs::read_to_string(&path).expect("the header can be read");
    assert!(committed == header, "cozo_c.h is not what src/lib.rs says: run `make header`");
}

#[test]
fn the_header_has_the_agreed_functions() {
    let header = include_str!("../../cozo_c.h").split_whitespace().collect::<Vec<_>>().join(" ");
    for declaration in [
        "char *cozo_open_db(const char *engine, const char *path, const char *options, int32_t *db_id);",
        "char *cozo_warnings(int32_t id);",
        "bool cozo_close_db(int32_t id);",
        "char *cozo_run_query(int32_t id, const char *script, const char *params, bool immutable_query);",
        "char *cozo_import_relations(int32_t id, const char *json);",
        "char *cozo_export_relations(int32_t id, const char *json);",
        "char *cozo_backup(int32_t id, const char *path);",
        "char *cozo_restore(int32_t id, const char *path);",
        "char *cozo_import_from_backup(int32_t id, const char *json);",
        "void cozo_free_str(char *s);",
    ] {
        assert!(header.contains(declaration), "{declaration}");
    }
}
