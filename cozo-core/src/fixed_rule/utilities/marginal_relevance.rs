//! `MaximalMarginalRelevance`: results that are good, and unlike each other.

use crate::expr::functions::quote;
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, InputSpec, OptionKind, OptionSpec, Output, Settings, Shape,
};
use crate::value::{Batch, DataValue, Num};

/// Results that are good, and unlike each other.
pub static MAXIMAL_MARGINAL_RELEVANCE: BuiltInRule = BuiltInRule {
    name: "MaximalMarginalRelevance",
    aliases: &[],
    doc: "Chooses results one after the other: each time the one with the greatest lambda * score - (1 - lambda) * \
          likeness, where the likeness is the greatest cosine of its vector with that of a result chosen before. Scores \
          should lie between 0 and 1, as cosines do. With lambda 1 the results are ordered by score; with lambda 0 they are \
          as different as possible (Carbonell and Goldstein 1998).",
    cost: "",
    source: "",
    examples: &[(
        "c[k, s, v] <- [['a', 0.9, [1, 0]], ['b', 0.89, [1, 0.01]], ['c', 0.5, [0, 1]]]
         w[k, s, v] := c[k, s, l], v = vec(l)
         ?[rank, k] <~ MaximalMarginalRelevance(w[k, s, v], take: 2)",
        "[[1, 'a'], [2, 'c']]",
    )],
    inputs: &[InputSpec::required("results", Shape::Columns(3), "results with their scores and vectors")],
    options: &[
        OptionSpec::new("lambda", OptionKind::UnitInterval, DefaultValue::Float(0.5), "how much the score counts"),
        OptionSpec::new("take", OptionKind::PositiveInt, DefaultValue::Int(10), "how many results are chosen"),
    ],
    output: Output::Columns(&["rank", "result"]),
    external_access: false,
    run,
};

/// A result that may be chosen.
struct Candidate {
    row: usize,
    score: f64,
    /// Its vector, of length 1 unless it has zeros alone.
    vector: Vec<f64>,
    /// The greatest cosine with a chosen one.
    likeness: f64,
}

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let rows = call.input(0)?.ordered(&call.poison)?;
    let (results, scores, vectors) = (&rows.columns[0], &rows.columns[1], &rows.columns[2]);
    let mut candidates: Vec<Candidate> = vec![];
    for row in 0..results.len() {
        call.poison.check()?;
        let score = match scores.get(row) {
            DataValue::Num(Num::Int(number)) => number as f64,
            DataValue::Num(Num::Float(number)) => number,
            other => return Err(misfit(call, "a number as the score", &other)?),
        };
        let vector = match vectors.get(row) {
            DataValue::Vec(vector) => normalised(vector.to_f64()),
            other => return Err(misfit(call, "a vector, as vec(...) makes it,", &other)?),
        };
        call.poison.make_room(vector.len() * size_of::<f64>())?;
        candidates.push(Candidate { row, score, vector, likeness: 0.0 });
    }
    let lambda = settings.float("lambda");
    let mut chosen = Batch::empty(2);
    while chosen.len < settings.count("take") && !candidates.is_empty() {
        call.poison.check()?;
        let worth = |candidate: &Candidate| {
            let worth = lambda * candidate.score - (1.0 - lambda) * candidate.likeness;
            // NaN is no score: it comes last.
            if worth.is_nan() { f64::NEG_INFINITY } else { worth }
        };
        let mut best = 0;
        for at in 1..candidates.len() {
            // Of equal ones the first in the order of rows.
            if worth(&candidates[at]).total_cmp(&worth(&candidates[best])).is_gt() {
                best = at;
            }
        }
        let next = candidates.remove(best);
        chosen.push_row(&[DataValue::from(chosen.len as i64 + 1), results.get(next.row)]);
        for candidate in &mut candidates {
            let cosine: f64 = candidate.vector.iter().zip(&next.vector).map(|(a, b)| a * b).sum();
            candidate.likeness = if chosen.len == 1 { cosine } else { candidate.likeness.max(cosine) };
        }
    }
    Ok(chosen)
}

/// A vector of length 1.
fn normalised(mut vector: Vec<f64>) -> Vec<f64> {
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    vector
}

fn misfit(call: &Call<'_>, wanted: &'static str, found: &DataValue) -> Result<FixedRuleError, FixedRuleError> {
    let (rule, found, span) = (call.options.rule.to_string(), quote(found), call.input(0)?.span);
    Ok(FixedRuleError::InputValue { rule, wanted, found, span })
}
