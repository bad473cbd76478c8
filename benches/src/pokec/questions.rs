//! The questions that read a network: the script of each, and how to answer it without the database.

use cozo::{DataValue, DbInstance};

use super::truth::{Answer, Row, ages, is_adult, profile, reached, triangles, within_two};
use super::{Network, User};

/// Users known to be at least 18, as a filter of `to`.
const ADULT: &str = ", *user{uid: to, age}, age ~ 0 >= 18";

/// Reads the profile of a user.
pub const READ: &str = "?[cmpl_pct, gender, age] := *user{uid: $id, cmpl_pct, gender, age}";

/// Writes a user of which nothing is known.
pub const WRITE: &str =
    "?[uid, cmpl_pct, gender, age] <- [[$id, 0, null, null]] :put user {uid => cmpl_pct, gender, age}";

/// Changes how much of a profile is filled in.
pub const UPDATE: &str = "?[uid, cmpl_pct, age, gender] := uid = $id, *user{uid, age, gender}, cmpl_pct = $n
    :put user {uid => cmpl_pct, age, gender}";

/// Writes a friendship, in both relations.
pub const WRITE_EDGE: &str =
    "{?[fr, to] <- [[$i, $j]] :put friends {fr, to}} {?[fr, to] <- [[$i, $j]] :put friends.rev {fr, to}}";

/// Answers a question for the user at a place.
type Solve = dyn Fn(&Network, u32) -> Answer;

/// A question about a user, or about the network as a whole.
pub struct Question {
    /// What it is called within its group.
    pub name: String,
    /// The script; `$id` is the user.
    pub script: String,
    /// Whether it is about a user.
    pub of_user: bool,
    answer: Box<Solve>,
}

impl Question {
    fn of_user(name: &str, script: impl Into<String>, answer: impl Fn(&Network, u32) -> Answer + 'static) -> Self {
        Question { name: name.to_string(), script: script.into(), of_user: true, answer: Box::new(answer) }
    }

    fn of_all(name: &str, script: impl Into<String>, answer: impl Fn(&Network) -> Vec<Row> + 'static) -> Self {
        let answer = Box::new(move |network: &Network, _| Answer::All(answer(network)));
        Question { name: name.to_string(), script: script.into(), of_user: false, answer }
    }

    /// The parameters of the script for the user at a place.
    pub fn parameters(&self, network: &Network, place: u32) -> Vec<(&'static str, i64)> {
        self.of_user.then(|| ("id", i64::from(network.user(place).uid))).into_iter().collect()
    }

    /// Panics unless the database gives the right answer for the user at a place.
    pub fn check(&self, db: &DbInstance, network: &Network, place: u32) {
        (self.answer)(network, place).check(db, &self.script, &self.parameters(network, place));
    }
}

fn int(number: impl Into<i64>) -> DataValue {
    DataValue::from(number.into())
}

fn uids<'a>(network: &'a Network, places: &'a [u32]) -> impl Iterator<Item = &'a User> {
    places.iter().map(|place| network.user(*place))
}

/// The numbers of users, those under age left out if that is asked for.
fn numbers(network: &Network, places: &[u32], adults: bool) -> Vec<Row> {
    uids(network, places).filter(|user| !adults || is_adult(user)).map(|user| vec![int(user.uid)]).collect()
}

/// The numbers of users with age, cmpl_pct and gender, those under age left out if that is asked for.
fn profiles(network: &Network, places: &[u32], adults: bool) -> Vec<Row> {
    let row = |user: &User| {
        let [completion, gender, age] = profile(user);
        vec![int(user.uid), age, completion, gender]
    };
    uids(network, places).filter(|user| !adults || is_adult(user)).map(row).collect()
}

/// The profile of a user.
pub fn read() -> Question {
    Question::of_user("read", READ, |network, place| Answer::All(vec![profile(network.user(place)).to_vec()]))
}

/// The users that one to four steps lead to, with and without those under age.
pub fn expansions() -> Vec<Question> {
    let question = |steps: usize, adults: bool| {
        let name = if adults { format!("{steps}_filter") } else { steps.to_string() };
        Question::of_user(&name, expansion(steps, adults), move |network, place| {
            Answer::All(numbers(network, &reached(network, place, steps), adults))
        })
    };
    (1..=4).flat_map(|steps| [question(steps, false), question(steps, true)]).collect()
}

