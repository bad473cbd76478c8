//! Files of CozoDB 0.7 that are damaged: a restore gives what is in them or an error, never a part without a word, and leaves them as
//! they are.

use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::child::older_file;
use super::damage::Damage;
use super::examine::{Found, Question};
use super::lab::{Lab, number};
use super::model::State;

/// The files.
const SAMPLES: &[&str] = &["types", "catalog", "bulk", "odd"];

/// Restores damaged files.
pub fn try_all() {
    let mut lab = Lab::new("damage-older");
    let count = number("COZO_DAMAGES", 100);
    let mut random = StdRng::seed_from_u64(number("COZO_FAULTS_SEED", 1));
    for sample in SAMPLES {
        let bytes = std::fs::read(older_file(sample)).unwrap();
        let whole = restore(&mut lab, &bytes, sample).expect("a file that is whole can be restored");
        assert!(whole.refusal.is_none(), "{sample}: {:?}", whole.refusal);
        for _ in 0..count / SAMPLES.len() as u64 {
            let damage = draw(&bytes, &mut random);
            let damaged = damage.of(&bytes).expect("it is not deleted");
            let context = format!("{sample} of CozoDB 0.7: {damage}");
            if let Some(found) = restore(&mut lab, &damaged, &context) {
                judge(&mut lab, &found, &whole.state(), &damage, &context);
            }
        }
    }
    lab.report();
}

fn draw(bytes: &[u8], random: &mut StdRng) -> Damage {
    let offset = random.random_range(0..bytes.len());
    match random.random_range(0..4) {
        0 => Damage::Truncate(offset),
        1 => Damage::zero(offset),
        2 => Damage::Append(vec![7; random.random_range(1..5000)]),
        _ => Damage::Flip { offset, bit: random.random_range(0..8) },
    }
}

/// What a new database holds that is filled from a file of these bytes.
fn restore(lab: &mut Lab, bytes: &[u8], context: &str) -> Option<Found> {
    let path = lab.new_folder().join("older.db");
    std::fs::write(&path, bytes).unwrap();
    let found = lab.examiner.ask(&Question::Backup { path: path.clone() });
    if std::fs::read(&path).unwrap() != bytes {
        lab.find("a file of CozoDB 0.7 was changed", context, "");
    }
    remove(path.parent().expect("it lies in a folder"));
    found.map_err(|end| lab.find("the process that restores it ends", context, &end)).ok()
}

fn remove(folder: &Path) {
    std::fs::remove_dir_all(folder).unwrap();
}

fn rows(state: &State) -> usize {
    state.values().map(|relation| relation.rows.len()).sum()
}

fn judge(lab: &mut Lab, found: &Found, whole: &State, damage: &Damage, context: &str) {
    if !found.complaints.is_empty() {
        lab.find("a restore goes wrong", context, &found.complaints.join("\n"));
    }
    let (rows, expected) = (rows(&found.state()), rows(whole));
    let outcome = match (&found.refusal, damage) {
        (Some(_), _) => "refused",
        (None, _) if rows == expected => "restored",
        (None, Damage::Flip { .. } | Damage::Zero(_)) => "some rows: SQLite has no checksums",
        _ => return lab.find("a part is restored without a word", context, &format!("{rows} of {expected} rows")),
    };
    *lab.done.entry(outcome.to_string()).or_default() += 1;
}
