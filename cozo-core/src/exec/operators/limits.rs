//! The parameters of a search that are the same for all rows.

use crate::diag::SourceSpan;
use crate::exec::error::{ExecError, LimitError};
use crate::exec::thresholds::{SEARCH_GROWTH, SEARCH_MIN_CANDIDATES};
use crate::expr::Expr;
use crate::expr::functions::quote;
use crate::index::search::Scoring;
use crate::plan::SearchPlan;
use crate::text::AnalyzeOptions;
use crate::value::{DataValue, Num};

/// How much is wanted, and how it is searched for.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most rows for each query.
    pub k: usize,
    /// The number of candidates, for vectors.
    pub ef: usize,
    /// The greatest distance of vectors.
    pub radius: Option<f64>,
    /// The least similarity of near-duplicates.
    pub min_similarity: Option<f64>,
    /// The score of texts.
    pub scoring: Scoring,
    /// How phrases and prefixes of texts are read.
    pub phrases: AnalyzeOptions,
}

impl Limits {
    /// The parameters of a search.
    pub fn of(plan: &SearchPlan, parameters: &[&DataValue]) -> Result<Self, ExecError> {
        let mut limits = Limits {
            k: usize::MAX,
            ef: 0,
            radius: None,
            min_similarity: None,
            scoring: Scoring::TfIdf,
            phrases: AnalyzeOptions::default(),
        };
        let (mut k1, mut b) = (1.2, 0.75);
        for (name, expr) in &plan.call.parameters {
            let value = Given { value: expr.eval_closed(parameters)?, expr };
            match name.as_str() {
                "k" => {
                    limits.k = value.count().ok_or_else(|| value.is_not(|found, span| LimitError::K { found, span }))?
                }
                "ef" => {
                    limits.ef =
                        value.count().ok_or_else(|| value.is_not(|found, span| LimitError::Ef { found, span }))?
                }
                "radius" => {
                    let radius = value.number().filter(|radius| *radius > 0.0);
                    let wrong = || value.is_not(|found, span| LimitError::Radius { found, span });
                    limits.radius = Some(radius.ok_or_else(wrong)?);
                }
                "min_similarity" => {
                    limits.min_similarity = Some(value.within("min_similarity", "0 to 1", 0.0..=1.0)?)
                }
                "k1" => k1 = value.within("k1", "a number from 0 to 1000", 0.0..=1000.0)?,
                "b" => b = value.within("b", "a number from 0 to 1", 0.0..=1.0)?,
                "score_kind" => limits.scoring = value.scoring()?,
                "exact_phrases" => limits.phrases.exact = value.truth("exact_phrases")?,
                _ => limits.phrases.prefix_analyzed = value.truth("prefix_analyzed")?,
            }
        }
        if limits.ef > 0 {
            limits.k = limits.k.min(limits.ef);
        }
        if let Scoring::Bm25 { .. } = limits.scoring {
            limits.scoring = Scoring::Bm25 { k1, b };
        }
        Ok(limits)
    }

    /// How many candidates to ask for at first.
    pub fn candidates(&self, filtered: bool) -> usize {
        let more = self.k.saturating_mul(SEARCH_GROWTH).max(SEARCH_MIN_CANDIDATES);
        if filtered { more.max(self.ef) } else { self.k }
    }
}

/// A parameter as it is given.
struct Given<'e> {
    value: DataValue,
    expr: &'e Expr,
}

impl Given<'_> {
    fn is_not(&self, make: impl FnOnce(String, SourceSpan) -> LimitError) -> ExecError {
        make(quote(&self.value), self.expr.span()).into()
    }

    fn other(&self, name: &'static str, wanted: &'static str) -> ExecError {
        self.is_not(|found, span| LimitError::Other { name, wanted, found, span })
    }

    fn count(&self) -> Option<usize> {
        self.value.get_int().and_then(|count| usize::try_from(count).ok()).filter(|count| *count > 0)
    }

    fn number(&self) -> Option<f64> {
        match self.value {
            DataValue::Num(Num::Int(number)) => Some(number as f64),
            DataValue::Num(Num::Float(number)) => Some(number),
            _ => None,
        }
    }

    fn within(
        &self,
        name: &'static str,
        wanted: &'static str,
        range: std::ops::RangeInclusive<f64>,
    ) -> Result<f64, ExecError> {
        self.number().filter(|number| range.contains(number)).ok_or_else(|| self.other(name, wanted))
    }

    fn truth(&self, name: &'static str) -> Result<bool, ExecError> {
        self.value.get_bool().ok_or_else(|| self.other(name, "true or false"))
    }

    fn scoring(&self) -> Result<Scoring, ExecError> {
        match self.value.get_str() {
            Some("tf_idf") => Ok(Scoring::TfIdf),
            Some("tf") => Ok(Scoring::Tf),
            Some("bm25") => Ok(Scoring::Bm25 { k1: 0.0, b: 0.0 }),
            _ => Err(self.other("score_kind", "'tf_idf', 'tf' or 'bm25'")),
        }
    }
}
