//! Search indices: what they take of each row, how they follow the rows of their relation, and how they are searched.
//!
//! | module | what |
//! |---|---|
//! | `extractor` | what an index takes of each row: vectors, a text, a signature |
//! | `follow` | the changes of an index after a write to its relation, and the rows of a new index |
//! | `rows` | reading the rows that an index is made of |
//! | `segment`, `vector_content`, `text_content` | what an index holds of some rows |
//! | `segments` | where sealed segments are stored |
//! | `cache` | sealed segments, shared by transactions |
//! | `view` | what an index holds in a snapshot |
//! | `seal` | moving a tail into a segment |
//! | `vectors`, `texts`, `duplicates` | searching, by kind |
//! | `verify` | whether an index holds what it should |
//! | `hits` | what a search finds |
//! | `listing` | indices as scripts read them |
//!
//! **The rows of the relation are the truth**: all that an index holds can be made again from them.

mod cache;
mod duplicates;
mod error;
mod extractor;
mod follow;
mod hits;
mod listing;
mod rows;
mod seal;
mod segment;
mod segments;
mod text_content;
mod texts;
mod thresholds;
mod vector_content;
mod vectors;
mod verify;
mod view;

pub use crate::search::postings::Scoring;
pub use duplicates::candidates;
pub use error::SearchIndexError;
pub use extractor::Extractor;
pub use follow::{build, follow, write_duplicates, write_first};
pub use hits::{Hits, SearchColumn, SearchWork};
pub use listing::listing;
pub use seal::{Prepared, prepare, prepare_anew};
pub use segment::Segment;
#[cfg(test)]
pub use segments::Manifest;
pub use segments::SearchStatistics;
pub use texts::{TextsWanted, best_texts};
pub use thresholds::{HELP_RATIO, tail_bound};
pub use vectors::{NearestWanted, nearest};
pub use verify::verify;
pub use view::{AllowedEntries, IndexView, Indexed, SearchCache, build_segment};
