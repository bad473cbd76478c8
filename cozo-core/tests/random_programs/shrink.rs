//! Makes a failing program smaller while it fails in the same way.

use super::Failure;
use super::program::{Literal, Program, Source};

/// Drops rules, atoms and rows for as long as the failure remains.
pub fn shrink(
    mut program: Program,
    mut failure: Failure,
    check: &dyn Fn(&Program) -> Option<Failure>,
) -> (Program, Failure) {
    'again: loop {
        for smaller in candidates(&program) {
            if let Some(found) = check(&smaller).filter(|found| found.kind == failure.kind) {
                (program, failure) = (smaller, found);
                continue 'again;
            }
        }
        return (program, failure);
    }
}

/// All programs with one thing less.
fn candidates(program: &Program) -> Vec<Program> {
    let mut all = vec![];
    for layer in 0..program.layers.len() {
        for rule in 0..program.layers[layer].len() {
            let mut smaller = program.clone();
            smaller.layers[layer].remove(rule);
            all.push(smaller);
            for body in shorter_bodies(&program.layers[layer][rule].body) {
                let mut smaller = program.clone();
                smaller.layers[layer][rule].body = body;
                all.push(smaller);
            }
        }
    }
    for body in program.entry.first().map(|rule| shorter_bodies(&rule.body)).unwrap_or_default() {
        let mut smaller = program.clone();
        smaller.entry[0].body = body;
        all.push(smaller);
    }
    all.extend(with_fewer_rows(program));
    all
}

/// The bodies with one literal less, or with one branch of a disjunction in its place.
fn shorter_bodies(body: &[Literal]) -> Vec<Vec<Literal>> {
    let mut all = vec![];
    for position in 0..body.len() {
        let without = |replacement: &[Literal]| [&body[..position], replacement, &body[position + 1..]].concat();
        if body.len() > 1 {
            all.push(without(&[]));
        }
        if let Literal::Or(branches) = &body[position] {
            all.extend(branches.iter().map(|branch| without(branch)));
        }
        if let Literal::Not(group) = &body[position] {
            all.extend(shorter_bodies(group).into_iter().map(|group| without(&[Literal::Not(group)])));
        }
    }
    all
}

fn with_fewer_rows(program: &Program) -> Vec<Program> {
    let mut all = vec![];
    for (number, relation) in program.relations.iter().enumerate() {
        let Source::Given { rows, .. } = &relation.source else { continue };
        for row in 0..rows.len() {
            let mut smaller = program.clone();
            if let Source::Given { rows, .. } = &mut smaller.relations[number].source {
                rows.remove(row);
            }
            all.push(smaller);
        }
    }
    all
}
