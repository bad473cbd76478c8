//! Equalities of columns of one declared type: both variables become one.
//!
//! ```text
//! a {k => s: Int}, b {j => t: Int}
//! ?[k, j] := *a{k, s}, *b{j, t}, s == t     ?[k, j] := *a{k, s}, *b{j, t: s}
//! ```
//!
//! A shared variable has identical values, while `==` takes an Int and a Float for equal. Within one type other than Any,
//! however, equal values are identical. Joins, indices and estimates then see a common variable, however the equality is spelt.
//! If one column takes null and the other does not, the variables stay two: an expression over one might fail for the other.

use rustc_hash::FxHashMap;

use crate::expr::Expr;
use crate::program::{Apply, Arg, Atom, Rule, Target};
use crate::schema::{BaseType, ColumnType};
use crate::value::SmallStr;

/// The rule with one variable in place of two that are equal and of one type.
pub fn share_variables(mut rule: Rule) -> Rule {
    while let Some((at, kept, dropped)) = equality(&rule.body) {
        rule.body.remove(at);
        rule.replace_variable(&dropped, &kept);
    }
    rule
}

/// The first equality of two variables that different atoms bind from columns of one type: its position, and the variables in the
/// order in which they are bound.
fn equality(body: &[Atom]) -> Option<(usize, SmallStr, SmallStr)> {
    let mut equal = body.iter().enumerate().filter_map(|(at, atom)| Some((at, equal_variables(atom)?))).peekable();
    equal.peek()?;
    let bindings = bindings(body);
    equal.find_map(|(at, (a, b))| {
        let (&(first, type_a), &(second, type_b)) = (bindings.get(a)?, bindings.get(b)?);
        let (kept, dropped) = if first <= second { (a, b) } else { (b, a) };
        (first != second && type_a == type_b && type_a.base != BaseType::Any)
            .then(|| (at, kept.clone(), dropped.clone()))
    })
}

/// The variables that an atom equates.
fn equal_variables(atom: &Atom) -> Option<(&SmallStr, &SmallStr)> {
    match atom {
        Atom::Filter(Expr::Call { function, args, .. }) if function.name == "eq" => match &args[..] {
            [Expr::Variable(a, _), Expr::Variable(b, _)] => Some((a, b)),
            _ => None,
        },
        Atom::Unify(variable, Expr::Variable(other, _)) => Some((&variable.name, other)),
        _ => None,
    }
}

/// For each variable the first atom that binds it from a column of a stored relation, and the type of the column.
fn bindings(body: &[Atom]) -> FxHashMap<&SmallStr, (usize, &ColumnType)> {
    let mut bindings = FxHashMap::default();
    for (at, atom) in body.iter().enumerate() {
        let Atom::Apply(Apply { target: Target::Stored(read), args, negated: false, .. }) = atom else { continue };
        for (arg, column) in args.iter().zip(read.schema.columns()) {
            if let Arg::Variable(variable) = arg {
                bindings.entry(&variable.name).or_insert((at, &column.column_type));
            }
        }
    }
    bindings
}
