//! `if` and `cond`: written like functions, but they evaluate only the branch that is taken.
//!
//! The resolver turns them into [`Expr::Conditional`](crate::expr::Expr::Conditional). Their names, parameters and documentation
//! are here.

/// A form that is written like a function.
pub struct Conditional {
    /// Its name.
    pub name: &'static str,
    /// Its parameters, as of a [`Function`](super::Function).
    pub parameters: &'static [&'static str],
    /// What it does.
    pub doc: &'static str,
    /// Examples, as of a [`Function`](super::Function).
    pub examples: &'static [(&'static str, &'static str)],
}

/// The two forms.
pub const CONDITIONALS: &[Conditional] = &[
    Conditional {
        name: "cond",
        parameters: &["condition_value..."],
        doc: "Takes pairs of a condition and a value, and gives the value after the first condition that is true, or null \
              if none is. Conditions are Bools, evaluated from left to right; only the returned value is evaluated.",
        examples: &[
            ("cond(1 > 2, 'a', 2 > 1, 'b', true, 'c')", "'b'"),
            ("cond(false, 1)", "null"),
            ("cond(1, 'a')", ""),
            ("cond()", ""),
        ],
    },
    Conditional {
        name: "if",
        parameters: &["condition", "value", "otherwise?"],
        doc: "The value if the condition, a Bool, is true; else the third argument, or null. Only the returned value is \
              evaluated.",
        examples: &[("if(2 > 1, 'yes', 'no')", "'yes'"), ("if(false, 1)", "null"), ("if(1, 'yes')", "")],
    },
];
