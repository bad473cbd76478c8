//! Names: compared, ordered and hashed by the name alone.
//!
//! ```
//! use cozo::{diag::SourceSpan, parse::ast::Symbol};
//! assert_eq!(Symbol::new("x", SourceSpan(0, 1)), Symbol::new("x", SourceSpan(9, 1)));
//! ```

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use super::ast::Symbol;
use crate::diag::SourceSpan;
use crate::value::SmallStr;

impl Symbol {
    /// A name that stands at `span`.
    pub fn new(name: impl Into<SmallStr>, span: SourceSpan) -> Symbol {
        Symbol { name: name.into(), span }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// Whether this is the wildcard `_`.
    pub fn is_wildcard(&self) -> bool {
        self.name == "_"
    }

    /// Whether this names an ephemeral relation: an underscore and something after it.
    pub fn is_ephemeral(&self) -> bool {
        self.name.len() > 1 && self.name.starts_with('_')
    }
}

impl PartialEq for Symbol {
    fn eq(&self, other: &Symbol) -> bool {
        self.name == other.name
    }
}

impl Eq for Symbol {}

impl PartialEq<str> for Symbol {
    fn eq(&self, other: &str) -> bool {
        self.name == other
    }
}

impl PartialEq<&str> for Symbol {
    fn eq(&self, other: &&str) -> bool {
        self.name == *other
    }
}

impl PartialOrd for Symbol {
    fn partial_cmp(&self, other: &Symbol) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Symbol {
    fn cmp(&self, other: &Symbol) -> Ordering {
        self.name.cmp(&other.name)
    }
}

impl Hash for Symbol {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Deref for Symbol {
    type Target = str;

    fn deref(&self) -> &str {
        &self.name
    }
}

impl AsRef<str> for Symbol {
    fn as_ref(&self) -> &str {
        &self.name
    }
}

/// Lets maps with symbols as keys be asked with a plain `&str`.
impl Borrow<str> for Symbol {
    fn borrow(&self) -> &str {
        &self.name
    }
}

impl Display for Symbol {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
