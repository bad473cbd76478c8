//! What other systems need to measure the same cases: sizes and answers as JSON, the social network as CSV. All other
//! data they make from the formulas of [`generate`](super::generate).

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::json;

use super::queries::Case;
use super::{Inputs, Scale, Sizes, network};

/// Writes `spill.json` with the scale, the limit in megabytes, the sizes, and the answer of each case, and `friends.csv`
/// and `start.csv` with headers, into a folder, which is made if need be.
pub fn write(
    scale: Scale,
    limit_mb: u64,
    inputs: &Inputs,
    answers: &[(&Case, &[i64])],
    folder: &Path,
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let Sizes { facts, rows, components, ring, joined, .. } = inputs.sizes;
    let answers: serde_json::Map<_, _> =
        answers.iter().map(|(case, answer)| (case.name.to_string(), json!(answer))).collect();
    let about = json!({
        "scale": scale.0, "limit_mb": limit_mb, "answers": answers,
        "sizes": { "facts": facts, "rows": rows, "components": components, "ring": ring, "joined": joined },
    });
    fs::write(folder.join("spill.json"), about.to_string())?;
    if answers_have_network(&about) {
        write_csv(&folder.join("friends.csv"), "fr,to", network::friends(inputs)?)?;
        write_csv(&folder.join("start.csv"), "user", network::start_users(inputs)?)?;
    }
    Ok(())
}

/// Whether a case is asked that needs the social network.
fn answers_have_network(about: &serde_json::Value) -> bool {
    about["answers"].get("distinct").is_some()
}

fn write_csv<const N: usize>(path: &Path, head: &str, rows: impl Iterator<Item = [u64; N]>) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "{head}")?;
    for row in rows {
        writeln!(file, "{}", row.map(|number| number.to_string()).join(","))?;
    }
    file.flush()
}
