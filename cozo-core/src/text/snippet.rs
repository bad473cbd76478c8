//! Snippets: the part of a text that shows best what was found in it.
//!
//! The part is about as long as asked, begins and ends between words, and has marks around what was found. Of all parts of that
//! length, it is the one with the most different words found. Among equals it has the most words, then those closest together, then
//! it is the first.

use std::cmp::Reverse;
use std::collections::HashMap;

use unicode_segmentation::UnicodeSegmentation;

/// What a snippet looks like.
#[derive(Clone, Copy, Debug)]
pub struct SnippetStyle<'s> {
    /// The length in characters, without marks.
    pub characters: usize,
    /// What stands before each place that was found.
    pub before: &'s str,
    /// What stands after each place that was found.
    pub after: &'s str,
    /// What stands where text is left out, at the beginning and the end.
    pub gap: &'s str,
}

impl Default for SnippetStyle<'_> {
    fn default() -> Self {
        SnippetStyle { characters: 160, before: "<b>", after: "</b>", gap: "…" }
    }
}

/// Bounds of a part of a text, in bytes.
type Bounds = (usize, usize);

/// A snippet of a text with the places that were found: their bounds in bytes, in any order. Places that are not in the text are
/// ignored. Without any, the snippet is the beginning of the text.
pub fn snippet(text: &str, places: &[Bounds], style: &SnippetStyle<'_>) -> String {
    let places = in_order(text, places);
    let core = cut(text, best_cluster(text, &places, style.characters), style.characters);
    let (start, end) = widen(text, core, style.characters);
    let mut snippet = String::with_capacity(end - start + 32);
    if 0 < start && start < end {
        snippet.push_str(style.gap);
    }
    let mut at = start;
    for (from, to) in places.into_iter().map(|(from, to)| (from.max(start), to.min(end))).filter(|(from, to)| from < to)
    {
        for part in [&text[at..from], style.before, &text[from..to], style.after] {
            snippet.push_str(part);
        }
        at = to;
    }
    snippet.push_str(&text[at..end]);
    if end < text.len() {
        snippet.push_str(style.gap);
    }
    snippet
}

/// The places that are in the text, ascending. Those that overlap are joined.
fn in_order(text: &str, places: &[Bounds]) -> Vec<Bounds> {
    let is_inside = |(from, to): &Bounds| from < to && text.get(*from..*to).is_some();
    let mut places: Vec<Bounds> = places.iter().copied().filter(is_inside).collect();
    places.sort_unstable();
    places.dedup_by(|next, before| {
        let overlap = next.0 < before.1;
        before.1 = if overlap { before.1.max(next.1) } else { before.1 };
        overlap
    });
    places
}

/// The bounds of the best places that fit into so many characters together, or of the first place if it does not fit itself.
fn best_cluster(text: &str, places: &[Bounds], characters: usize) -> Bounds {
    let Some(first) = places.first() else { return (0, 0) };
    // Where the places begin and end in characters.
    let (mut at, mut count) = (0, 0);
    let mut characters_before = |place: usize| {
        count += text[at..place].chars().count();
        at = place;
        count
    };
    let bounds: Vec<Bounds> =
        places.iter().map(|(from, to)| (characters_before(*from), characters_before(*to))).collect();
    let words: Vec<String> = places.iter().map(|(from, to)| text[*from..*to].to_lowercase()).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let (mut best, mut best_worth, mut start) = (*first, (0, 0, Reverse(0)), 0);
    for (end, word) in words.iter().enumerate() {
        *counts.entry(word).or_default() += 1;
        while start < end && bounds[end].1 - bounds[start].0 > characters {
            let count = counts.entry(&words[start]).or_default();
            *count -= 1;
            if *count == 0 {
                counts.remove(words[start].as_str());
            }
            start += 1;
        }
        let worth = (counts.len(), end + 1 - start, Reverse(bounds[end].1 - bounds[start].0));
        if worth > best_worth {
            (best, best_worth) = ((places[start].0, places[end].1), worth);
        }
    }
    best
}

/// The beginning of a part that is longer than so many characters, up to the end of a word.
fn cut(text: &str, (start, end): Bounds, characters: usize) -> Bounds {
    let part = &text[start..end];
    let Some((limit, _)) = part.char_indices().nth(characters) else { return (start, end) };
    let ends = part.split_word_bound_indices().map(|(from, word)| from + word.len());
    let end_of_word = ends.take_while(|end| *end <= limit).last();
    (start, start + end_of_word.unwrap_or(limit))
}

/// The part with words before and after it, up to so many characters.
fn widen(text: &str, (core_start, core_end): Bounds, characters: usize) -> Bounds {
    let spare = characters.saturating_sub(text[core_start..core_end].chars().count());
    let before = |spare: usize| fitting(text[..core_start].split_word_bounds().rev(), spare);
    let after = |spare: usize| fitting(text[core_end..].split_word_bounds(), spare);
    let (_, on_the_left) = before(spare / 2);
    let (right, on_the_right) = after(spare - on_the_left);
    let (left, _) = before(spare - on_the_right);
    let (start, end) = (core_start - left, core_end + right);
    let blank_start = text[start..core_start].len() - text[start..core_start].trim_start().len();
    (start + blank_start, core_end + text[core_end..end].trim_end().len())
}

/// The length of the first words that have so many characters together, in bytes and in characters.
fn fitting<'t>(words: impl Iterator<Item = &'t str>, characters: usize) -> (usize, usize) {
    let lengths = words.scan((0, 0), |(bytes, count), word| {
        *bytes += word.len();
        *count += word.chars().count();
        Some((*bytes, *count))
    });
    lengths.take_while(|(_, count)| *count <= characters).last().unwrap_or_default()
}

#[cfg(test)]
mod tests;
