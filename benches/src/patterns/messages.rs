//! What persons do in a network: forums, posts, comments, tags and likes.

use rand::RngExt;

use super::draw::{Random, heavy, one_of, pairs, random};
use super::people::{People, World, topics};
use super::{Counts, Lists, Message, Origin};

/// How often a member is a friend of the moderator, or a friend of a friend.
const ACQUAINTED: f64 = 0.8;

/// How often who answers or likes is a friend of who wrote.
const FRIENDLY: f64 = 0.85;

/// How often a comment replies to a post, and not to a comment.
const TO_POST: f64 = 0.5;

/// How often a post is liked, and not a comment.
const POST_LIKED: f64 = 0.4;

/// How often a post has tags.
const POST_TAGGED: f64 = 0.35;

/// How often a comment has tags.
const COMMENT_TAGGED: f64 = 0.55;

/// How often a comment with tags takes over a tag of the message that it replies to.
const TAKEN_OVER: f64 = 0.5;

/// No forum is larger than so many of the smallest.
const MAX_FORUM: f64 = 150.0;

/// No post is more popular than so many of the least popular.
const MAX_POST: f64 = 200.0;

/// The forums: moderators, members, and what posts are drawn from.
pub struct Forums {
    pub moderators: Vec<u32>,
    pub members: Lists,
    /// Forums, each as often as it is large.
    entries: Vec<u32>,
}

impl Forums {
    pub fn new(people: &People, counts: &Counts) -> Forums {
        let mut random = random(6);
        let moderators: Vec<u32> = (0..counts.forums).map(|_| people.crowd.anyone(&mut random)).collect();
        let mut entries = vec![];
        for forum in 0..counts.forums {
            entries.extend(std::iter::repeat_n(forum, heavy(&mut random, MAX_FORUM) as usize));
        }
        let members = pairs(counts.memberships, || {
            let forum = one_of(&mut random, &entries)?;
            Some((forum, member(people, moderators[forum as usize], &mut random)))
        });
        Forums { members: Lists::new(moderators.len(), &members), moderators, entries }
    }

    /// A post in a forum, by a member.
    fn post(&self, random: &mut Random) -> Message {
        let forum = self.entries[random.random_range(0..self.entries.len())];
        let creator = one_of(random, self.members.of(forum)).unwrap_or(self.moderators[forum as usize]);
        Message { creator, origin: Origin::Forum(forum) }
    }
}

/// A friend of the moderator, a friend of a friend, or somebody of the same country.
fn member(people: &People, moderator: u32, random: &mut Random) -> u32 {
    if !random.random_bool(ACQUAINTED) {
        return people.neighbour(moderator, random);
    }
    let friend = people.friend(moderator, random);
    if random.random_bool(0.5) { friend } else { people.friend(friend, random) }
}

/// Messages in the order of their times.
pub struct Messages {
    pub messages: Vec<Message>,
    /// The posts, each as often as popular.
    post_entries: Vec<u32>,
    comments: Vec<u32>,
}

impl Messages {
    pub fn new(people: &People, forums: &Forums, counts: &Counts) -> Messages {
        let mut random = random(7);
        let (mut posts_left, mut left) = (counts.posts, counts.posts + counts.comments);
        let mut all = Messages { messages: Vec::with_capacity(left as usize), post_entries: vec![], comments: vec![] };
        while left > 0 {
            // The first is a post, or there were nothing to reply to.
            let is_post = all.messages.is_empty() || random.random_range(0..left) < posts_left;
            let id = all.messages.len() as u32;
            if is_post {
                posts_left -= 1;
                all.post_entries.extend(std::iter::repeat_n(id, heavy(&mut random, MAX_POST) as usize));
                all.messages.push(forums.post(&mut random));
            } else {
                let comment = all.comment(people, &mut random);
                all.comments.push(id);
                all.messages.push(comment);
            }
            left -= 1;
        }
        all
    }

    /// A comment on a popular post or on any comment, mostly by a friend.
    fn comment(&self, people: &People, random: &mut Random) -> Message {
        let to_post = random.random_bool(TO_POST) || self.comments.is_empty();
        let list = if to_post { &self.post_entries } else { &self.comments };
        let parent = list[random.random_range(0..list.len())];
        Message { creator: self.follower(parent, people, random), origin: Origin::ReplyOf(parent) }
    }

    /// Who answers or likes a message.
    fn follower(&self, message: u32, people: &People, random: &mut Random) -> u32 {
        match random.random_bool(FRIENDLY) {
            true => people.friend(self.messages[message as usize].creator, random),
            false => people.crowd.anyone(random),
        }
    }

    /// The tags of each message. A comment takes some over.
    pub fn tags(&self, world: &World, people: &People) -> Lists {
        let (mut random, mut tags) = (random(8), Lists::default());
        for message in &self.messages {
            let (often, above) = match message.origin {
                Origin::Forum(_) => (POST_TAGGED, &[][..]),
                Origin::ReplyOf(parent) => (COMMENT_TAGGED, tags.of(parent)),
            };
            let mut own = vec![];
            if random.random_bool(often) {
                own.extend(above.iter().filter(|_| random.random_bool(TAKEN_OVER)));
                own.extend(topics(world, people.interests.of(message.creator), &mut random));
            }
            tags.push(own);
        }
        tags
    }

    /// Who likes each message: popular posts are liked as they are answered, comments all alike.
    pub fn likers(&self, people: &People, counts: &Counts) -> Lists {
        let mut random = random(9);
        let likes = pairs(counts.likes, || {
            let list = if random.random_bool(POST_LIKED) { &self.post_entries } else { &self.comments };
            let message = one_of(&mut random, list)?;
            Some((message, self.follower(message, people, &mut random)))
        });
        Lists::new(self.messages.len(), &likes)
    }
}