fn expansion(steps: usize, adults: bool) -> String {
    let filter = if adults { ADULT } else { "" };
    match steps {
        1 => format!("?[to] := *friends{{fr: $id, to}}{filter}"),
        2 => format!("?[to] := *friends{{fr: $id, to: a}}, *friends{{fr: a, to}}{filter}"),
        _ => {
            let levels: Vec<String> =
                (2..steps).map(|level| format!("l{level}[to] := l{}[fr], *friends{{fr, to}}", level - 1)).collect();
            let last = format!("?[to] := l{}[fr], *friends{{fr, to}}{filter}", steps - 1);
            format!("l1[to] := *friends{{fr: $id, to}}\n{}\n{last}", levels.join("\n"))
        }
    }
}

/// The users that one step or two lead to: their numbers or their profiles, with and without those under age.
pub fn neighbours() -> Vec<Question> {
    let question = |name: &str, data: bool, adults: bool| {
        let head = if data { "?[to, age, cmpl_pct, gender]" } else { "?[to]" };
        let filter = match (data, adults) {
            (false, false) => "",
            (false, true) => ADULT,
            (true, false) => ", *user{uid: to, age, cmpl_pct, gender}",
            (true, true) => ", *user{uid: to, age, cmpl_pct, gender}, age ~ 0 >= 18",
        };
        let script = format!(
            "l1[to] := *friends{{fr: $id, to}}\n{head} := l1[to]{filter}\n{head} := l1[fr], *friends{{fr, to}}{filter}"
        );
        Question::of_user(name, script, move |network, place| {
            let rows = if data { profiles } else { numbers };
            Answer::All(rows(network, &within_two(network, place), adults))
        })
    };
    vec![
        question("2", false, false),
        question("2_filter", false, true),
        question("2_data", true, false),
        question("2_data_filter", true, true),
    ]
}

/// Friends both ways; anyone whom four steps lead to; any friend.
pub fn patterns() -> Vec<Question> {
    let cycle = "?[n, m] := n = $id, *friends{fr: n, to: m}, *friends.rev{fr: m, to: n}";
    let long =
        "?[n] := *friends{fr: $id, to: n2}, *friends{fr: n2, to: n3}, *friends{fr: n3, to: n4}, *friends{fr: n4, to: n}
                :limit 1";
    let short = "?[to] := *friends{fr: $id, to} :limit 1";
    vec![
        Question::of_user("cycle", cycle, |network, place| {
            let mutual = network.friends(place).iter().filter(|to| network.friends(**to).binary_search(&place).is_ok());
            let row = |to: &u32| vec![int(network.user(place).uid), int(network.user(*to).uid)];
            Answer::All(mutual.map(row).collect())
        }),
        Question::of_user("long", long, |network, place| {
            Answer::One(numbers(network, &reached(network, place, 4), false))
        }),
        Question::of_user("short", short, |network, place| {
            Answer::One(numbers(network, network.friends(place), false))
        }),
    ]
}

/// Users by age, users as a whole, adults by age, and the least, greatest and mean number of a user.
pub fn aggregations() -> Vec<Question> {
    let all = |network: &Network| int(network.users.len() as i64);
    vec![
        Question::of_all("group", "?[age, count(uid)] := *user{uid, age}", |network| ages(network, |_| true)),
        Question::of_all("count", "?[count(uid), count(age)] := *user{uid, age}", move |network| {
            vec![vec![all(network), all(network)]]
        }),
        Question::of_all("filter", "?[age, count(age)] := *user{age}, age ~ 0 >= 18", |network| {
            ages(network, is_adult)
        }),
        Question::of_all("min_max", "?[min(uid), max(uid), mean(uid)] := *user{uid, age}", |network| {
            let uids = || network.users.iter().map(|user| i64::from(user.uid));
            let mean = uids().sum::<i64>() as f64 / network.users.len() as f64;
            vec![vec![int(uids().min().unwrap_or(0)), int(uids().max().unwrap_or(0)), DataValue::from(mean)]]
        }),
    ]
}

