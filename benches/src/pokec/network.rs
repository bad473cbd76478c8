//! A social network as arrays: the users by number, and for each the users that it has as friends.

use rayon::prelude::*;

/// What a user has said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gender {
    /// A man.
    Man,
    /// A woman.
    Woman,
}

impl Gender {
    /// As the relation `user` has it.
    pub fn name(self) -> &'static str {
        match self {
            Gender::Man => "man",
            Gender::Woman => "woman",
        }
    }
}

/// A row of `user`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// The number that the user has in the data.
    pub uid: u32,
    /// How much of the profile is filled in, in percent.
    pub completion: u8,
    /// The gender, if known.
    pub gender: Option<Gender>,
    /// The age in years, if known.
    pub age: Option<u8>,
}

/// Users, and friendships from one to another. A user is also known by its place in [`Network::users`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// The users by ascending number.
    pub users: Vec<User>,
    /// Where the friends of each user begin in `targets`; one more entry at the end.
    offsets: Vec<u32>,
    /// The places of friends, ascending for each user.
    targets: Vec<u32>,
}

impl Network {
    /// A network from users and friendships in any order, the latter as pairs of numbers of users. What comes twice counts
    /// once.
    pub fn new(mut users: Vec<User>, mut friendships: Vec<(u32, u32)>) -> Result<Network, String> {
        users.par_sort_unstable_by_key(|user| user.uid);
        users.dedup_by_key(|user| user.uid);
        let mut network = Network { users, ..Network::default() };
        let unknown = |uid: u32| format!("there is no user {uid}, whom a friendship names");
        friendships.par_iter_mut().try_for_each(|(from, to)| {
            *from = network.place_of(*from).ok_or_else(|| unknown(*from))?;
            *to = network.place_of(*to).ok_or_else(|| unknown(*to))?;
            Ok::<(), String>(())
        })?;
        friendships.par_sort_unstable();
        friendships.dedup();
        network.offsets = vec![0; network.users.len() + 1];
        friendships.iter().for_each(|(from, _)| network.offsets[*from as usize + 1] += 1);
        accumulate(&mut network.offsets);
        network.targets = friendships.into_iter().map(|(_, to)| to).collect();
        Ok(network)
    }

    /// A network from its arrays, checked: each user has so many friends, and `targets` their places one user after another.
    pub fn from_arrays(users: Vec<User>, degrees: &[u32], targets: Vec<u32>) -> Result<Network, String> {
        let mut offsets = vec![0; 1];
        offsets.extend_from_slice(degrees);
        accumulate(&mut offsets);
        let fits = degrees.len() == users.len() && *offsets.last().unwrap_or(&0) as usize == targets.len();
        let ascends = users.is_sorted_by(|left, right| left.uid < right.uid);
        if !fits || !ascends || targets.iter().any(|to| *to as usize >= users.len()) {
            return Err("users and friendships do not fit together".to_string());
        }
        Ok(Network { users, offsets, targets })
    }

    /// The place of the user of a number.
    pub fn place_of(&self, uid: u32) -> Option<u32> {
        // Most data numbers its users from 1 without gaps.
        let guess = uid.wrapping_sub(1) as usize;
        match self.users.get(guess) {
            Some(user) if user.uid == uid => Some(guess as u32),
            _ => self.users.binary_search_by_key(&uid, |user| user.uid).ok().map(|place| place as u32),
        }
    }

    /// The user at a place.
    pub fn user(&self, place: u32) -> &User {
        &self.users[place as usize]
    }

    /// The places of the friends of the user at a place, ascending.
    pub fn friends(&self, place: u32) -> &[u32] {
        let place = place as usize;
        &self.targets[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }

    /// The places of all users.
    pub fn places(&self) -> std::ops::Range<u32> {
        0..self.users.len() as u32
    }

    /// All friends of all users, one user after another.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// All friendships as numbers of users, in ascending order.
    pub fn friendships(&self) -> impl Iterator<Item = (u32, u32)> {
        self.places()
            .flat_map(move |from| self.friends(from).iter().map(move |to| (self.user(from).uid, self.user(*to).uid)))
    }

    /// The network with every friendship the other way round.
    pub fn reversed(&self) -> Network {
        let mut offsets = vec![0; self.users.len() + 1];
        self.targets.iter().for_each(|to| offsets[*to as usize + 1] += 1);
        accumulate(&mut offsets);
        let mut next = offsets.clone();
        let mut targets = vec![0; self.targets.len()];
        for from in self.places() {
            for to in self.friends(from) {
                let slot = &mut next[*to as usize];
                targets[*slot as usize] = from;
                *slot += 1;
            }
        }
        Network { users: self.users.clone(), offsets, targets }
    }
}

/// Turns counts into sums up to each.
fn accumulate(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(uid: u32) -> User {
        User { uid, completion: 0, gender: None, age: None }
    }

    #[test]
    fn users_may_come_in_any_order_and_with_gaps() {
        let friendships = vec![(9, 2), (2, 30), (2, 9), (9, 2)];
        let network = Network::new(vec![user(30), user(2), user(9)], friendships).expect("all users are there");
        assert_eq!(network.friendships().collect::<Vec<_>>(), [(2, 9), (2, 30), (9, 2)]);
        assert_eq!(network.place_of(30), Some(2));
        assert_eq!(network.place_of(1), None);
        assert_eq!(network.reversed().friendships().collect::<Vec<_>>(), [(2, 9), (9, 2), (30, 2)]);
    }

    #[test]
    fn friendships_of_strangers_are_refused() {
        let error = Network::new(vec![user(1)], vec![(1, 5)]).expect_err("there is no user 5");
        assert!(error.contains("no user 5"), "{error}");
    }
}
