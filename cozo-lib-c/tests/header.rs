//! `cozo_c.h` is what `src/lib.rs` says. `make header` writes it anew.

use std::path::Path;

#[test]
fn the_header_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new().with_config(config).with_src(root.join("src/lib.rs")).generate().unwrap();
    let mut header = vec![];
    bindings.write(&mut header);
    let header = String::from_utf8(header).unwrap();
    let path = root.join("cozo_c.h");
    if std::env::var_os("COZO_BLESS_HEADER").is_some() {
        std::fs::write(&path, &header).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == header, "cozo_c.h is not what src/lib.rs says: run `make header`");
}

#[test]
fn the_header_has_the_agreed_functions() {
    let header = include_str!("../cozo_c.h").split_whitespace().collect::<Vec<_>>().join(" ");
    for declaration in [
        "char *cozo_open_db(const char *engine, const char *path, const char *options, int32_t *db_id);",
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
