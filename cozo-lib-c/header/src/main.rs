//! Writes to stdout the header of the C library, made of the functions in its `lib.rs`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Asked when it runs: checkouts that share a target directory share this program, too.
    let Some(here) = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from) else {
        eprintln!("run this with `cargo run`, which says where its files are");
        return ExitCode::FAILURE;
    };
    let made = cbindgen::Config::from_file(here.join("cbindgen.toml")).and_then(|config| {
        let builder = cbindgen::Builder::new().with_config(config).with_src(here.join("../src/lib.rs"));
        builder.generate().map_err(|error| error.to_string())
    });
    match made {
        Ok(bindings) => {
            bindings.write(std::io::stdout());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
