//! Names of relations as names of folders, on every system.
//!
//! ASCII letters, digits, `_` and dots stand for themselves. `%C3` stands for a byte. Systems that take `A` and `a` for
//! the same letter, and names that a system keeps for itself, are the reason for the rest.

use std::collections::HashMap;

/// Names that stand for devices on Windows, whatever follows after a dot.
const DEVICES: &[&str] = &["aux", "con", "nul", "prn"];

/// The file beside the folders.
pub const CATALOG: &str = "catalog.json";

/// Names of folders for relations, in their order.
pub fn folders(relations: &[&str]) -> Vec<String> {
    let mut alike: HashMap<String, usize> = HashMap::new();
    relations.iter().for_each(|name| *alike.entry(name.to_lowercase()).or_default() += 1);
    relations.iter().map(|name| folder(name, alike[&name.to_lowercase()] > 1)).collect()
}

/// The folder of a relation; `is_twin` if another name differs in its capital letters alone.
fn folder(name: &str, is_twin: bool) -> String {
    let stays = |byte: u8| {
        byte.is_ascii_digit()
            || byte.is_ascii_lowercase()
            || b"_.".contains(&byte)
            || (byte.is_ascii_uppercase() && !is_twin)
    };
    let is_taken = is_taken(name);
    let escaped = |(at, byte): (usize, u8)| match stays(byte) && !(is_taken && at == 0) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    name.bytes().enumerate().map(escaped).collect()
}

/// Whether a folder cannot have this name.
fn is_taken(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let is_port = port.is_some_and(|number| number.len() == 1 && number.bytes().all(|digit| digit.is_ascii_digit()));
    // Readers such as Spark skip what begins with a dot or an underscore.
    name == CATALOG || DEVICES.contains(&stem) || is_port || name.starts_with(['.', '_'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relation of a folder.
    pub fn relation(folder: &str) -> Option<String> {
        let mut bytes = vec![];
        let mut rest = folder.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'%' => {
                    let digits = [rest.next()?, rest.next()?];
                    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                }
                byte => byte,
            });
        }
        String::from_utf8(bytes).ok()
    }

    #[test]
    fn folders_lead_back_to_relations() {
        let names = ["person", "Person", "é_2", "city.trip", "catalog.json", "con", "COM1.x", "Alone", "straße"];
        let expected = [
            "person",
            "%50erson",
            "%C3%A9_2",
            "city.trip",
            "%63atalog.json",
            "%63on",
            "%43OM1.x",
            "Alone",
            "stra%C3%9Fe",
        ];
        let folders = folders(&names);
        assert_eq!(folders, expected);
        let back: Vec<Option<String>> = folders.iter().map(|folder| relation(folder)).collect();
        assert_eq!(back, names.map(|name| Some(name.to_string())));
        assert_eq!([relation("%4"), relation("%zz"), relation("%ff")], [None, None, None]);
    }
}
