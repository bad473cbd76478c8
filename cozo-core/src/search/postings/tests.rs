//! Searches, merges and bytes, compared with an oracle that looks into every document.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::text::{AnalyzeOptions, AnalyzedQuery, Analyzer, QueryTerm, TextQuery, Tokens};

/// A document as the oracle sees it: its tokens in order.
type Doc = Vec<String>;

/// A part of the oracle: documents, and those that are dead.
struct OraclePart {
    docs: Vec<Doc>,
    dead: BTreeSet<u32>,
}

/// Searches by looking into every document.
struct Oracle<'a> {
    parts: &'a [OraclePart],
    scoring: Scoring,
    rows: u64,
    /// The number of documents and their average length.
    totals: (f64, f64),
    /// The numbers that the weights of leaves depend on.
    counts: RefCell<BTreeMap<String, u64>>,
}

impl<'a> Oracle<'a> {
    fn new(parts: &'a [OraclePart], scoring: Scoring, rows: u64) -> Self {
        let mut oracle = Oracle { parts, scoring, rows, totals: (0.0, 0.0), counts: RefCell::default() };
        let docs = oracle.live().count() as f64;
        let length = oracle.live().map(|(_, _, doc)| doc.len()).sum::<usize>() as f64;
        oracle.totals = (docs, length / docs);
        oracle
    }

    fn count_all(&self, leaf: &AnalyzedQuery) -> u64 {
        let of_live = || self.live().map(|(_, _, doc)| self.count(doc, leaf).1).sum();
        *self.counts.borrow_mut().entry(format!("{leaf:?}")).or_insert_with(of_live)
    }

    fn live(&self) -> impl Iterator<Item = (usize, u32, &Doc)> {
        self.parts.iter().enumerate().flat_map(|(part, of)| {
            let docs = of.docs.iter().enumerate().filter(|(doc, _)| !of.dead.contains(&(*doc as u32)));
            docs.map(move |(doc, tokens)| (part, doc as u32, tokens))
        })
    }

    /// How often a document has a leaf, and how many words it has it by.
    fn count(&self, doc: &Doc, leaf: &AnalyzedQuery) -> (u32, u64) {
        let matches = |term: &QueryTerm, token: &String| match term.prefix {
            true => token.starts_with(&*term.text),
            false => *token == *term.text,
        };
        let at = |term: &QueryTerm| -> Vec<usize> { (0..doc.len()).filter(|at| matches(term, &doc[*at])).collect() };
        match leaf {
            AnalyzedQuery::Term(term) => {
                let places = at(term);
                let words: BTreeSet<&String> = places.iter().map(|at| &doc[*at]).collect();
                (places.len() as u32, words.len() as u64)
            }
            AnalyzedQuery::Phrase(terms) => {
                let holds = |start: &usize| {
                    let of = |(offset, term): &(usize, QueryTerm)| {
                        doc.get(start + offset).is_some_and(|token| matches(term, token))
                    };
                    terms.iter().all(of)
                };
                let count = (0..doc.len()).filter(holds).count();
                (count as u32, u64::from(count > 0))
            }
            AnalyzedQuery::Near { within, terms } => {
                let places: Vec<Vec<usize>> = terms.iter().map(at).collect();
                let starts: BTreeSet<usize> = places.iter().flatten().copied().collect();
                let near =
                    |start: usize, of: &Vec<usize>| of.iter().any(|at| *at >= start && at - start <= *within as usize);
                let count = starts.iter().filter(|start| places.iter().all(|of| near(**start, of))).count();
                (count as u32, u64::from(count > 0))
            }
            _ => unreachable!("these are leaves"),
        }
    }

