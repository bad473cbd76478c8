//! The tree printed as CozoScript, which parses back to the same tree.
//!
//! Operators print as operators, with only the parentheses that they need; the rest of the text is put in one shape.
//!
//! ```
//! use cozo::parse::parse_script;
//! let script = parse_script("?[ a ]:=x[a,],( a==1 or a>2 ) , not(y[a]);").unwrap();
//! assert_eq!(script.to_string(), "?[a] := x[a], (a == 1 or a > 2), not y[a]");
//! ```

mod body;
mod expression;
mod script;
mod spec;
mod statement;

use std::fmt::{self, Display, Formatter};

/// Items with a separator between them.
fn separated<T: Display>(f: &mut Formatter<'_>, separator: &str, items: impl IntoIterator<Item = T>) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

/// Items with commas between them.
fn commas<T: Display>(f: &mut Formatter<'_>, items: impl IntoIterator<Item = T>) -> fmt::Result {
    separated(f, ", ", items)
}
