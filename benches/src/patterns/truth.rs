//! The counts that the queries must give, from the arrays of a network: products of the lengths of lists, and intersections.

use super::lists::shared;
use super::{Lists, Origin, SocialNetwork};

/// The counts of the nine queries in their order.
pub fn counts(network: &SocialNetwork) -> [i64; 9] {
    let replies = replies(network);
    let in_two_steps = interests_in_two_steps(network);
    [
        members_to_tags(network),
        friends_answer(network),
        triangles_at_home(network),
        stars(network, &replies, |number| number),
        tags_of_replies(network, |above, own| above.len() * own.len() - shared(above, own).count()),
        in_two_steps,
        stars(network, &replies, |number| number.max(1)),
        tags_of_replies(network, |above, own| (above.len() - shared(above, own).count()) * own.len()),
        in_two_steps - interests_of_friends(network),
    ]
}

/// Every person has a city, every city a country, every tag a class: only members and tags multiply.
fn members_to_tags(network: &SocialNetwork) -> i64 {
    let of_comment = |(id, _, parent): (u32, u32, u32)| match network.messages[parent as usize].origin {
        Origin::Forum(forum) => length(network.members.of(forum)) * length(network.message_tags.of(id)),
        Origin::ReplyOf(_) => 0,
    };
    network.comments().map(of_comment).sum()
}

fn friends_answer(network: &SocialNetwork) -> i64 {
    let to_post = |(_, creator, parent): &(u32, u32, u32)| {
        let post = &network.messages[*parent as usize];
        matches!(post.origin, Origin::Forum(_)) && network.knows.contains(*creator, post.creator)
    };
    network.comments().filter(to_post).count() as i64
}

/// Each triangle counts six times.
fn triangles_at_home(network: &SocialNetwork) -> i64 {
    let mut at_home = Lists::default();
    for person in 0..network.knows.owners() {
        let is_compatriot = |friend: &&u32| network.country(**friend) == network.country(person);
        at_home.push(network.knows.of(person).iter().filter(is_compatriot).copied().collect());
    }
    at_home.pairs().map(|(one, other)| shared(at_home.of(one), at_home.of(other)).count() as i64).sum()
}

/// How many replies each message has.
fn replies(network: &SocialNetwork) -> Vec<i64> {
    let mut replies = vec![0; network.messages.len()];
    network.comments().for_each(|(_, _, parent)| replies[parent as usize] += 1);
    replies
}

/// Tags, likes and replies multiply, the latter two as `counted`.
fn stars(network: &SocialNetwork, replies: &[i64], counted: impl Fn(i64) -> i64) -> i64 {
    let of_message = |(id, replies): (u32, &i64)| {
        length(network.message_tags.of(id)) * counted(length(network.likers.of(id))) * counted(*replies)
    };
    (0..).zip(replies).map(of_message).sum()
}

/// The sum over all comments of what their tags and those of what they reply to, which are given first, amount to.
fn tags_of_replies(network: &SocialNetwork, amount: impl Fn(&[u32], &[u32]) -> usize) -> i64 {
    let of_comment = |(id, _, parent)| amount(network.message_tags.of(parent), network.message_tags.of(id)) as i64;
    network.comments().map(of_comment).sum()
}

/// From each person in the middle to all friends of all friends, but not back.
fn interests_in_two_steps(network: &SocialNetwork) -> i64 {
    let interests =
        |friends: &[u32]| -> i64 { friends.iter().map(|friend| length(network.interests.of(*friend))).sum() };
    let friends = (0..network.knows.owners()).map(|middle| network.knows.of(middle));
    friends.map(|friends| (length(friends) - 1).max(0) * interests(friends)).sum()
}

/// Those of the above whose ends are friends.
fn interests_of_friends(network: &SocialNetwork) -> i64 {
    let of_ends = |(one, other): (u32, u32)| {
        let middles = shared(network.knows.of(one), network.knows.of(other)).count() as i64;
        middles * length(network.interests.of(other))
    };
    network.knows.pairs().map(of_ends).sum()
}

fn length(list: &[u32]) -> i64 {
    list.len() as i64
}