    /// The score of a document; none if it is not found.
    fn score(&self, doc: &Doc, query: &AnalyzedQuery) -> Option<f64> {
        match query {
            AnalyzedQuery::And(parts) => parts.iter().map(|part| self.score(doc, part)).sum(),
            AnalyzedQuery::Or(parts) => {
                let scores: Vec<f64> = parts.iter().filter_map(|part| self.score(doc, part)).collect();
                let adds_up = matches!(self.scoring, Scoring::Bm25 { .. });
                match scores.is_empty() {
                    true => None,
                    false if adds_up => Some(scores.iter().sum()),
                    false => scores.into_iter().reduce(f64::max),
                }
            }
            AnalyzedQuery::Not { keep, except } => {
                let is_excepted = except.iter().any(|part| self.score(doc, part).is_some());
                if is_excepted { None } else { self.score(doc, keep) }
            }
            leaf => {
                let (count, _) = self.count(doc, leaf);
                let n = self.count_all(leaf);
                let boost: f64 = match leaf {
                    AnalyzedQuery::Term(term) => term.boost,
                    AnalyzedQuery::Phrase(terms) => terms[0].1.boost,
                    AnalyzedQuery::Near { terms, .. } => terms.iter().map(|term| term.boost).sum(),
                    _ => unreachable!("these are leaves"),
                };
                (count > 0).then(|| self.of_count(f64::from(count), n as f64, boost, doc.len() as f64))
            }
        }
    }

    fn of_count(&self, count: f64, n: f64, boost: f64, length: f64) -> f64 {
        let (docs, average) = self.totals;
        let idf = |of: f64| (1.0 + (of - n + 0.5) / (n + 0.5)).ln();
        match self.scoring {
            Scoring::Tf => count * boost,
            Scoring::TfIdf => count * idf(self.rows as f64) * boost,
            Scoring::Bm25 { k1, b } => {
                boost * idf(docs) * count * (k1 + 1.0) / (count + k1 * (1.0 - b + b * length / average))
            }
        }
    }

    fn top(&self, query: &AnalyzedQuery, k: usize) -> Vec<TextHit> {
        let hit =
            |(part, doc, tokens): (usize, u32, &Doc)| Some(TextHit { part, doc, score: self.score(tokens, query)? });
        let mut hits: Vec<TextHit> = self.live().filter_map(hit).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(order((a.part, a.doc), (b.part, b.doc))));
        hits.truncate(k);
        hits
    }
}

/// The order of keys: documents of all parts alternate.
fn order(a: (usize, u32), b: (usize, u32)) -> Ordering {
    (a.1, a.0).cmp(&(b.1, b.0))
}

fn analyzer() -> Analyzer {
    Analyzer::new(("Whitespace", &[]), &[]).expect("the analyzer exists")
}

fn built(docs: &[Doc]) -> Postings {
    let (analyzer, mut tokens) = (analyzer(), Tokens::default());
    let half = docs.len() / 2;
    let builders = [0..half, half..docs.len()].map(|range| {
        let mut builder = PostingsBuilder::new();
        for doc in range {
            analyzer.tokens(&docs[doc].join(" "), &mut tokens).expect("there is no budget");
            builder.add(doc as u32, &tokens).expect("there is no budget");
        }
        builder
    });
    PostingsBuilder::join(builders.into()).expect("there is no budget")
}

/// A word; small numbers are far more frequent, and words have common beginnings.
fn word(random: &mut StdRng) -> String {
    let number = (40.0 * random.random::<f64>().powi(3)) as u32;
    ["a", "ab", "b", "ba", "c"][number as usize % 5].to_string() + &"x".repeat(number as usize / 5)
}

fn text_of(random: &mut StdRng, depth: usize) -> String {
    let boost = ["", "", "^2", "^0.5"][random.random_range(0..4)];
    let leaf = |random: &mut StdRng| match random.random_range(0..8) {
        0 => format!("{}*", word(random)),
        1 => format!("\"{} {}\"", word(random), word(random)),
        2 => format!("\"{} {} {}\"", word(random), word(random), word(random)),
        _ => word(random),
    };
    if depth == 0 {
        return format!("{}{boost}", leaf(random));
    }
    let parts: Vec<String> = (0..random.random_range(2..4)).map(|_| text_of(random, depth - 1)).collect();
    match random.random_range(0..6) {
        0 => format!("({})", parts.join(" AND ")),
        1 => format!("({} NOT {})", parts[0], parts[1]),
        2 => format!("NEAR/{}({} {})", random.random_range(1..6), leaf(random), leaf(random)),
        3 => parts[0].clone(),
        _ => format!("({})", parts.join(" OR ")),
    }
}

