//! Functions of columns of strings without nulls.

use std::borrow::Cow;

use memchr::memmem::Finder;

use super::super::patterns::LikePattern;
use super::super::regexes;
use super::super::string_parts::replaced;
use super::super::strings::length_of;
use super::by_reference::map_values;
use super::{KernelOutcome, Texts, build_texts, dense_texts, done};
use crate::budget::{Stop, make_room};
use crate::expr::{FunctionError, Operand};
use crate::value::Column;

/// Longer texts are counted one by one.
const SMALL_TEXT: usize = 1 << 14;

/// Tests the bytes of two strings.
#[inline]
pub(in super::super) fn test_texts(
    operands: &[Operand<'_>],
    len: usize,
    test: impl Fn(&[u8], &[u8]) -> bool,
) -> KernelOutcome {
    let [a, b] = operands else { return None };
    let (a, b) = (dense_texts(a)?, dense_texts(b)?);
    done(Column::bools((0..len).map(|row| test(a.bytes_at(row), b.bytes_at(row))).collect()))
}

pub(in super::super) fn str_includes(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [texts, part] = operands else { return None };
    let (texts, part) = (dense_texts(texts)?, dense_texts(part)?);
    done(Column::bools(match part {
        // UTF-8 texts contain each other exactly where their bytes do.
        Texts::Same(part) => {
            let finder = Finder::new(part);
            (0..len).map(|row| finder.find(texts.bytes_at(row)).is_some()).collect()
        }
        Texts::Rows(parts) => (0..len).map(|row| texts.str_at(row).contains(parts.str_at(row))).collect(),
    }))
}

/// Matches against one pattern. With a pattern for each row, a kernel would gain nothing.
pub(in super::super) fn regex_matches(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [texts, pattern] = operands else { return None };
    let (texts, Texts::Same(pattern)) = (dense_texts(texts)?, dense_texts(pattern)?) else { return None };
    let regex = regexes::compiled("regex_matches", pattern).ok()?;
    done(Column::bools((0..len).map(|row| regex.is_match(texts.str_at(row))).collect()))
}

/// Matches against one pattern, as [`regex_matches`].
pub(in super::super) fn like(operands: &[Operand<'_>], len: usize, function: &str, folds: bool) -> KernelOutcome {
    let [texts, pattern] = operands else { return None };
    let (texts, Texts::Same(pattern)) = (dense_texts(texts)?, dense_texts(pattern)?) else { return None };
    let pattern = LikePattern::new(function, pattern, folds).ok()?;
    let matches: Result<_, Stop> = (0..len).map(|row| pattern.matches(texts.str_at(row))).collect();
    Some(matches.map(Column::bools).map_err(FunctionError::from))
}

/// Replaces one text by another.
pub(in super::super) fn replace(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [texts, from, to] = operands else { return None };
    let (texts, Texts::Same(from), to) = (dense_texts(texts)?, dense_texts(from)?, dense_texts(to)?) else {
        return None;
    };
    if from.is_empty() {
        return None;
    }
    build_texts(len, |row, buffer| {
        buffer.push_str(&replaced(texts.str_at(row), from, to.str_at(row))?);
        Ok(())
    })
}

pub(in super::super) fn concat(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let parts: Vec<Texts<'_>> = operands.iter().map(dense_texts).collect::<Option<_>>()?;
    build_texts(len, |row, buffer| {
        // The buffer is as large as the longest text, and the column holds that text again.
        let length: usize = parts.iter().map(|part| part.bytes_at(row).len()).sum();
        if length > buffer.capacity() && length > SMALL_TEXT {
            make_room(length - buffer.capacity())?;
        }
        parts.iter().for_each(|part| buffer.push_str(part.str_at(row)));
        Ok(())
    })
}

/// Maps strings to strings.
pub(in super::super) fn map_texts(
    operands: &[Operand<'_>],
    len: usize,
    f: impl Fn(&str) -> Result<Cow<'_, str>, Stop>,
) -> KernelOutcome {
    let [texts] = operands else { return None };
    let texts = dense_texts(texts)?;
    build_texts(len, |row, buffer| {
        buffer.push_str(&f(texts.str_at(row))?);
        Ok(())
    })
}

/// Characters are counted by the bytes that begin one.
pub(in super::super) fn length(operands: &[Operand<'_>], len: usize) -> KernelOutcome {
    let [operand] = operands else { return None };
    if let Operand::Column(column) = operand
        && let Column::Vec(vectors) = &**column
        && !vectors.has_nulls()
    {
        return done(Column::ints(vec![vectors.dim() as i64; len]));
    }
    let Some(texts) = dense_texts(operand) else {
        return map_values(operands, len, |value| length_of(value).map(|length| Ok((length as i64).into())));
    };
    let characters = |text: &[u8]| text.iter().filter(|byte| (**byte & 0xC0) != 0x80).count() as i64;
    done(Column::ints((0..len).map(|row| characters(texts.bytes_at(row))).collect()))
}