/// Triangles of the whole network, as written and in the order that is worst for a join of two relations at a time.
pub fn all_triangles() -> Vec<Question> {
    let question = |name: &str, atoms: &str, cyclic: bool| {
        Question::of_all(name, format!("?[count(a)] := {atoms}"), move |network| {
            let number = if cyclic { triangles(network, &network.reversed()) } else { triangles(network, network) };
            vec![vec![int(number)]]
        })
    };
    vec![
        question("cyclic", "*friends{fr: a, to: b}, *friends{fr: b, to: c}, *friends{fr: c, to: a}", true),
        question("transitive", "*friends{fr: a, to: b}, *friends{fr: b, to: c}, *friends{fr: a, to: c}", false),
        question(
            "transitive_reordered",
            "*friends{fr: a, to: b}, *friends{fr: c, to: b}, *friends{fr: c, to: a}",
            false,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pokec::{Gender, database, generate};

    fn all() -> Vec<Question> {
        let groups = [vec![read()], expansions(), neighbours(), patterns(), aggregations(), all_triangles()];
        groups.into_iter().flatten().collect()
    }

    /// 1 has the friends 2 and 3, who both have 4, under age, who has 1 and 5, who has given no age; 2 has 1, too.
    fn small() -> Network {
        let user = |uid, age: Option<u8>| User { uid, completion: 50, gender: age.map(|_| Gender::Man), age };
        let users = vec![user(1, Some(30)), user(2, Some(18)), user(3, Some(40)), user(4, Some(17)), user(5, None)];
        let friendships = vec![(1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 5), (2, 1)];
        Network::new(users, friendships).expect("all users are there")
    }

    /// Against answers worked out by hand.
    #[test]
    fn the_truth_is_right() {
        let network = small();
        let question = |group: Vec<Question>, name: &str| {
            let found = group.into_iter().find(|question| question.name == name).expect("the question is there");
            match (found.answer)(&network, 0) {
                Answer::All(rows) | Answer::One(rows) => {
                    DataValue::List(rows.into_iter().map(DataValue::List).collect()).to_string()
                }
            }
        };
        assert_eq!(question(expansions(), "1"), "[[2], [3]]");
        assert_eq!(question(expansions(), "2"), "[[1], [4]]");
        assert_eq!(question(expansions(), "2_filter"), "[[1]]");
        assert_eq!(question(expansions(), "3"), "[[1], [2], [3], [5]]");
        assert_eq!(question(expansions(), "3_filter"), "[[1], [2], [3]]");
        assert_eq!(question(neighbours(), "2"), "[[1], [2], [3], [4]]");
        assert_eq!(question(neighbours(), "2_filter"), "[[1], [2], [3]]");
        assert_eq!(
            question(neighbours(), "2_data"),
            r#"[[1, 30, 50, "man"], [2, 18, 50, "man"], [3, 40, 50, "man"], [4, 17, 50, "man"]]"#
        );
        assert_eq!(question(patterns(), "cycle"), "[[1, 2]]");
        assert_eq!(question(aggregations(), "group"), "[[null, 1], [17, 1], [18, 1], [30, 1], [40, 1]]");
        assert_eq!(question(aggregations(), "filter"), "[[18, 1], [30, 1], [40, 1]]");
        assert_eq!(question(aggregations(), "min_max"), "[[1, 5, 3.0]]");
        // 1 -> 2 -> 4 -> 1 and 1 -> 3 -> 4 -> 1, from each of their users.
        assert_eq!(question(all_triangles(), "cyclic"), "[[6]]");
        // 2 -> 4 -> 1 and 2 -> 1.
        assert_eq!(question(all_triangles(), "transitive"), "[[1]]");
    }

    #[test]
    fn the_database_answers_all_questions() {
        for network in [small(), generate::network(&"300x1500".parse().expect("a size"))] {
            let db = DbInstance::default();
            database::load(&db, &network).expect("the network fits");
            for question in all() {
                (0..5).for_each(|place| question.check(&db, &network, place));
            }
        }
    }

    #[test]
    #[should_panic(expected = "row 1 of the sorted rows: expected [3], got [4]")]
    fn a_wrong_answer_panics() {
        let network = small();
        let db = DbInstance::default();
        database::load(&db, &network).expect("the network fits");
        crate::run(
            &db,
            "{?[fr, to] <- [[1, 3]] :rm friends {fr, to}} {?[fr, to] <- [[1, 4]] :put friends {fr, to}}",
            &[],
        );
        expansions()[0].check(&db, &network, 0);
    }
}