/// Compares searches of random indexes with the oracle.
fn compare(seed: u64, searches: usize) {
    let mut random = StdRng::seed_from_u64(seed);
    let scorings = [Scoring::Tf, Scoring::TfIdf, Scoring::Bm25 { k1: 1.2, b: 0.75 }];
    let mut compared = 0;
    while compared < searches {
        let mut parts: Vec<OraclePart> = vec![];
        for _ in 0..random.random_range(1..4) {
            let size = [5, 40, 300][random.random_range(0..3)];
            let docs =
                (0..size).map(|_| (0..random.random_range(0..12)).map(|_| word(&mut random)).collect()).collect();
            parts.push(OraclePart { docs, dead: BTreeSet::new() });
        }
        let indexes: Vec<Postings> = parts.iter().map(|part| built(&part.docs)).collect();
        let (mut deletions, mut shadowed) = (vec![], vec![]);
        for (part, postings) in parts.iter_mut().zip(&indexes) {
            let mut some =
                |share: f64| -> Vec<u32> { (0..postings.docs()).filter(|_| random.random_bool(share)).collect() };
            let (first, second, third) = (some(0.1), some(0.05), some(0.05));
            part.dead.extend(first.iter().chain(&second).chain(&third));
            let all = postings.delete(&second, Some(&postings.delete(&first, None)));
            deletions.push(Deletions::from_bytes(&all.to_bytes()).expect("the bytes are whole"));
            shadowed.push(third);
        }
        let rows = parts.iter().map(|part| part.docs.len() as u64).sum::<u64>() + 3;
        for _ in 0..50 {
            let (depth, exact) = (random.random_range(0..3), random.random_bool(0.5));
            let text = text_of(&mut random, depth);
            let parsed = TextQuery::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let options = AnalyzeOptions { exact, prefix_analyzed: false };
            let Some(query) = parsed.and_then(|query| query.analyze(&analyzer(), options).expect("no budget")) else {
                continue;
            };
            let (scoring, k) = (scorings[random.random_range(0..3)], [1, 3, 10, 1000][random.random_range(0..4)]);
            let of = |part: usize| PostingsPart {
                postings: &indexes[part],
                deletions: Some(&deletions[part]),
                shadowed: &shadowed[part],
                allowed: None,
            };
            let mut search =
                TextSearch::new(&query, (0..parts.len()).map(of).collect(), scoring, rows).expect("no budget");
            let found = search.top(k, &order).expect("no budget");
            let wanted = Oracle::new(&parts, scoring, rows).top(&query, k);
            same(&found, &wanted, &text);
            compared += 1;
        }
    }
}

/// Equal scores may come in another order, since sums are rounded in another order.
fn same(found: &[TextHit], wanted: &[TextHit], text: &str) {
    assert_eq!(found.len(), wanted.len(), "{text}");
    for (a, b) in found.iter().zip(wanted) {
        let close = (a.score - b.score).abs() <= 1e-9 * b.score.abs().max(1.0);
        assert!(close, "{text}: {a:?} is not {b:?}\n{found:?}\n{wanted:?}");
    }
    let tied = |hits: &[TextHit]| -> BTreeMap<i64, usize> {
        hits.iter().fold(BTreeMap::new(), |mut counts, hit| {
            *counts.entry((hit.score * 1e6).round() as i64).or_default() += 1;
            counts
        })
    };
    assert_eq!(tied(found).len(), tied(wanted).len(), "{text}");
}

#[test]
fn searches_find_what_looking_into_every_document_finds() {
    compare(1, 10_000);
}

#[test]
#[ignore = "takes minutes"]
fn a_hundred_thousand_searches_find_the_same() {
    compare(2, 100_000);
}

