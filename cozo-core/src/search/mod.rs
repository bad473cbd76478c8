//! Search indexes, as far as they need neither rows nor storage.
//!
//! | module | what comes in | what goes out |
//! |---|---|---|
//! | `vectors` | vectors of one length | an index that finds the nearest of them |

pub mod vectors;
