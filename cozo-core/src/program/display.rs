//! Programs as text, so that the result of every pass can be seen.

use std::fmt::{self, Display, Formatter};

use super::{
    Apply, Arg, AsOfRead, Atom, ConstantRows, Definition, FixedApply, FixedInput, Formula, Program, Rule, Search,
    StoredRead, Target,
};

/// Writes items with a separator between them.
fn separated<T: Display>(f: &mut Formatter<'_>, items: &[T], separator: &str) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i > 0 { separator } else { "" })?;
    }
    Ok(())
}

/// A body of a rule, as text.
pub trait DisplayBody {
    /// Writes the body.
    fn fmt_body(&self, f: &mut Formatter<'_>) -> fmt::Result;
}

impl DisplayBody for Vec<Atom> {
    fn fmt_body(&self, f: &mut Formatter<'_>) -> fmt::Result {
        separated(f, self, ", ")
    }
}

impl DisplayBody for Formula {
    fn fmt_body(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl<B: DisplayBody> Display for Program<B> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (name, predicate) in &self.predicates {
            let head = |head: &dyn Fn(usize) -> String| {
                let column = |(i, column): (usize, &super::HeadColumn)| match &column.aggregation {
                    Some(used) => format!("{}({})", used.aggregation.name, head(i)),
                    None => head(i),
                };
                predicate.columns.iter().enumerate().map(column).collect::<Vec<_>>().join(", ")
            };
            match &predicate.definition {
                Definition::Constant(rows) => {
                    writeln!(f, "{name}[{}] <- {rows}", head(&|i| predicate.columns[i].name.to_string()))?;
                }
                Definition::Fixed(apply) => {
                    writeln!(f, "{name}[{}] <~ {apply}", head(&|i| predicate.columns[i].name.to_string()))?;
                }
                Definition::Rules(rules) => {
                    for rule in rules {
                        write!(f, "{name}[{}] := ", head(&|i| rule.head[i].name.to_string()))?;
                        rule.body.fmt_body(f)?;
                        writeln!(f)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// `Name(input[binding, ...], option: value)`
impl Display for FixedApply {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        separated(f, &self.inputs, ", ")?;
        for (i, (name, value)) in self.options.iter().enumerate() {
            write!(f, "{}{name}: {value}", if i > 0 || !self.inputs.is_empty() { ", " } else { "" })?;
        }
        f.write_str(")")
    }
}

impl Display for FixedInput {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        applied(f, &self.target, &self.bindings)
    }
}

/// `relation[argument, ... @ time]`
fn applied<T: Display>(f: &mut Formatter<'_>, target: &Target, args: &[T]) -> fmt::Result {
    match target {
        Target::Predicate(name) => write!(f, "{name}[")?,
        Target::Stored(read) => write!(f, "*{}[", read.schema.name)?,
    }
    separated(f, args, ", ")?;
    if let Target::Stored(StoredRead { as_of: Some(time), .. }) = target {
        write!(f, " @ {time}")?;
    }
    f.write_str("]")
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let head: Vec<&str> = self.head.iter().map(|variable| variable.name.as_str()).collect();
        write!(f, "[{}] := ", head.join(", "))?;
        self.body.fmt_body(f)
    }
}

impl Display for ConstantRows {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ConstantRows::List(expr) => write!(f, "{expr}"),
            ConstantRows::Given(_) => f.write_str("(given)"),
            ConstantRows::Listing(call) => write!(f, "(the index {})", call.name()),
            ConstantRows::Columns(rows) => write!(f, "({} rows)", rows.len),
            ConstantRows::Rows(rows) => {
                f.write_str("[")?;
                for (i, row) in rows.iter().enumerate() {
                    f.write_str(if i > 0 { ", [" } else { "[" })?;
                    separated(f, row, ", ")?;
                    f.write_str("]")?;
                }
                f.write_str("]")
            }
        }
    }
}

impl Display for Formula {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Formula::Atom(atom) => write!(f, "{atom}"),
            Formula::Not(inner) => write!(f, "not ({inner})"),
            Formula::And(parts) | Formula::Or(parts) => {
                f.write_str("(")?;
                separated(f, parts, if matches!(self, Formula::And(_)) { ", " } else { " or " })?;
                f.write_str(")")
            }
        }
    }
}

impl Display for Atom {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Apply(apply) => write!(f, "{apply}"),
            Atom::Filter(expr) => write!(f, "{expr}"),
            Atom::Same(variable, expr) => write!(f, "{} is {expr}", variable.name),
            Atom::Unify(variable, expr) => write!(f, "{} = {expr}", variable.name),
            Atom::Unnest(variable, expr) => write!(f, "{} in {expr}", variable.name),
            Atom::Search(search) => write!(f, "{search}"),
            Atom::AsOf(read) => write!(f, "{read}"),
        }
    }
}

impl Display for AsOfRead {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "*{}{{", self.schema.name)?;
        let name = |column: usize| self.schema.columns().nth(column).map_or("", |column| column.name.as_str());
        let keys = self.keys.iter().map(|(column, value)| format!("{}: {value}", name(*column)));
        let outputs = self.outputs.iter().map(|(column, variable)| format!("{}: {}", name(*column), variable.name));
        separated(f, &keys.chain(outputs).collect::<Vec<_>>(), ", ")?;
        write!(f, " @ {}}}", self.time)
    }
}

impl Display for Search {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "~{}{{", self.call.name())?;
        for (i, (column, variable)) in self.outputs.iter().enumerate() {
            let separator = if i > 0 { ", " } else { "" };
            write!(f, "{separator}{}: {}", self.call.output_name(*column), variable.name)?;
        }
        write!(f, " | query: {}", self.query)?;
        self.call.parameters.iter().try_for_each(|(name, value)| write!(f, ", {name}: {value}"))?;
        self.filter.iter().try_for_each(|filter| write!(f, ", filter: {filter}"))?;
        self.within.iter().try_for_each(|within| write!(f, ", within: {}", within.apply))?;
        f.write_str("}")
    }
}

impl Display for Apply {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.negated { "not " } else { "" })?;
        applied(f, &self.target, &self.args)
    }
}

impl Display for Arg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Arg::Wildcard => f.write_str("_"),
            Arg::Variable(variable) => f.write_str(&variable.name),
            Arg::Expr(expr) => write!(f, "{expr}"),
        }
    }
}
