//! Other names for the variables of a rule.

use super::{Arg, Atom, Rule};
use crate::expr::Expr;
use crate::value::SmallStr;

/// Gives a variable its name.
type Name<'n> = dyn FnMut(&mut SmallStr) + 'n;

impl Rule {
    /// Gives all variables other names, those of the head first.
    pub fn rename(&mut self, name: &mut Name<'_>) {
        self.head.iter_mut().for_each(|variable| name(&mut variable.name));
        self.body.iter_mut().for_each(|atom| atom.rename(name));
    }

    /// Puts one variable in place of another.
    pub fn replace_variable(&mut self, old: &SmallStr, new: &SmallStr) {
        self.rename(&mut |name| {
            if name == old {
                *name = new.clone();
            }
        });
    }
}

impl Atom {
    fn rename(&mut self, name: &mut Name<'_>) {
        match self {
            Atom::Apply(apply) => apply.args.iter_mut().for_each(|arg| match arg {
                Arg::Variable(variable) => name(&mut variable.name),
                Arg::Expr(expr) => rename_in(expr, name),
                Arg::Wildcard => {}
            }),
            Atom::Filter(expr) => rename_in(expr, name),
            Atom::Unify(variable, expr) | Atom::Unnest(variable, expr) | Atom::Same(variable, expr) => {
                name(&mut variable.name);
                rename_in(expr, name);
            }
            Atom::Search(search) => {
                rename_in(&mut search.query, name);
                search.filter.iter_mut().for_each(|filter| rename_in(filter, name));
                search.outputs.iter_mut().for_each(|(_, variable)| name(&mut variable.name));
            }
            Atom::AsOf(read) => {
                rename_in(&mut read.time, name);
                read.keys.iter_mut().for_each(|(_, value)| rename_in(value, name));
                read.outputs.iter_mut().for_each(|(_, variable)| name(&mut variable.name));
            }
        }
    }
}

fn rename_in(expr: &mut Expr, name: &mut Name<'_>) {
    *expr = expr.map_leaves(&mut |leaf| {
        let mut leaf = leaf.clone();
        if let Expr::Variable(variable, _) = &mut leaf {
            name(variable);
        }
        leaf
    });
}
