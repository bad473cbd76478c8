//! Queries whose intermediate results outgrow the memory that a query may use, beside the same queries with memory enough.
//!
//! [`queries`] has the cases: data, a script with a small answer, and the answer as an independent loop computes it
//! ([`truth`]). [`generate`] says which rows there are, so that other systems can make the same. [`process`] runs a case
//! in a process of its own and tells how long it took and how much memory it had.
//!
//! ```
//! use cozo_benches::spill::{Inputs, Scale, process, queries};
//! let folder = tempfile::tempdir().expect("a folder");
//! let inputs = Inputs::new(Scale(0.001), folder.path());
//! let case = queries::find("groups").expect("a case");
//! let expected = (case.answer)(&inputs).expect("an answer");
//! let run = process::run(case, &inputs, None, 60).expect("memory enough");
//! assert_eq!(run.answer, expected);
//! ```

pub mod export;
pub mod generate;
pub mod load;
pub mod network;
pub mod process;
pub mod queries;
pub mod truth;

use std::path::{Path, PathBuf};

/// The scale of the data. At 1, intermediate results have thirty to two hundred million rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(pub f64);

impl std::str::FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        let scale = text.parse().ok().filter(|scale| (0.001..=4.0).contains(scale));
        scale.map(Scale).ok_or_else(|| format!("the scale is '{text}', and should be a number from 0.001 to 4"))
    }
}

/// How many rows, nodes and pairs the cases have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of `fact`, and groups.
    pub facts: u64,
    /// Rows of `rows`.
    pub rows: u64,
    /// Components of the graph in layers.
    pub components: u64,
    /// Nodes of the graph in which each node reaches all.
    pub ring: u64,
    /// Users of the social network.
    pub users: u32,
    /// Friendships of the social network.
    pub friendships: u32,
    /// Start users are added until they have so many pairs with those who are three steps away.
    pub pairs: u64,
    /// Rows of `left`, and of `right`.
    pub joined: u64,
}

impl From<Scale> for Sizes {
    fn from(Scale(scale): Scale) -> Sizes {
        let of = |at_one: f64| ((at_one * scale).round() as u64).max(1);
        Sizes {
            facts: of(30e6),
            rows: of(60e6),
            components: of(generate::COMPONENTS as f64),
            // A closure has as many pairs as the square of the nodes.
            ring: (15e3 * scale.sqrt()).round() as u64,
            users: of(1_632_803.0) as u32,
            friendships: of(30_622_564.0) as u32,
            pairs: of(100e6),
            joined: of(30e6),
        }
    }
}

/// What the cases are made from.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// How many of everything.
    pub sizes: Sizes,
    /// The folder with the files of the social network.
    pub folder: PathBuf,
}

impl Inputs {
    /// Inputs of a scale. Files are in the folder; [`network::prepare`] writes them.
    pub fn new(scale: Scale, folder: impl AsRef<Path>) -> Inputs {
        Inputs { sizes: scale.into(), folder: folder.as_ref().to_path_buf() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_positive_numbers() {
        assert_eq!("0.02".parse(), Ok(Scale(0.02)));
        for text in ["", "small", "0", "-1", "nan", "100"] {
            let error = text.parse::<Scale>().expect_err("no scale");
            assert!(error.contains("from 0.001 to 4"), "{error}");
        }
    }

    /// Each case gives the answer of its independent loop.
    #[test]
    fn every_case_gives_its_answer() {
        let folder = tempfile::tempdir().expect("a folder");
        let inputs = Inputs::new(Scale(0.001), folder.path());
        network::prepare(&inputs, folder.path()).expect("a network");
        for case in &queries::CASES {
            let expected = (case.answer)(&inputs).expect("an answer");
            let run = process::run(case, &inputs, None, 60).unwrap_or_else(|error| panic!("{}: {error}", case.name));
            assert_eq!(run.answer, expected, "{}", case.name);
            assert!(expected.iter().all(|number| *number > 0), "{}: {expected:?}", case.name);
        }
    }

    /// An error of the database is told, and a limit is kept.
    #[test]
    fn a_query_that_fails_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let inputs = Inputs::new(Scale(0.001), folder.path());
        let mut case = queries::find("groups").expect("a case").clone();
        case.script = "?[list] := list = int_range(3_000_000)";
        let error = process::run(&case, &inputs, Some(1), 60).expect_err("more than a megabyte");
        assert!(error.contains("eval::out_of_memory"), "{error}");
    }
}
