//! How many arguments a function takes: what the names of its parameters say.
//!
//! `["list", "index", "default?"]` are two arguments or three, `["x", "more..."]` one or more.

/// How many arguments a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// An exact number.
    Exact(usize),
    /// A number or more.
    AtLeast(usize),
    /// From the first to the second number.
    Between(usize, usize),
}

impl Arity {
    /// The arity of parameters. A parameter that ends in `?` may be left out; one that ends in `...` stands for any number of
    /// arguments.
    pub(super) const fn of(parameters: &[&str]) -> Arity {
        let (mut optional, mut any_number, mut i) = (0, 0, 0);
        while i < parameters.len() {
            match parameters[i].as_bytes() {
                [.., b'?'] => optional += 1,
                [.., b'.', b'.', b'.'] => any_number += 1,
                _ => {}
            }
            i += 1;
        }
        let required = parameters.len() - optional - any_number;
        match (optional, any_number) {
            (0, 0) => Arity::Exact(required),
            (_, 0) => Arity::Between(required, required + optional),
            _ => Arity::AtLeast(required),
        }
    }

    /// Whether so many arguments are allowed.
    pub fn accepts(self, count: usize) -> bool {
        match self {
            Arity::Exact(n) => count == n,
            Arity::AtLeast(n) => count >= n,
            Arity::Between(low, high) => (low..=high).contains(&count),
        }
    }
}

/// As the help of an error says it.
impl std::fmt::Display for Arity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Arity::Exact(n) => write!(f, "Need exactly {n} argument(s)"),
            Arity::AtLeast(n) => write!(f, "Need at least {n} argument(s)"),
            Arity::Between(low, high) => write!(f, "Need {low} to {high} arguments"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_say_how_many_arguments_there_are() {
        let table: [(&[&str], Arity); 5] = [
            (&[], Arity::Exact(0)),
            (&["x", "y"], Arity::Exact(2)),
            (&["start?", "end", "step?"], Arity::Between(1, 3)),
            (&["x..."], Arity::AtLeast(0)),
            (&["x", "more..."], Arity::AtLeast(1)),
        ];
        for (parameters, arity) in table {
            assert_eq!(Arity::of(parameters), arity, "{parameters:?}");
        }
    }
}