#[test]
fn searches_of_many_blocks_find_the_same() {
    let mut random = StdRng::seed_from_u64(6);
    let queries = [
        "a",
        "c",
        "dx",
        "a OR b",
        "a OR b OR c",
        "a OR cx OR dx",
        "b AND a",
        "a AND b AND c",
        "a AND dx",
        "cx AND (b OR c)",
        "\"a b\"",
        "\"b a c\"",
        "\"a b\" OR c",
        "\"a b\" AND c",
        "\"a dx\"",
        "NEAR/2(b c)",
        "a^3 OR b OR c^0.5",
        "c*",
    ];
    for longest in [6, 60] {
        let docs = (0..3000).map(|_| {
            let length = random.random_range(1..longest);
            let word =
                |random: &mut StdRng| ["a", "b", "c", "cx", "dx"][(5.0 * random.random::<f64>().powi(3)) as usize];
            (0..length).map(|_| word(&mut random).to_string()).collect()
        });
        let parts = [OraclePart { docs: docs.collect(), dead: BTreeSet::new() }];
        let postings = built(&parts[0].docs);
        for scoring in
            [Scoring::Tf, Scoring::TfIdf, Scoring::Bm25 { k1: 1.2, b: 0.75 }, Scoring::Bm25 { k1: 2.0, b: 0.0 }]
        {
            let oracle = Oracle::new(&parts, scoring, 3000);
            for text in queries {
                let query = TextQuery::parse(text).unwrap().unwrap();
                let exact = AnalyzeOptions { exact: true, prefix_analyzed: false };
                let query = query.analyze(&analyzer(), exact).unwrap().unwrap();
                let part = PostingsPart { postings: &postings, deletions: None, shadowed: &[], allowed: None };
                for k in [1, 10] {
                    let mut search = TextSearch::new(&query, vec![part], scoring, 3000).unwrap();
                    same(&search.top(k, &order).unwrap(), &oracle.top(&query, k), text);
                }
            }
        }
    }
}

#[test]
fn fronts_are_as_good_as_all_documents() {
    let mut random = StdRng::seed_from_u64(7);
    for round in 0..500 {
        let docs: Vec<(u32, u32)> = (0..random.random_range(1..200))
            .map(|_| (random.random_range(1..2 + round), random.random_range(0..1000)))
            .collect();
        let (mut front, mut bytes) = (fronts::Front::default(), vec![]);
        docs.iter().for_each(|(frequency, length)| front.add(*frequency, *length));
        front.write(&mut bytes);
        let mut rest = bytes.as_slice();
        let pairs: Vec<(u32, u32)> = fronts::read_front(&mut rest).collect();
        assert!(rest.is_empty() && pairs.len() <= thresholds::FRONT_PAIRS);
        let is_as_good = |doc: &(u32, u32)| pairs.iter().any(|pair| pair.0 >= doc.0 && pair.1 <= doc.1);
        assert!(docs.iter().all(is_as_good), "{docs:?} {pairs:?}");
        let best = |pair: &(u32, u32)| docs.iter().any(|doc| doc.0 == pair.0) && docs.iter().any(|doc| doc.1 == pair.1);
        assert!(pairs.iter().all(best), "{docs:?} {pairs:?}");
    }
}

#[test]
fn merged_indexes_are_those_of_all_documents() {
    let mut random = StdRng::seed_from_u64(3);
    for _ in 0..30 {
        let docs: Vec<Doc> =
            (0..400).map(|_| (0..random.random_range(0..9)).map(|_| word(&mut random)).collect()).collect();
        // Each document goes into one of three parts, or is dropped.
        let places: Vec<usize> = docs.iter().map(|_| random.random_range(0..4)).collect();
        let kept: Vec<Doc> =
            docs.iter().zip(&places).filter(|(_, place)| **place < 3).map(|(doc, _)| doc.clone()).collect();
        let mut parts: Vec<(Vec<Doc>, Vec<Option<u32>>)> = vec![(vec![], vec![]); 3];
        let mut next = 0;
        for (doc, place) in docs.iter().zip(&places) {
            let (of, number) = if *place < 3 { (*place, Some(next)) } else { (next as usize % 3, None) };
            next += u32::from(number.is_some());
            parts[of].0.push(doc.clone());
            parts[of].1.push(number);
        }
        let indexes: Vec<Postings> = parts.iter().map(|(docs, _)| built(docs)).collect();
        let with_numbers: Vec<(&Postings, &[Option<u32>])> =
            indexes.iter().zip(&parts).map(|(index, (_, numbers))| (index, numbers.as_slice())).collect();
        let merged = Postings::merge(&with_numbers, next).expect("there is no budget");
        assert_eq!(merged, built(&kept));
        let again = Postings::from_bytes(&merged.to_bytes()).expect("the bytes are whole");
        assert_eq!(again, merged);
    }
}

