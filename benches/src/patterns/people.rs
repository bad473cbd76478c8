//! The persons of a network: where they live, whom they know, what they are interested in.

use rand::RngExt;

use super::draw::{Random, halving, one_of, pairs, random, skewed};
use super::{Counts, Lists};

/// How often a friend lives in the same country for that reason alone.
const HOME: f64 = 0.25;

/// How often an interest is one of the country.
const LOCAL: f64 = 0.5;

/// Interests of a person are at most so many, half as many on average.
const MAX_INTERESTS: u32 = 46;

/// How many entries a person has on average among those that drawing chooses from.
const ENTRIES: f64 = 16.0;

/// Nobody is more popular than so many average persons.
const MAX_POPULARITY: f64 = 20.0;

/// Tags, countries and cities: as many as LDBC has at every scale.
pub struct World {
    pub countries: u32,
    pub cities: Vec<u32>,
    pub tag_classes: u32,
    pub tags: Vec<u32>,
    /// The tags by popularity.
    ranks: Vec<u32>,
}

impl World {
    pub fn new() -> World {
        let (countries, cities, tag_classes, tags) = (111, 1_343, 71, 16_080);
        let mut random = random(1);
        let draw = Countries::new(countries);
        // Each country has a city.
        let cities = (0..cities).map(|city| if city < countries { city } else { draw.one(&mut random) }).collect();
        let mut ranks: Vec<u32> = (0..tags).collect();
        for rank in (1..ranks.len()).rev() {
            ranks.swap(rank, random.random_range(0..=rank));
        }
        let tags = (0..tags).map(|_| skewed(&mut random, tag_classes)).collect();
        World { countries, cities, tag_classes, tags, ranks }
    }

    /// A tag that is popular everywhere.
    pub fn tag(&self, random: &mut Random) -> u32 {
        self.ranks[skewed(random, self.ranks.len() as u32) as usize]
    }

    /// A tag that is popular in a country.
    fn tag_of(&self, country: u32, random: &mut Random) -> u32 {
        let (tags, shift) = (self.ranks.len(), self.ranks.len() / self.countries as usize);
        self.ranks[(skewed(random, tags as u32) as usize + shift * (country as usize + 1)) % tags]
    }
}

/// Draws countries in proportion to their people: the r-th has 1 / r of those of the first.
struct Countries {
    /// The sum of the people of each country and all before.
    sums: Vec<f64>,
}

impl Countries {
    fn new(number: u32) -> Countries {
        let people = (1..=number).map(|rank| 1.0 / f64::from(rank));
        let sums = people.scan(0.0, |sum, people| {
            *sum += people;
            Some(*sum)
        });
        Countries { sums: sums.collect() }
    }

    fn one(&self, random: &mut Random) -> u32 {
        let point = random.random::<f64>() * self.sums[self.sums.len() - 1];
        self.sums.partition_point(|sum| *sum < point).min(self.sums.len() - 1) as u32
    }
}

/// Draws persons in proportion to their popularity.
pub struct Crowd {
    /// Persons, each as often as popular; those of a country are next to each other.
    entries: Vec<u32>,
    /// Where the entries of each country begin, and an end.
    begins: Vec<usize>,
}

impl Crowd {
    fn new(country_of: &[u32], countries: u32) -> Crowd {
        let mut random = random(2);
        let mut persons: Vec<Vec<u32>> = vec![vec![]; countries as usize];
        (0..).zip(country_of).for_each(|(person, country)| persons[*country as usize].push(person));
        let (mut entries, mut begins) = (vec![], vec![0]);
        for persons in persons {
            for person in persons {
                entries.extend(std::iter::repeat_n(person, (popularity(&mut random) * ENTRIES) as usize + 1));
            }
            begins.push(entries.len());
        }
        Crowd { entries, begins }
    }

    /// One of all.
    pub fn anyone(&self, random: &mut Random) -> u32 {
        self.entries[random.random_range(0..self.entries.len())]
    }

    /// One of a country that has somebody.
    pub fn compatriot(&self, country: u32, random: &mut Random) -> u32 {
        let country = country as usize;
        self.entries[random.random_range(self.begins[country]..self.begins[country + 1])]
    }
}

/// How popular a person is, 1 on average: `v² / √u` of two uniform numbers falls off with the cube of its size.
fn popularity(random: &mut Random) -> f64 {
    let (u, v): (f64, f64) = (random.random(), random.random());
    (1.5 * v * v / u.max(f64::MIN_POSITIVE).sqrt()).min(MAX_POPULARITY)
}

/// The persons with what they have and whom they know.
pub struct People {
    pub persons: Vec<u32>,
    pub knows: Lists,
    pub interests: Lists,
    pub crowd: Crowd,
    country_of: Vec<u32>,
}

impl People {
    pub fn new(world: &World, counts: &Counts) -> People {
        let persons = homes(world, counts.persons);
        let country_of: Vec<u32> = persons.iter().map(|city| world.cities[*city as usize]).collect();
        let crowd = Crowd::new(&country_of, world.countries);
        let interests = interests(world, &country_of);
        let knows = friendships(counts, &country_of, &crowd);
        People { persons, knows, interests, crowd, country_of }
    }

    /// A friend of a person, or anyone if there is none.
    pub fn friend(&self, person: u32, random: &mut Random) -> u32 {
        one_of(random, self.knows.of(person)).unwrap_or_else(|| self.crowd.anyone(random))
    }

    /// Somebody of the country of a person.
    pub fn neighbour(&self, person: u32, random: &mut Random) -> u32 {
        self.crowd.compatriot(self.country_of[person as usize], random)
    }
}

/// The city of each person.
fn homes(world: &World, persons: u32) -> Vec<u32> {
    let (mut random, countries) = (random(3), Countries::new(world.countries));
    let mut cities: Vec<Vec<u32>> = vec![vec![]; world.countries as usize];
    (0..).zip(&world.cities).for_each(|(city, country)| cities[*country as usize].push(city));
    let mut home = |_| {
        let cities = &cities[countries.one(&mut random) as usize];
        cities[skewed(&mut random, cities.len() as u32) as usize]
    };
    (0..persons).map(&mut home).collect()
}

fn interests(world: &World, country_of: &[u32]) -> Lists {
    let (mut random, mut interests) = (random(4), Lists::default());
    for country in country_of {
        let number = random.random_range(1..=MAX_INTERESTS);
        let mut interest = |_| match random.random_bool(LOCAL) {
            true => world.tag_of(*country, &mut random),
            false => world.tag(&mut random),
        };
        interests.push((0..number).map(&mut interest).collect());
    }
    interests
}

/// Both directions of each friendship.
fn friendships(counts: &Counts, country_of: &[u32], crowd: &Crowd) -> Lists {
    let mut random = random(5);
    let drawn = pairs(counts.friendships, || {
        let one = crowd.anyone(&mut random);
        let other = match random.random_bool(HOME) {
            true => crowd.compatriot(country_of[one as usize], &mut random),
            false => crowd.anyone(&mut random),
        };
        (one != other).then_some((one.min(other), one.max(other)))
    });
    let mut both: Vec<(u32, u32)> = drawn.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]).collect();
    both.sort_unstable();
    Lists::new(country_of.len(), &both)
}

/// Tags of a message by a person: often interests of the person.
pub fn topics(world: &World, interests: &[u32], random: &mut Random) -> Vec<u32> {
    let number = halving(random);
    let mut topic = |_| match random.random_bool(0.5) {
        true => one_of(random, interests).unwrap_or_else(|| world.tag(random)),
        false => world.tag(random),
    };
    (0..number).map(&mut topic).collect()
}
