//! The relations of a social network: one for each kind of thing, with what it has one of, and one for each kind of edge.

use super::SocialNetwork;

/// A relation of integers.
#[derive(Debug)]
pub struct Relation {
    /// The name.
    pub name: &'static str,
    /// The columns of the key.
    pub keys: &'static [&'static str],
    /// The other columns.
    pub values: &'static [&'static str],
}

/// A row of a relation: as many numbers as it has columns, then zeros.
pub type Row = [u32; 3];

/// The relations. `message` has all posts and comments.
pub const RELATIONS: [Relation; 14] = [
    relation("country", &["id"], &[]),
    relation("city", &["id"], &["country"]),
    relation("tag_class", &["id"], &[]),
    relation("tag", &["id"], &["class"]),
    relation("person", &["id"], &["city"]),
    relation("forum", &["id"], &["moderator"]),
    relation("post", &["id"], &["creator", "forum"]),
    relation("comment", &["id"], &["creator", "reply_of"]),
    relation("message", &["id"], &["creator"]),
    relation("knows", &["a", "b"], &[]),
    relation("has_interest", &["person", "tag"], &[]),
    relation("has_member", &["forum", "person"], &[]),
    relation("has_tag", &["message", "tag"], &[]),
    relation("likes", &["person", "message"], &[]),
];

/// Ordinary indices for edges and foreign keys that are followed against their direction.
pub const REVERSE_INDICES: [(&str, &str); 12] = [
    ("city", "country"),
    ("person", "city"),
    ("tag", "class"),
    ("post", "creator"),
    ("post", "forum"),
    ("comment", "creator"),
    ("comment", "reply_of"),
    ("message", "creator"),
    ("has_interest", "tag"),
    ("has_member", "person"),
    ("has_tag", "tag"),
    ("likes", "message"),
];

const fn relation(name: &'static str, keys: &'static [&'static str], values: &'static [&'static str]) -> Relation {
    Relation { name, keys, values }
}

impl Relation {
    /// All columns.
    pub fn columns(&self) -> Vec<&'static str> {
        [self.keys, self.values].concat()
    }

    /// The script that makes it.
    pub fn create(&self) -> String {
        let list = |names: &[&str]| names.iter().map(|name| format!("{name}: Int")).collect::<Vec<_>>().join(", ");
        let arrow = if self.values.is_empty() { "" } else { " => " };
        format!(":create {} {{{}{arrow}{}}}", self.name, list(self.keys), list(self.values))
    }

    /// Its rows of a network, most of them in the order of the key.
    pub fn rows<'n>(&self, network: &'n SocialNetwork) -> Box<dyn Iterator<Item = Row> + 'n> {
        match self.name {
            "country" => Box::new((0..network.countries).map(|id| [id, 0, 0])),
            "city" => numbered(&network.cities),
            "tag_class" => Box::new((0..network.tag_classes).map(|id| [id, 0, 0])),
            "tag" => numbered(&network.tags),
            "person" => numbered(&network.persons),
            "forum" => numbered(&network.forums),
            "post" => Box::new(network.posts().map(|(id, creator, forum)| [id, creator, forum])),
            "comment" => Box::new(network.comments().map(|(id, creator, parent)| [id, creator, parent])),
            "message" => Box::new(network.numbered_messages().map(|(id, message)| [id, message.creator, 0])),
            "knows" => Box::new(network.knows.pairs().map(|(a, b)| [a, b, 0])),
            "has_interest" => Box::new(network.interests.pairs().map(|(person, tag)| [person, tag, 0])),
            "has_member" => Box::new(network.members.pairs().map(|(forum, person)| [forum, person, 0])),
            "has_tag" => Box::new(network.message_tags.pairs().map(|(message, tag)| [message, tag, 0])),
            "likes" => Box::new(network.likers.pairs().map(|(message, person)| [person, message, 0])),
            other => unreachable!("there is no relation {other}"),
        }
    }
}

/// The script that makes an ordinary index for a column.
pub fn create_index(relation: &str, column: &str) -> String {
    format!("::index create {relation}:by_{column} {{{column}}}")
}

fn numbered(values: &[u32]) -> Box<dyn Iterator<Item = Row> + '_> {
    Box::new((0..).zip(values).map(|(id, value)| [id, *value, 0]))
}
