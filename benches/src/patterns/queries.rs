//! The nine queries of LSQB in CozoScript, as a user writes them: atoms in the order of the pattern.

/// A query that answers one count.
#[derive(Debug)]
pub struct Query {
    /// `q1` to `q9`, as in the publication.
    pub name: &'static str,
    /// The script.
    pub script: &'static str,
}

/// All queries, in the order of their numbers.
pub const QUERIES: [Query; 9] = [
    Query { name: "q1", script: MEMBERS_TO_TAGS },
    Query { name: "q2", script: FRIENDS_ANSWER },
    Query { name: "q3", script: TRIANGLES_AT_HOME },
    Query { name: "q4", script: STARS },
    Query { name: "q5", script: TAGS_OF_REPLIES },
    Query { name: "q6", script: INTERESTS_IN_TWO_STEPS },
    Query { name: "q7", script: OPTIONAL_STARS },
    Query { name: "q8", script: NEW_TAGS_OF_REPLIES },
    Query { name: "q9", script: INTERESTS_OF_STRANGERS },
];

/// A long path: from countries over members of forums to the classes of the tags of comments on posts there.
const MEMBERS_TO_TAGS: &str = "
?[count(comment)] :=
    *country{id: country},
    *city{id: city, country},
    *person{id: person, city},
    *has_member{forum, person},
    *forum{id: forum},
    *post{id: post, forum},
    *comment{id: comment, reply_of: post},
    *has_tag{message: comment, tag},
    *tag{id: tag, class},
    *tag_class{id: class}
";

/// A cycle: comments on posts of somebody whom the creator knows.
const FRIENDS_ANSWER: &str = "
?[count(comment)] :=
    *knows{a: person1, b: person2},
    *comment{id: comment, creator: person1, reply_of: post},
    *post{id: post, creator: person2}
";

/// A triangle: three persons of the same country who know each other.
const TRIANGLES_AT_HOME: &str = "
?[count(person1)] :=
    *country{id: country},
    *city{id: city1, country},
    *city{id: city2, country},
    *city{id: city3, country},
    *person{id: person1, city: city1},
    *person{id: person2, city: city2},
    *person{id: person3, city: city3},
    *knows{a: person1, b: person2},
    *knows{a: person2, b: person3},
    *knows{a: person3, b: person1}
";

/// A star: a message with its tags, creator, likes and replies.
const STARS: &str = "
?[count(message)] :=
    *has_tag{message, tag},
    *message{id: message, creator},
    *likes{person: liker, message},
    *comment{id: comment, reply_of: message}
";

/// A path: tags of messages with other tags of replies.
const TAGS_OF_REPLIES: &str = "
?[count(comment)] :=
    *has_tag{message, tag: tag1},
    *comment{id: comment, reply_of: message},
    *has_tag{message: comment, tag: tag2},
    tag1 != tag2
";

/// A path: interests of friends of friends.
const INTERESTS_IN_TWO_STEPS: &str = "
?[count(tag)] :=
    *knows{a: person1, b: person2},
    *knows{a: person2, b: person3},
    *has_interest{person: person3, tag},
    person1 != person3
";

/// The star, where a message need have neither likes nor replies.
const OPTIONAL_STARS: &str = "
liked[message, liker] := *likes{person: liker, message}
liked[message, liker] := *message{id: message}, not *likes{message}, liker = null

answered[message, comment] := *comment{id: comment, reply_of: message}
answered[message, comment] := *message{id: message}, not *comment{reply_of: message}, comment = null

?[count(message)] :=
    *has_tag{message, tag},
    *message{id: message, creator},
    liked[message, liker],
    answered[message, comment]
";

/// Tags of messages with other tags of replies that do not have the first.
const NEW_TAGS_OF_REPLIES: &str = "
?[count(comment)] :=
    *has_tag{message, tag: tag1},
    *comment{id: comment, reply_of: message},
    *has_tag{message: comment, tag: tag2},
    not *has_tag{message: comment, tag: tag1},
    tag1 != tag2
";

/// Interests of friends of friends who are no friends.
const INTERESTS_OF_STRANGERS: &str = "
?[count(tag)] :=
    *knows{a: person1, b: person2},
    *knows{a: person2, b: person3},
    *has_interest{person: person3, tag},
    not *knows{a: person1, b: person3},
    person1 != person3
";
