//! Networks of Pokec's shape, always the same for a size.
//!
//! Few users have many friends and most have few, about half of all friendships are mutual, half lead to a user of the same
//! community, and users of a community have numbers that lie apart. There are as many friendships as the size says,
//! from nobody to himself, none twice.

use rand::rngs::Xoshiro256PlusPlus as Random;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

use super::{Gender, Network, Size, User};

/// All networks are made from this seed. It counts as the version of the generator, too: with another one, what is cached
/// is made anew.
pub const SEED: u64 = 20_260_701;

/// So many pairs of users are drawn from one seed; it is the same however many threads there are.
const DRAWN_TOGETHER: u64 = 1 << 16;

/// How often a drawn friendship is mutual: the half of all then are.
const MUTUAL: f64 = 1.0 / 3.0;

/// How often a friend is of the same community.
const NEAR: f64 = 0.5;

/// How many entries a user has among those that drawing chooses from, on average.
const ENTRIES: f64 = 16.0;

/// A network of a size.
pub fn network(size: &Size) -> Network {
    let users = users(size.users);
    Network::new(users, friendships(size)).expect("friends are among the users")
}

fn random(stream: u64) -> Random {
    Random::seed_from_u64(SEED ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// A third has given neither age nor gender, as in the original.
fn users(number: u32) -> Vec<User> {
    let mut random = random(1);
    let mut user = |uid| {
        let completion = random.random_range(0..=100);
        let known = random.random_bool(0.64);
        let gender = if random.random_bool(0.49) { Gender::Man } else { Gender::Woman };
        // The sum of four dice: about normal around 24 years.
        let age = (0..4).map(|_| random.random_range(0..=12u8)).sum::<u8>().max(1);
        User { uid, completion, gender: known.then_some(gender), age: known.then_some(age) }
    };
    (1..=number).map(&mut user).collect()
}

/// Exactly as many friendships as the size says, as pairs of numbers of users.
fn friendships(size: &Size) -> Vec<(u32, u32)> {
    let wanted = size.friendships as usize;
    let drawing = Drawing::new(size.users);
    // A little more than wanted: some are drawn twice.
    let surplus = wanted / 32 + 64;
    let mut drawn: Vec<(u32, u32)> = Vec::with_capacity(wanted + 2 * surplus);
    let mut streams = 16u64..;
    while drawn.len() < wanted {
        let goal = drawn.len().max(wanted) + surplus;
        while drawn.len() < goal {
            let pairs = ((goal - drawn.len()) as f64 / (1.0 + MUTUAL)) as u64 + 1;
            let chunks: Vec<(u64, u64)> = chunks(pairs.min(32 * DRAWN_TOGETHER)).zip(&mut streams).collect();
            drawn.par_extend(chunks.into_par_iter().flat_map_iter(|(pairs, stream)| drawing.draw(pairs, stream)));
        }
        drawn.par_sort_unstable();
        drawn.dedup();
    }
    keep(&mut drawn, wanted);
    drawn.shrink_to_fit();
    drawn
}

/// A number in parts of at most [`DRAWN_TOGETHER`].
fn chunks(number: u64) -> impl Iterator<Item = u64> {
    (0..number.div_ceil(DRAWN_TOGETHER)).map(move |chunk| DRAWN_TOGETHER.min(number - chunk * DRAWN_TOGETHER))
}

/// Leaves so many at random (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S).
fn keep(drawn: &mut Vec<(u32, u32)>, wanted: usize) {
    let mut random = random(2);
    let (mut left, mut needed) = (drawn.len(), wanted);
    drawn.retain(|_| {
        let chosen = random.random_range(0..left) < needed;
        left -= 1;
        needed -= usize::from(chosen);
        chosen
    });
}

/// What pairs of users are drawn from. Users have ranks: those of a community are next to each other.
struct Drawing {
    users: u32,
    /// Ranks, each as often as the user is popular.
    entries: Vec<u32>,
    /// The number of the user of each rank.
    uids: Vec<u32>,
    /// Communities reach so far on each side.
    reach: i64,
}

impl Drawing {
    fn new(users: u32) -> Drawing {
        let mut uids: Vec<u32> = (1..=users).collect();
        let mut random = random(3);
        for rank in (1..uids.len()).rev() {
            uids.swap(rank, random.random_range(0..=rank));
        }
        let mut entries = Vec::with_capacity(users as usize * (ENTRIES as usize + 2));
        for rank in 0..users {
            let popularity = popularity(&mut random, users);
            entries.extend(std::iter::repeat_n(rank, (popularity * ENTRIES) as usize + 1));
        }
        Drawing { users, entries, uids, reach: i64::from(users / 200).max(64) }
    }

    /// So many friendships, and those the other way round of the mutual ones among them.
    fn draw(&self, pairs: u64, stream: u64) -> impl Iterator<Item = (u32, u32)> + use<'_> {
        let mut random = random(stream);
        (0..pairs).flat_map(move |_| {
            let from = self.popular(&mut random);
            let to = if random.random_bool(NEAR) { self.near(from, &mut random) } else { self.popular(&mut random) };
            let mutual = random.random_bool(MUTUAL);
            let (from, to) = (self.uids[from as usize], self.uids[to as usize]);
            let there = (from != to).then_some((from, to));
            let back = (from != to && mutual).then_some((to, from));
            there.into_iter().chain(back)
        })
    }

    fn popular(&self, random: &mut Random) -> u32 {
        self.entries[random.random_range(0..self.entries.len())]
    }

    /// Someone of the same community, more often close by than far away.
    fn near(&self, rank: u32, random: &mut Random) -> u32 {
        let offset = random.random_range(-self.reach..=self.reach) + random.random_range(-self.reach..=self.reach);
        (i64::from(rank) + offset).rem_euclid(i64::from(self.users)) as u32
    }
}

/// How popular a user is, 1 on average: `v² / √u` of two uniform numbers falls off with the cube of its size. Nobody is more
/// popular than the third of so many users is expected to be. Roots are exact on every machine, which logarithms are not.
fn popularity(random: &mut Random, users: u32) -> f64 {
    let (u, v): (f64, f64) = (random.random(), random.random());
    let most = (f64::from(users) / 15.0).sqrt();
    (v * v / u.max(f64::MIN_POSITIVE).sqrt()).min(most) * 1.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pokec::cache;

    fn tiny() -> (Size, Network) {
        let size: Size = "tiny".parse().expect("a size");
        let network = network(&size);
        (size, network)
    }

    #[test]
    fn counts_are_exact_without_loops_and_duplicates() {
        let (size, network) = tiny();
        assert_eq!(network.users.len(), size.users as usize);
        assert_eq!(network.friendships().count(), size.friendships as usize);
        assert!(network.friendships().all(|(from, to)| from != to));
        assert!(network.friendships().is_sorted_by(|left, right| left < right));
    }

    #[test]
    fn half_of_the_friendships_are_mutual() {
        let (size, network) = tiny();
        let mutual = |(from, to): &(u32, u32)| network.friends(to - 1).binary_search(&(from - 1)).is_ok();
        let share = network.friendships().filter(mutual).count() as f64 / f64::from(size.friendships);
        assert!((0.45..0.55).contains(&share), "{share}");
    }

    #[test]
    fn few_users_have_many_friends_both_ways() {
        let (size, network) = tiny();
        for network in [&network, &network.reversed()] {
            let mut degrees: Vec<usize> = network.places().map(|place| network.friends(place).len()).collect();
            degrees.sort_unstable_by(|left, right| right.cmp(left));
            let mean = size.friendships as usize / size.users as usize;
            assert!(degrees[0] > 10 * mean, "the most popular has {} friends", degrees[0]);
            assert!(degrees[degrees.len() / 2] < mean, "the median has {} friends", degrees[degrees.len() / 2]);
            let of_the_top = degrees[..degrees.len() / 10].iter().sum::<usize>();
            assert!(of_the_top * 10 > 3 * size.friendships as usize, "a tenth of the users has {of_the_top}");
        }
    }

    /// Friends share a friend more often than users that are as popular and no friends of each other.
    #[test]
    fn communities_share_friends() {
        let (_, network) = tiny();
        let share = |shift: usize| {
            let mut others = network.targets().iter().cycle().skip(shift);
            let shares_one = |from: u32| {
                let friends = network.friends(from);
                let mut others = others.by_ref().take(friends.len()).map(|to| network.friends(*to));
                others
                    .by_ref()
                    .filter(|others| friends.iter().any(|friend| others.binary_search(friend).is_ok()))
                    .count()
            };
            network.places().map(shares_one).sum::<usize>() as f64 / network.targets().len() as f64
        };
        let (friends, strangers) = (share(0), share(network.targets().len() / 2));
        assert!(friends > 1.5 * strangers, "{friends} of friends, {strangers} of strangers");
    }

    #[test]
    fn a_size_is_always_the_same_network() {
        let size: Size = "2000x24000".parse().expect("a size");
        assert_eq!(cache::checksum(&network(&size)), CHECKSUM);
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be had");
        assert_eq!(one_thread.install(|| cache::checksum(&network(&size))), CHECKSUM);
    }

    /// When this changes, so must [`SEED`]: files made before are then not taken for the new network.
    const CHECKSUM: u32 = 2_856_319_331;
}
