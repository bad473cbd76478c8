//! Social networks of the shape of LDBC's SNB, always the same for a scale.
//!
//! The shape is that of SNB: the kinds of things, how many there are, and which are rare or frequent. The data is not: names, times
//! and texts are left out, no count of a query is that of the original, and numbers begin at 0 without gaps. What is skewed, and how:
//!
//! * **Countries** have people in proportion to 1 / rank. Cities of a country are drawn in proportion to 1 / √rank.
//! * **Popularity** of a person is `v² / √u` of two uniform numbers, at most 20 times the average. Persons are drawn by it as
//!   friends, moderators and strangers, so that few know very many.
//! * **Friends.** A quarter is drawn from the same country, the rest from all. This makes triangles within countries.
//! * **Tags** are drawn in proportion to 1 / √rank, classes of tags as well. A person has 1 to 46 interests, half of them by a
//!   ranking of the country.
//! * **Forums** have sizes of a Pareto distribution with exponent 4/3. Both members and posts follow the size. Four in five members
//!   are friends of the moderator, or their friends; the others are of the same country. A post is by a member.
//! * **Comments.** Half reply to a post, the other half to a comment, whatever its age. The popularity of posts is of a Pareto
//!   distribution with exponent 4/3. Mostly a friend answers.
//! * **Tags of messages.** About a third of the posts have some, and more than half of the comments, which take over half of the
//!   tags of what they reply to. Half of the others are interests of the creator.
//! * **Likes.** Two in five are of posts, by the popularity that comments follow, too. Mostly a friend likes.
//!
//! Posts and comments are numbered together in the order of their times.

use super::messages::{Forums, Messages};
use super::people::{People, World};
use super::{Counts, Scale, SocialNetwork};

/// A network of a scale.
pub fn network(scale: Scale) -> SocialNetwork {
    let counts = Counts::from(scale);
    let world = World::new();
    let people = People::new(&world, &counts);
    let forums = Forums::new(&people, &counts);
    let messages = Messages::new(&people, &forums, &counts);
    let message_tags = messages.tags(&world, &people);
    let likers = messages.likers(&people, &counts);
    SocialNetwork {
        countries: world.countries,
        cities: world.cities,
        tag_classes: world.tag_classes,
        tags: world.tags,
        persons: people.persons,
        knows: people.knows,
        interests: people.interests,
        forums: forums.moderators,
        members: forums.members,
        messages: messages.messages,
        message_tags,
        likers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::schema::RELATIONS;
    use crate::patterns::{Lists, Origin, truth};

    const SMALL: Scale = Scale(0.02);

    #[test]
    fn counts_are_those_of_the_scale() {
        let (network, counts) = (network(SMALL), Counts::from(SMALL));
        let rows = |name: &str| {
            let relation = RELATIONS.iter().find(|relation| relation.name == name).expect("a relation");
            relation.rows(&network).count()
        };
        assert_eq!(rows("person"), counts.persons as usize);
        assert_eq!(rows("knows"), 2 * counts.friendships);
        assert_eq!(rows("forum"), counts.forums as usize);
        assert_eq!(rows("has_member"), counts.memberships);
        assert_eq!((rows("post"), rows("comment")), (counts.posts as usize, counts.comments as usize));
        assert_eq!(rows("message"), rows("post") + rows("comment"));
        assert_eq!(rows("likes"), counts.likes);
    }

    #[test]
    fn edges_lead_to_what_is_there() {
        let network = network(SMALL);
        assert!(network.knows.pairs().all(|(one, other)| one != other && network.knows.contains(other, one)));
        let below = |lists: &Lists, end: usize| lists.pairs().all(|(_, item)| (item as usize) < end);
        assert!(below(&network.interests, network.tags.len()) && below(&network.message_tags, network.tags.len()));
        assert!(below(&network.members, network.persons.len()) && below(&network.likers, network.persons.len()));
        let is_earlier = |(id, message): (u32, &crate::patterns::Message)| match message.origin {
            Origin::Forum(forum) => (forum as usize) < network.forums.len(),
            Origin::ReplyOf(parent) => parent < id,
        };
        assert!(network.numbered_messages().all(is_earlier));
    }

    /// The shares that the longest tenth of the lists have of all.
    #[test]
    fn few_have_most() {
        let network = network(SMALL);
        for (what, lists, share) in
            [("friends", &network.knows, 0.25), ("members", &network.members, 0.4), ("likes", &network.likers, 0.35)]
        {
            let mut lengths: Vec<usize> = (0..lists.owners()).map(|owner| lists.of(owner).len()).collect();
            lengths.sort_unstable_by(|left, right| right.cmp(left));
            let of_the_top = lengths[..lengths.len() / 10].iter().sum::<usize>() as f64;
            let got = of_the_top / lists.pairs().count() as f64;
            assert!(got > share, "a tenth has {got} of the {what}");
        }
    }

    /// Of persons drawn alike, few would be friends, and one pair in seventeen of the same country.
    #[test]
    fn friends_answer_and_live_nearby() {
        let network = network(SMALL);
        let (mut answers, mut of_friends) = (0, 0);
        for (_, creator, parent) in network.comments() {
            answers += 1;
            of_friends += usize::from(network.knows.contains(creator, network.messages[parent as usize].creator));
        }
        assert!(of_friends * 10 > answers * 8, "{of_friends} of {answers}");
        let at_home = network.knows.pairs().filter(|(one, other)| network.country(*one) == network.country(*other));
        let (at_home, all) = (at_home.count(), network.knows.pairs().count());
        assert!(at_home * 7 > all, "{at_home} of {all}");
    }

    /// Figures of different times and machines are of the same network.
    #[test]
    fn a_scale_is_always_the_same_network() {
        assert_eq!(truth::counts(&network(SMALL)), COUNTS);
    }

    /// The counts of [`SMALL`].
    const COUNTS: [i64; 9] = [578_623, 11_871, 1_170, 22_213, 45_693, 2_585_317, 82_955, 22_965, 2_311_705];
}
