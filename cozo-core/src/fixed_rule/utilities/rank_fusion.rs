//! `ReciprocalRankFusion`: several rankings as one.

use std::collections::BTreeMap;

use crate::expr::functions::quote;

use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, Input, InputSpec, OptionKind, OptionSpec, Output, Settings, Shape,
};
use crate::value::{Batch, Column, DataValue, Num};

const MORE: &str = "a further list";

/// Several rankings as one.
pub static RECIPROCAL_RANK_FUSION: BuiltInRule = BuiltInRule {
    name: "ReciprocalRankFusion",
    aliases: &[],
    doc: "Merges ranked lists, such as the results of a search for words and of a search for vectors. In each list the \
          greatest score has rank 1, and equal scores have the same rank; for a distance, give its negative as the score. \
          An item gets weight / (k + rank) from each list that it is in. Scores of different lists need not be comparable \
          (Cormack, Clarke and Buettcher 2009).",
    cost: "",
    source: "",
    examples: &[(
        "words[k, s] <- [['a', 9], ['b', 7]]  near[k, s] <- [['b', -0.1], ['c', -0.2]]
         ?[k, n] := found[k, s], n = round(s * 1000)  found[k, s] <~ ReciprocalRankFusion(words[], near[])",
        "[['a', 16.0], ['b', 33.0], ['c', 16.0]]",
    )],
    inputs: &[
        InputSpec::required("list", Shape::Columns(2), "items with their scores; the greatest is the best"),
        InputSpec::optional("list_2", Shape::Columns(2), MORE),
        InputSpec::optional("list_3", Shape::Columns(2), MORE),
        InputSpec::optional("list_4", Shape::Columns(2), MORE),
        InputSpec::optional("list_5", Shape::Columns(2), MORE),
        InputSpec::optional("list_6", Shape::Columns(2), MORE),
        InputSpec::optional("list_7", Shape::Columns(2), MORE),
        InputSpec::optional("list_8", Shape::Columns(2), MORE),
    ],
    options: &[
        OptionSpec::new(
            "k",
            OptionKind::NonNegativeInt,
            DefaultValue::Int(60),
            "the greater, the less the first ranks stand out",
        ),
        OptionSpec::new(
            "weights",
            OptionKind::Value,
            DefaultValue::Null,
            "a list with a number for each list; without it, 1 for each",
        ),
    ],
    output: Output::Columns(&["item", "score"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let weights = weights(call, settings.value("weights"))?;
    let k = settings.count("k") as f64;
    let mut fused: BTreeMap<DataValue, f64> = BTreeMap::new();
    for (list, weight) in call.inputs.iter().zip(weights) {
        for (item, rank) in ranked(list, call)? {
            *fused.entry(item).or_default() += weight / (k + rank);
        }
    }
    let mut rows = Batch::empty(2);
    for (item, score) in fused {
        call.poison.check()?;
        rows.push_row(&[item, score.into()]);
    }
    Ok(rows)
}

/// The weight of each list.
fn weights(call: &Call<'_>, value: &DataValue) -> Result<Vec<f64>, FixedRuleError> {
    if matches!(value, DataValue::Null) {
        return Ok(vec![1.0; call.inputs.len()]);
    }
    let number = |value: &DataValue| match value {
        DataValue::Num(Num::Int(number)) => Some(*number as f64),
        DataValue::Num(Num::Float(number)) => Some(*number),
        _ => None,
    };
    let numbers: Option<Vec<f64>> = value.get_slice().and_then(|items| items.iter().map(number).collect());
    let is_weight = |weight: &f64| weight.is_finite() && *weight >= 0.0;
    let fits = numbers.filter(|numbers| numbers.len() == call.inputs.len() && numbers.iter().all(is_weight));
    fits.ok_or_else(|| {
        call.options.wrong(
            "weights",
            format!("a list of {} numbers that are not negative, one for each list", call.inputs.len()),
            value.to_string(),
        )
    })
}

/// The items of a list with their ranks. An item that occurs more than once has the best of its ranks.
fn ranked(list: &Input<'_>, call: &Call<'_>) -> Result<BTreeMap<DataValue, f64>, FixedRuleError> {
    let columns = list.columns(&[0, 1], &call.poison)?;
    let (items, scores): (&Column, &Column) = (&columns[0], &columns[1]);
    let mut is_nan = vec![];
    for score in scores.iter() {
        match score {
            DataValue::Num(score) => is_nan.push(matches!(score, Num::Float(score) if score.is_nan())),
            other => {
                let (rule, found, span) = (call.options.rule.to_string(), quote(&other), list.span);
                return Err(FixedRuleError::InputValue { rule, wanted: "a number as the score", found, span });
            }
        }
    }
    let mut order: Vec<u32> = (0..items.len() as u32).collect();
    // NaN is no score: it comes last.
    let by_score = |a: usize, b: usize| is_nan[a].cmp(&is_nan[b]).then_with(|| scores.compare_at(b, scores, a));
    order.sort_by(|a, b| by_score(*a as usize, *b as usize));
    call.poison.check()?;
    let mut ranks = BTreeMap::new();
    let mut rank = 0.0;
    for (at, row) in order.iter().enumerate() {
        let is_tied = at > 0 && scores.compare_at(*row as usize, scores, order[at - 1] as usize).is_eq();
        if !is_tied {
            rank = at as f64 + 1.0;
        }
        ranks.entry(items.get(*row as usize)).or_insert(rank);
    }
    Ok(ranks)
}
