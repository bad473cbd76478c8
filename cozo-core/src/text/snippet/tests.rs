//! Snippets of texts in all conditions.

use super::*;

/// The places of words in a text.
fn places(text: &str, words: &[&str]) -> Vec<(usize, usize)> {
    words.iter().flat_map(|word| text.match_indices(word).map(|(at, word)| (at, at + word.len()))).collect()
}

#[test]
fn snippets() {
    let fox = "the quick brown fox jumps over the lazy dog near the river bank";
    let table: &[(&str, &[&str], usize, &str)] = &[
        (fox, &["fox"], 20, "…brown <fox> jumps…"),
        (fox, &["fox"], 3, "…<fox>…"),
        (fox, &["fox"], 0, "…"),
        (fox, &["fox"], 1000, "the quick brown <fox> jumps over the lazy dog near the river bank"),
        (fox, &["the"], 12, "<the> quick…"),
        (fox, &["bank"], 15, "…the river <bank>"),
        (fox, &["fox", "lazy", "dog", "bank"], 24, "…the <lazy> <dog> near the…"),
        (fox, &["the", "river"], 18, "…<the> <river> bank"),
        (fox, &[], 10, "the quick…"),
        (fox, &["brown fox", "fox jumps"], 16, "…<brown fox jumps>…"),
        ("", &[], 10, ""),
        ("short", &["short"], 10, "<short>"),
        ("不要忘记中文也有词语", &["中文"], 6, "…忘记<中文>也有…"),
        ("one-very-long-token-without-blanks", &["one-very-long-token-without-blanks"], 10, "<one-very->…"),
    ];
    for (text, words, characters, expected) in table {
        let style = SnippetStyle { characters: *characters, before: "<", after: ">", gap: "…" };
        assert_eq!(snippet(text, &places(text, words), &style), *expected, "{words:?} in {characters}");
    }
}

/// Two different words are worth more than the same word three times.
#[test]
fn different_words_come_first() {
    let text = "tea tea tea and far away from all that there is tea with milk for all";
    let style = SnippetStyle { characters: 14, before: "<", after: ">", gap: "" };
    assert_eq!(snippet(text, &places(text, &["tea", "milk"]), &style), "<tea> with <milk>");
}

#[test]
fn wrong_places_are_ignored() {
    let text = "é word";
    for place in [(1, 2), (3, 3), (5, 4), (3, 100), (usize::MAX, 2), (0, usize::MAX)] {
        assert_eq!(snippet(text, &[place], &SnippetStyle::default()), text, "{place:?}");
    }
    assert_eq!(snippet(text, &[(3, 7), (5, 2), (3, 5)], &SnippetStyle::default()), "é <b>word</b>");
}

#[test]
fn any_text_has_snippets_of_the_length() {
    let text = "aä\u{301} 中文🎉👨\u{200d}👩\u{200d}👧 b\r\n  ok, don't x-y 3.14 हिन्दी かが \u{0}end";
    let boundaries: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
    for characters in 0..30 {
        for from in &boundaries {
            for to in &boundaries {
                let style = SnippetStyle { characters, before: "", after: "", gap: "" };
                let found = snippet(text, &[(*from, *to), (2, 9)], &style);
                assert!(text.contains(&found) && found.chars().count() <= characters);
            }
        }
    }
}
