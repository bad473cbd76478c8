//! Patterns over a social network: the nine queries of LSQB.
//!
//! The Labelled Subgraph Query Benchmark (A. Mhedhbi, M. Lissandrini, L. Kuiper, J. Waudby, G. Szárnyas: LSQB: a large-scale
//! subgraph query benchmark, GRADES-NDA 2021) counts the matches of nine patterns in the social network of LDBC. Here the network
//! is generated: [`generate`] says how. [`schema`] has the relations, [`queries`] the scripts, and [`truth`] the counts that
//! they must give.
//!
//! ```
//! use cozo_benches::patterns::{Scale, database, generate, queries, truth};
//! let network = generate::network(Scale(0.001));
//! let db = cozo::DbInstance::default();
//! database::load(&db, &network).expect("the network fits");
//! let counts = truth::counts(&network);
//! for (query, expected) in queries::QUERIES.iter().zip(counts) {
//!     assert_eq!(cozo_benches::count(&db, query.script), expected, "{}", query.name);
//! }
//! ```

pub mod database;
mod draw;
pub mod export;
pub mod generate;
mod lists;
mod messages;
mod network;
mod people;
pub mod queries;
pub mod schema;
pub mod truth;

pub use lists::Lists;
pub use network::{Message, Origin, SocialNetwork};

/// The scale of a network as LDBC counts it: 1 has about ten thousand persons and three million messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(pub f64);

impl std::str::FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        let scale = text.parse().ok().filter(|scale| (0.001..=30.0).contains(scale));
        scale.map(Scale).ok_or_else(|| format!("the scale is '{text}', and should be a number from 0.001 to 30"))
    }
}

/// How many there are of what grows with the scale. A larger network has more friends, memberships and comments per person.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Persons.
    pub persons: u32,
    /// Pairs of persons that know each other.
    pub friendships: usize,
    /// Forums.
    pub forums: u32,
    /// Pairs of a forum and a member.
    pub memberships: usize,
    /// Posts.
    pub posts: u32,
    /// Comments.
    pub comments: u32,
    /// Pairs of a person and a message that the person likes.
    pub likes: usize,
}

impl From<Scale> for Counts {
    fn from(Scale(scale): Scale) -> Counts {
        let of = |at_one: f64, exponent: f64| (at_one * scale.powf(exponent)).round().max(2.0);
        Counts {
            persons: of(10e3, 0.8) as u32,
            friendships: of(180e3, 1.1) as usize,
            forums: of(90e3, 0.87) as u32,
            memberships: of(1.6e6, 1.1) as usize,
            posts: of(1e6, 0.87) as u32,
            comments: of(2e6, 1.1) as u32,
            likes: of(2e6, 1.2) as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_positive_numbers() {
        assert_eq!("0.1".parse(), Ok(Scale(0.1)));
        for text in ["", "small", "0", "-1", "nan", "1000"] {
            let error = text.parse::<Scale>().expect_err("no scale");
            assert!(error.contains("from 0.001 to 30"), "{error}");
        }
    }
}
