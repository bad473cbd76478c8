//! Headers that are no names of columns, and what becomes of them.

use std::collections::HashSet;

use super::infer::is_name;
use crate::error::CliError;

/// The columns renamed as the options say: `OLD=NEW,...` for single ones, an empty text for all that are no names.
pub fn apply(headers: &[String], options: &[String]) -> Result<Vec<String>, CliError> {
    let mut names = headers.to_vec();
    for option in options.iter().filter(|option| !option.is_empty()) {
        // A header may have commas in it.
        match pair(headers, option) {
            Some(pair) => rename(&mut names, headers, pair)?,
            None => {
                for part in option.split(',') {
                    let unknown = || CliError::Rename { given: part.to_string(), found: headers.join(", ") };
                    rename(&mut names, headers, pair(headers, part).ok_or_else(unknown)?)?;
                }
            }
        }
    }
    Ok(if options.iter().any(String::is_empty) { all(&names) } else { names })
}

/// The position of the column, and its new name.
fn pair<'a>(headers: &[String], text: &'a str) -> Option<(usize, &'a str)> {
    let (old, new) = text.rsplit_once('=')?;
    headers.iter().position(|header| header == old.trim()).map(|position| (position, new.trim()))
}

fn rename(names: &mut [String], headers: &[String], (position, new): (usize, &str)) -> Result<(), CliError> {
    if !is_name(new) {
        let given = format!("{}={new}", headers[position]);
        return Err(CliError::Rename { given, found: headers.join(", ") });
    }
    names[position] = new.to_string();
    Ok(())
}

/// The headers, with names for those that are none: letters and digits stay, `_` stands for what is between them, and
/// a number follows a name that is taken.
pub fn all(headers: &[String]) -> Vec<String> {
    let mut taken: HashSet<String> = headers.iter().filter(|header| is_name(header)).cloned().collect();
    let mut used = HashSet::new();
    let mut names = vec![];
    for (header, number) in headers.iter().zip(1..) {
        if is_name(header) && used.insert(header.clone()) {
            names.push(header.clone());
            continue;
        }
        let base = base(header, number);
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let free = std::iter::once(base.clone()).chain(numbered).find(|name| taken.insert(name.clone()));
        let name = free.unwrap_or(base);
        used.insert(name.clone());
        names.push(name);
    }
    names
}

fn base(header: &str, number: usize) -> String {
    let mut name = String::new();
    for character in header.chars() {
        if character.is_alphanumeric() {
            name.push(character);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_end_matches('_');
    match name.chars().next() {
        None => format!("column_{number}"),
        Some(first) if first.is_alphabetic() => name.to_string(),
        Some(_) => format!("column_{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn headers_become_names() {
        let headers = ["Order ID", "1st", "price (€)", "", "a", "a", "order-id", "Order_ID", "größe", "%"];
        let names =
            ["Order_ID_2", "column_1st", "price", "column_4", "a", "a_2", "order_id", "Order_ID", "größe", "column_10"];
        assert_eq!(all(&owned(&headers)), owned(&names));
    }

    #[test]
    fn single_columns_are_renamed() {
        let headers = owned(&["Order ID", "a,b", "c"]);
        let renamed = |options: &[&str]| apply(&headers, &owned(options)).ok();
        assert_eq!(renamed(&["Order ID=id,c=d"]), Some(owned(&["id", "a,b", "d"])));
        assert_eq!(renamed(&["a,b=x"]), Some(owned(&["Order ID", "x", "c"])));
        assert_eq!(renamed(&["c=d", ""]), Some(owned(&["Order_ID", "a_b", "d"])));
        assert!(renamed(&["x=y"]).is_none() && renamed(&["c=1"]).is_none() && renamed(&["c"]).is_none());
    }
}
