//! The registry of functions: a file for each family, an entry for each function.
//!
//! An entry holds all that is known about a function: names, arity, documentation, checked examples, and its body. The resolver,
//! `docs/functions.md`, completion and the tests all read the same entries.

mod arguments;
mod arithmetic;
mod arity;
mod booleans;
mod bytes;
mod comparison;
mod conditionals;
mod convert;
mod family;
mod json;
mod kernels;
mod lists;
mod math;
mod patterns;
mod random;
mod regexes;
mod rounding;
mod sets;
mod string_parts;
mod strings;
mod time;
mod types;
mod vectors;

#[cfg(test)]
mod budget_tests;
#[cfg(test)]
mod tests;

pub use arguments::{quote, shorten};
pub use arity::Arity;
pub use conditionals::{CONDITIONALS, Conditional};
pub(super) use convert::text_of;
pub use family::Family;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{FunctionError, Operand};
use crate::value::{Column, DataValue, Scalar};

/// A function that expressions may call.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Its parameters: `default?` may be left out, `more...` stands for any number of arguments.
    pub parameters: &'static [&'static str],
    /// How many arguments it takes.
    pub arity: Arity,
    /// Whether equal arguments give equal results.
    pub deterministic: bool,
    /// How large its results are.
    pub makes: Makes,
    /// What it does, in a sentence or two.
    pub doc: &'static str,
    /// CozoScript expressions and what they give, also an expression; an empty outcome means an error.
    pub examples: &'static [(&'static str, &'static str)],
    /// Applies it to one row's arguments, as many as the arity allows.
    pub eval: fn(&[DataValue]) -> Result<DataValue, FunctionError>,
    /// Applies it to two numbers, faster than `eval`. Declines with `None`, also where `eval` fails.
    pub numbers: Option<fn(Scalar, Scalar) -> Option<Scalar>>,
    /// Applies it to whole columns, or declines with `None`. At least one operand is a column of the given length.
    pub kernel: Option<Kernel>,
}

impl Function {
    /// The call with the names of its parameters: `get(list, index, default?)`.
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.parameters.join(", "))
    }

    /// How it is called, and what it does.
    pub fn usage(&self) -> String {
        format!("{}: {}", self.signature(), self.doc)
    }

    /// A deterministic function with one name and no kernel; the other methods add what an entry has beyond that.
    const fn new(
        name: &'static str,
        parameters: &'static [&'static str],
        doc: &'static str,
        examples: &'static [(&'static str, &'static str)],
        eval: fn(&[DataValue]) -> Result<DataValue, FunctionError>,
    ) -> Self {
        let arity = Arity::of(parameters);
        let (deterministic, makes) = (true, Makes::Little);
        Function { name, parameters, arity, deterministic, makes, doc, examples, eval, numbers: None, kernel: None }
    }

    /// Makes values that are as large as its arguments together.
    const fn joining(self) -> Self {
        Function { makes: Makes::Joined, ..self }
    }

    /// Makes values that may be much larger than its arguments, or take long to make.
    const fn making_much(self) -> Self {
        Function { makes: Makes::Much, ..self }
    }

    /// With a form for two numbers.
    const fn with_numbers(self, numbers: fn(Scalar, Scalar) -> Option<Scalar>) -> Self {
        Function { numbers: Some(numbers), ..self }
    }

    /// With a columnar form.
    const fn with_kernel(self, kernel: Kernel) -> Self {
        Function { kernel: Some(kernel), ..self }
    }

    /// Evaluated anew for every row.
    const fn volatile(self) -> Self {
        Function { deterministic: false, ..self }
    }
}

/// How large the results of a function are, and how long they take. A function must make room for its results in any case: see
/// [`crate::budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    /// A few times as large as an argument at most, made in a time that is linear in the arguments.
    Little,
    /// As large as the arguments together, so that a repeated argument counts twice.
    Joined,
    /// Perhaps much larger than the arguments, or made in a longer time.
    Much,
}

/// The columnar form of a function.
pub type Kernel = fn(&[Operand<'_>], usize) -> Option<Result<Column, FunctionError>>;

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// All functions by name.
static BY_NAME: LazyLock<HashMap<&'static str, &'static Function>> =
    LazyLock::new(|| all().map(|function| (function.name, function)).collect());

/// The function of this name.
pub fn find(name: &str) -> Option<&'static Function> {
    BY_NAME.get(name).copied()
}

/// All functions, family by family.
pub fn all() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().flat_map(|family| family.functions.iter())
}

/// The names that may be called, those of the conditionals among them.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(|function| function.name).chain(CONDITIONALS.iter().map(|conditional| conditional.name))
}

/// The families in the order of the documentation.
pub static FAMILIES: &[Family] = &[
    booleans::FAMILY,
    comparison::FAMILY,
    arithmetic::FAMILY,
    math::FAMILY,
    vectors::FAMILY,
    strings::FAMILY,
    string_parts::FAMILY,
    patterns::FAMILY,
    regexes::FAMILY,
    lists::FAMILY,
    sets::FAMILY,
    json::FAMILY,
    bytes::FAMILY,
    types::FAMILY,
    convert::FAMILY,
    time::FAMILY,
    random::FAMILY,
];
