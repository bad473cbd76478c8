//! How large a network is.

use std::str::FromStr;

/// The size of a network, with the exact counts of the benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// What the size is called.
    pub name: String,
    /// How many users there are.
    pub users: u32,
    /// How many friendships there are; a mutual one counts twice.
    pub friendships: u32,
}

impl Size {
    fn new(name: &str, users: u32, friendships: u32) -> Size {
        Size { name: name.to_string(), users, friendships }
    }

    /// A network that has a tenth of all possible friendships is no longer one of this shape, and slow to draw.
    fn is_sparse(&self) -> bool {
        self.friendships > 0 && u64::from(self.friendships) * 10 <= u64::from(self.users) * u64::from(self.users)
    }
}

impl FromStr for Size {
    type Err = String;

    /// `tiny`, `small`, `medium`, or numbers of users and friendships such as `2000x24000`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "tiny" => return Ok(Size::new(text, 10_000, 121_716)),
            "small" => return Ok(Size::new(text, 100_000, 1_768_515)),
            "medium" => return Ok(Size::new(text, 1_632_803, 30_622_564)),
            _ => {}
        }
        let parts = text.split_once('x').and_then(|(users, edges)| Some((users.parse().ok()?, edges.parse().ok()?)));
        let size = parts.map(|(users, friendships)| Size::new(text, users, friendships));
        size.filter(Size::is_sparse).ok_or_else(|| {
            format!("the size '{text}' is none of tiny, small, medium, nor users and friendships such as 2000x24000")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_counts_of_the_benchmark() {
        let counts = |name: &str| name.parse::<Size>().map(|size| (size.users, size.friendships));
        assert_eq!(counts("tiny"), Ok((10_000, 121_716)));
        assert_eq!(counts("small"), Ok((100_000, 1_768_515)));
        assert_eq!(counts("medium"), Ok((1_632_803, 30_622_564)));
        assert_eq!(counts("2000x24000"), Ok((2000, 24_000)));
    }

    #[test]
    fn other_texts_are_no_sizes() {
        for text in ["", "large", "x", "10x", "10x90", "5x0", "-1x5"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
