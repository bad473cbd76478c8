//! An index over the words of texts: which documents have a word, how often, and where.
//!
//! Documents are numbers from 0 on. The [index](crate::index) above knows the rows that they stand for.
//!
//! ```text
//! words      apple  apples  pear ...                 sorted, so that a beginning is a range
//! blocks     of 128 documents of a word              last document, what its best documents can score
//! data       differences of documents, occurrences   packed bits
//! places     of each occurrence: number, from, to    the numbers are read for NEAR and phrases, the rest for spans
//! forward    the words of each document              read when documents are deleted
//! ```
//!
//! | type | what |
//! |---|---|
//! | [`PostingsBuilder`] | indexes documents; several of them on several threads |
//! | [`Postings`] | the index, which never changes; [merged](Postings::merge) with others, or made of bytes |
//! | [`Deletions`] | documents that no longer count, with what statistics lose by them |
//! | [`TextSearch`] | the best documents of several indexes for a query, with the statistics of all |
//!
//! Statistics are exact: what is deleted counts nowhere.

mod best;
mod blocks;
mod builder;
mod bytes;
mod cursor;
mod deletions;
mod fronts;
mod index;
mod leaves;
mod live;
mod merge;
mod nodes;
mod phrases;
mod places;
mod scorer;
mod search;
mod thresholds;
mod varint;
mod windows;
mod words;

#[cfg(test)]
mod tests;

pub use best::TextHit;
pub use builder::PostingsBuilder;
pub use bytes::PostingsError;
pub use deletions::Deletions;
pub use index::{PostingRow, Postings};
pub use live::PostingsPart;
pub use scorer::Scoring;
pub use search::{TextSearch, TextWork};
