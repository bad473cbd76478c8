//! A social network as arrays. Everything is numbered from 0; posts and comments share the numbers of messages.

use super::Lists;

/// What hangs where, who knows whom, and who wrote, tagged and liked what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocialNetwork {
    /// How many countries there are.
    pub countries: u32,
    /// The country of each city.
    pub cities: Vec<u32>,
    /// How many classes of tags there are.
    pub tag_classes: u32,
    /// The class of each tag.
    pub tags: Vec<u32>,
    /// The city of each person.
    pub persons: Vec<u32>,
    /// Whom each person knows; who is known knows, too.
    pub knows: Lists,
    /// The tags that each person is interested in.
    pub interests: Lists,
    /// The moderator of each forum.
    pub forums: Vec<u32>,
    /// The members of each forum.
    pub members: Lists,
    /// The messages in the order of their times.
    pub messages: Vec<Message>,
    /// The tags of each message.
    pub message_tags: Lists,
    /// The persons who like each message.
    pub likers: Lists,
}

/// A post or a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The person who wrote it.
    pub creator: u32,
    /// What it belongs to.
    pub origin: Origin,
}

/// What a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is a post in this forum.
    Forum(u32),
    /// It is a comment that replies to this message, a post or a comment.
    ReplyOf(u32),
}

impl SocialNetwork {
    /// The country of a person.
    pub fn country(&self, person: u32) -> u32 {
        self.cities[self.persons[person as usize] as usize]
    }

    /// The numbers of all messages with them.
    pub fn numbered_messages(&self) -> impl Iterator<Item = (u32, &Message)> {
        (0..).zip(&self.messages)
    }

    /// The posts: number, creator, forum.
    pub fn posts(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        self.numbered_messages().filter_map(|(id, message)| match message.origin {
            Origin::Forum(forum) => Some((id, message.creator, forum)),
            Origin::ReplyOf(_) => None,
        })
    }

    /// The comments: number, creator, the message that it replies to.
    pub fn comments(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        self.numbered_messages().filter_map(|(id, message)| match message.origin {
            Origin::Forum(_) => None,
            Origin::ReplyOf(parent) => Some((id, message.creator, parent)),
        })
    }
}
