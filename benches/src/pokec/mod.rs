//! The social network of the Pokec benchmark of graph databases: its data, its questions, and the answers to them.
//!
//! The data comes from files of the real network where they are there ([`memgraph`], [`snap`]), otherwise from a generator
//! of the same shape ([`generate`]), whose work is kept in a file ([`cache`]). [`truth`] answers the [`questions`] from the
//! arrays of a [`Network`] alone, without the database, and [`database`] brings a network into one.
//!
//! ```
//! use cozo_benches::pokec::{Size, database, generate, questions};
//! let size: Size = "100x300".parse().expect("so many users and friendships");
//! let network = generate::network(&size);
//! let db = cozo::DbInstance::default();
//! database::load(&db, &network).expect("the network fits");
//! questions::expansions()[0].check(&db, &network, 7);
//! ```

pub mod cache;
pub mod database;
pub mod export;
pub mod generate;
pub mod memgraph;
pub mod network;
pub mod page_rank;
pub mod questions;
pub mod size;
pub mod snap;
pub mod source;
pub mod text;
pub mod truth;

pub use network::{Gender, Network, User};
pub use size::Size;
