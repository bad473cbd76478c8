//! Answers worked out from the arrays of a network, to hold those of the database against.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use cozo::{DataValue, DbInstance};
use rayon::prelude::*;

use super::{Network, User};
use crate::run;

/// A row of a result.
pub type Row = Vec<DataValue>;

/// What a script must answer, whatever the order of the rows.
#[derive(Debug)]
pub enum Answer {
    /// These rows, each once.
    All(Vec<Row>),
    /// One of these rows, or none if there are none.
    One(Vec<Row>),
}

impl Answer {
    /// Runs a script and panics unless it answers this.
    pub fn check(self, db: &DbInstance, script: &str, parameters: &[(&str, i64)]) {
        let mut got = run(db, script, parameters).rows;
        got.par_sort_unstable();
        let (right, expected) = match self {
            Answer::All(mut expected) => {
                expected.par_sort_unstable();
                (got == expected, expected)
            }
            Answer::One(candidates) => {
                let number = candidates.len().min(1);
                (got.len() == number && got.iter().all(|row| candidates.contains(row)), candidates)
            }
        };
        assert!(
            right,
            "a wrong answer to\n{script}\nwith {parameters:?}\nexpected {}\ngot      {}\n{}",
            summary(&expected),
            summary(&got),
            difference(&expected, &got)
        );
    }
}

/// How many rows there are, and a checksum over them.
fn summary(rows: &[Row]) -> String {
    let mut hasher = DefaultHasher::new();
    rows.hash(&mut hasher);
    format!("{} rows, checksum {:016x}", rows.len(), hasher.finish())
}

/// The first rows that differ.
fn difference(expected: &[Row], got: &[Row]) -> String {
    let place = expected.iter().zip(got).position(|(expected, got)| expected != got);
    let place = place.unwrap_or(expected.len().min(got.len()));
    let shown =
        |rows: &[Row]| rows.get(place).map_or("none".to_string(), |row| DataValue::List(row.clone()).to_string());
    format!("row {place} of the sorted rows: expected {}, got {}", shown(expected), shown(got))
}

/// The places of users that so many steps lead to, ascending.
pub fn reached(network: &Network, place: u32, steps: usize) -> Vec<u32> {
    (0..steps)
        .fold(vec![place], |level, _| distinct(level.iter().flat_map(|from| network.friends(*from)).copied().collect()))
}

/// The places of users that one step or two lead to, ascending.
pub fn within_two(network: &Network, place: u32) -> Vec<u32> {
    distinct([reached(network, place, 1), reached(network, place, 2)].concat())
}

fn distinct(mut places: Vec<u32>) -> Vec<u32> {
    places.par_sort_unstable();
    places.dedup();
    places
}

/// Whether a user is known to be at least 18.
pub fn is_adult(user: &User) -> bool {
    user.age.is_some_and(|age| age >= 18)
}

/// A row of `user`.
pub fn user_row(user: &User) -> Row {
    let [completion, gender, age] = profile(user);
    vec![DataValue::from(i64::from(user.uid)), completion, gender, age]
}

/// cmpl_pct, gender and age of a user.
pub fn profile(user: &User) -> [DataValue; 3] {
    let gender = user.gender.map_or(DataValue::Null, |gender| DataValue::from(gender.name()));
    [DataValue::from(i64::from(user.completion)), gender, age(user)]
}

fn age(user: &User) -> DataValue {
    user.age.map_or(DataValue::Null, |age| DataValue::from(i64::from(age)))
}

/// How many users have each age, null among them, of those that are counted.
pub fn ages(network: &Network, counted: impl Fn(&User) -> bool) -> Vec<Row> {
    let mut ages: BTreeMap<DataValue, i64> = BTreeMap::new();
    for user in network.users.iter().filter(|user| counted(user)) {
        *ages.entry(age(user)).or_default() += 1;
    }
    ages.into_iter().map(|(age, users)| vec![age, DataValue::from(users)]).collect()
}

/// For each friendship, how many of the friends of its end are among the `others` of its begin, summed up: with the network
/// itself as `others` the transitive triangles, with the reversed network the cyclic ones, from each of their users.
pub fn triangles(network: &Network, others: &Network) -> i64 {
    let of_one = |from: u32| -> usize {
        network.friends(from).iter().map(|to| common(network.friends(*to), others.friends(from))).sum()
    };
    network.places().into_par_iter().map(of_one).sum::<usize>() as i64
}

/// How many numbers two ascending lists share.
fn common(mut left: &[u32], mut right: &[u32]) -> usize {
    let mut shared = 0;
    while let (Some(l), Some(r)) = (left.first(), right.first()) {
        shared += usize::from(l == r);
        (left, right) = (&left[usize::from(l <= r)..], &right[usize::from(r <= l)..]);
    }
    shared
}
