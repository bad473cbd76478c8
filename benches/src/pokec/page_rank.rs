//! PageRank of a network, and how far the scores of the database are from it.

use cozo::DbInstance;

use super::Network;
use crate::run;

/// The timed script.
pub const SCRIPT: &str = "?[] <~ PageRank(*friends[])";

/// The same until scores hardly change, when they no longer depend on the order in which an implementation goes.
const CONVERGED: &str = "?[] <~ PageRank(*friends[], epsilon: 0.00000001, iterations: 1000)";

/// How much of a score its neighbours hand on.
const THETA: f64 = 0.85;

/// Panics unless the scores of the database, once they hardly change, are those of [`scores`], and those that it gives by
/// default are as near to them as its ten rounds must bring them.
pub fn check(db: &DbInstance, network: &Network) {
    let expected = scores(network, 1e-8);
    let distance = distance(db, network, &expected, CONVERGED);
    assert!(distance < 1e-5, "a wrong answer to\n{CONVERGED}\nthe scores are {distance} off in sum");
    let distance = self::distance(db, network, &expected, SCRIPT);
    // Each round leaves at most a part of theta of the distance, which is below 2 at first.
    let allowed = 2.0 * THETA.powi(10);
    assert!(distance < allowed, "a wrong answer to\n{SCRIPT}\nthe scores are {distance} off in sum, {allowed} allowed");
}

/// The sum over all users of how far a score is off. Panics if the users are not those with friendships.
fn distance(db: &DbInstance, network: &Network, expected: &[Option<f64>], script: &str) -> f64 {
    let rows = run(db, script, &[]).rows;
    let users = expected.iter().flatten().count();
    assert_eq!(rows.len(), users, "{script}\nscores each user with a friendship once");
    let mut seen = vec![false; expected.len()];
    let differences = rows.iter().map(|row| {
        let place = row[0].get_int().and_then(|uid| network.place_of(u32::try_from(uid).ok()?));
        let place = place.unwrap_or_else(|| panic!("{script}\nscores {:?}, who is no user", row[0])) as usize;
        assert!(!std::mem::replace(&mut seen[place], true), "{script}\nscores {:?} twice", row[0]);
        let expected = expected[place].unwrap_or_else(|| panic!("{script}\nscores {:?} without friendships", row[0]));
        (row[1].get_float().unwrap_or(f64::NAN) - expected).abs()
    });
    differences.sum()
}

/// The score of each user that a friendship begins or ends at, by power iteration until a round changes less than `epsilon`
/// in sum. What users without friends have is not handed on.
fn scores(network: &Network, epsilon: f64) -> Vec<Option<f64>> {
    let mut takes_part: Vec<bool> = network.places().map(|place| !network.friends(place).is_empty()).collect();
    network.targets().iter().for_each(|to| takes_part[*to as usize] = true);
    let count = takes_part.iter().filter(|part| **part).count() as f64;
    let mut scores: Vec<f64> = takes_part.iter().map(|part| if *part { 1.0 / count } else { 0.0 }).collect();
    loop {
        let mut next: Vec<f64> =
            takes_part.iter().map(|part| if *part { (1.0 - THETA) / count } else { 0.0 }).collect();
        for place in network.places() {
            let friends = network.friends(place);
            let share = THETA * scores[place as usize] / friends.len() as f64;
            friends.iter().for_each(|to| next[*to as usize] += share);
        }
        let change: f64 = scores.iter().zip(&next).map(|(before, after)| (before - after).abs()).sum();
        scores = next;
        if change < epsilon {
            return takes_part.iter().zip(scores).map(|(part, score)| part.then_some(score)).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pokec::{User, database};

    fn network() -> Network {
        let users = (1..=4).map(|uid| User { uid, completion: 0, gender: None, age: None }).collect();
        Network::new(users, vec![(1, 2), (2, 3)]).expect("all users are there")
    }

    #[test]
    fn a_chain_has_the_scores_of_the_documentation() {
        let scores = scores(&network(), 1e-12);
        let rounded: Vec<_> = scores.iter().map(|score| score.map(|score| (score * 1e6).round())).collect();
        assert_eq!(rounded, [Some(50_000.0), Some(92_500.0), Some(128_625.0), None]);
    }

    #[test]
    fn the_database_scores_the_same() {
        let db = DbInstance::default();
        database::load(&db, &network()).expect("the network fits");
        check(&db, &network());
    }
}