#[test]
fn positions_of_any_width_are_read_one_by_one() {
    let mut random = StdRng::seed_from_u64(5);
    for width in 0..=32 {
        let numbers: Vec<u32> = (0..100).map(|_| (random.random::<u64>() & ((1 << width) - 1)) as u32).collect();
        let mut bytes = vec![];
        places::write_positions(numbers.chunks(7), &mut bytes);
        bytes.push(7);
        let positions = places::Positions::new(&bytes).unwrap();
        assert!((0..100).rev().all(|at| positions.get(at as u64) == numbers[at]), "{width} bits");
        assert_eq!(positions.after(100), Some(&[7u8][..]));
        assert_eq!(positions.get(1 << 40), 0);
    }
    assert!(places::Positions::new(&[33, 0, 0, 0, 0, 0]).is_none());
}

#[test]
fn rows_have_all_places() {
    let docs = ["go dog go", "", "dog"].map(|text| text.split_whitespace().map(str::to_string).collect::<Doc>());
    let postings = built(&docs);
    let row = |word, doc, from: &[u32], to: &[u32], positions: &[u32], total_length| PostingRow {
        word,
        doc,
        from: from.to_vec(),
        to: to.to_vec(),
        positions: positions.to_vec(),
        total_length,
    };
    let rows: Vec<PostingRow<'_>> = postings.rows().collect();
    assert_eq!(
        rows,
        [
            row("dog", 0, &[3], &[6], &[1], 3),
            row("dog", 2, &[0], &[3], &[0], 1),
            row("go", 0, &[0, 7], &[2, 9], &[0, 2], 3)
        ]
    );
    assert_eq!((postings.docs(), postings.total_length(), postings.length(1)), (3, 4, 0));
}

#[test]
fn damaged_bytes_never_panic() {
    let mut random = StdRng::seed_from_u64(4);
    let docs: Vec<Doc> = (0..500).map(|_| (0..5).map(|_| word(&mut random)).collect()).collect();
    let postings = built(&docs);
    let deletions = postings.delete(&[1, 5, 9], None);
    let (whole, of_deletions) = (postings.to_bytes(), deletions.to_bytes());
    let query = TextQuery::parse("a OR b* AND NEAR(c ab) OR \"b a\"").unwrap().unwrap();
    let exact = AnalyzeOptions { exact: true, prefix_analyzed: false };
    let query = query.analyze(&analyzer(), exact).unwrap().unwrap();
    for round in 0..3000 {
        let mut bytes = if round % 4 == 0 { of_deletions.clone() } else { whole.clone() };
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..bytes.len());
            bytes[at] ^= 1 << random.random_range(0..8);
        }
        if round % 7 == 0 {
            bytes.truncate(random.random_range(0..bytes.len()));
        }
        if round % 4 == 0 {
            let _ = Deletions::from_bytes(&bytes);
            continue;
        }
        let Ok(damaged) = Postings::from_bytes(&bytes) else { continue };
        let part = PostingsPart { postings: &damaged, deletions: None, shadowed: &[], allowed: None };
        let mut search = TextSearch::new(&query, vec![part], Scoring::TfIdf, 500).unwrap();
        for hit in search.top(10, &order).unwrap() {
            search.spans(hit.part, hit.doc).unwrap();
        }
        damaged.rows().for_each(drop);
        damaged.delete(&[0, 3], None);
    }
}
