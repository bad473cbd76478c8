//! Search indexes, as far as they need neither rows nor storage.
//!
//! | module | what comes in | what goes out |
//! |---|---|---|
//! | `postings` | tokens of texts | an index that finds the texts with given words |
//! | `vectors` | vectors of one length | an index that finds the nearest of them |

pub mod postings;
pub mod vectors;
