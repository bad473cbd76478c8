//! The bodies of rules: atoms joined by `,`, `or` and `and`, and applications of relations.
//!
//! The grammar gives a body as a flat sequence of atoms and connectives, and every `(` in it as a group. The sequence is divided
//! at commas, then at `or`, then at `and`. A group that stands alone becomes a formula, as in `(a[x] or b[x]), c[x]`. A group
//! among operators becomes an operand, as in `(a + 1) > 2`.

use super::ast::{Atom, Expr, Formula, NamedArg, RuleApply, SearchApply, StoredApply, StoredArgs, Symbol};
use super::builder::Builder;
use super::error::ParseError;
use super::expr::Tall;
use super::grammar::{Node, Rule, next_part, parts, span_of, symbol};
use crate::diag::SourceSpan;

/// An atom with its connective in front and the places of the `not`s before it.
struct Item<'i> {
    connective: Option<Rule>,
    negations: Vec<SourceSpan>,
    atom: Node<'i>,
}

impl Builder<'_> {
    /// A whole body.
    pub fn body(&self, node: Node<'_>) -> Result<Formula, ParseError> {
        self.joined(&items(node), 0)
    }

    /// A run of items joined by the connective of a level and by tighter ones.
    fn joined(&self, run: &[Item<'_>], level: usize) -> Result<Formula, ParseError> {
        let Some(connective) = LEVELS.get(level) else {
            return self.negated(&run[0], 0);
        };
        let mut formulas = vec![];
        let mut start = 0;
        for end in 1..=run.len() {
            if end == run.len() || run[end].connective == Some(*connective) {
                formulas.push(self.joined(&run[start..end], level + 1)?);
                start = end;
            }
        }
        Ok(match formulas.len() {
            1 => formulas.remove(0),
            _ if *connective == Rule::kw_or => Formula::Or(formulas),
            _ => Formula::And(formulas),
        })
    }

    /// The atom behind the first `done` negations.
    fn negated(&self, item: &Item<'_>, done: usize) -> Result<Formula, ParseError> {
        let Some(negation) = item.negations.get(done) else {
            return self.atom(item.atom.clone());
        };
        let inner = self.deeper(1, *negation, || self.negated(item, done + 1))?;
        let span = negation.merge(inner.span());
        Ok(Formula::Not(Box::new(inner), span))
    }

    fn atom(&self, node: Node<'_>) -> Result<Formula, ParseError> {
        Ok(Formula::Atom(match node.as_rule() {
            Rule::filter => return self.filter(node),
            Rule::rule_apply => Atom::Rule(self.rule_apply(node)?),
            Rule::stored_apply => Atom::Stored(self.stored_apply(node)?),
            Rule::search_apply => Atom::Search(self.search_apply(node)?),
            Rule::unify => {
                let (variable, expr, span) = self.unification(node)?;
                Atom::Unify { variable, expr, span }
            }
            Rule::unify_each => {
                let (variable, expr, span) = self.unification(node)?;
                Atom::Unnest { variable, expr, span }
            }
            rule => unreachable!("{rule:?} is no atom"),
        }))
    }

    fn filter(&self, node: Node<'_>) -> Result<Formula, ParseError> {
        let mut inner = node.clone().into_inner();
        match (inner.next(), inner.next()) {
            (Some(group), None) if group.as_rule() == Rule::group => {
                let span = span_of(&group);
                self.deeper(1, span, || self.body(next_part(&mut parts(group))))
            }
            _ => Ok(Formula::Atom(Atom::Filter(self.expr(node)?))),
        }
    }

    /// A group among operators must hold a single expression.
    pub fn group_as_expr(&self, group: Node<'_>) -> Result<Tall, ParseError> {
        let items = items(next_part(&mut parts(group)));
        if let Some(second) = items.get(1) {
            return Err(self.not_an_operand(span_of(&second.atom)));
        }
        match &items[0] {
            Item { negations, .. } if !negations.is_empty() => Err(self.not_an_operand(negations[0])),
            Item { atom, .. } if atom.as_rule() == Rule::filter => self.tall_expr(atom.clone()),
            Item { atom, .. } => Err(self.not_an_operand(span_of(atom))),
        }
    }

    fn not_an_operand(&self, span: SourceSpan) -> ParseError {
        let help = "between operators only expressions can stand: write `==`, `&&`, `||`, `!` and `is_in(x, list)` there, \
                    or keep the operators out of the formula";
        self.misplaced("a formula is used as an operand", span, help)
    }

    fn unification(&self, node: Node<'_>) -> Result<(Symbol, Expr, SourceSpan), ParseError> {
        let span = span_of(&node);
        let mut parts = parts(node);
        let variable = symbol(&next_part(&mut parts));
        Ok((variable, self.expr(next_part(&mut parts))?, span))
    }

    fn rule_apply(&self, node: Node<'_>) -> Result<RuleApply, ParseError> {
        let span = span_of(&node);
        let mut parts = parts(node);
        let name = symbol(&next_part(&mut parts));
        Ok(RuleApply { name, args: self.exprs(parts)?, span })
    }

    fn stored_apply(&self, node: Node<'_>) -> Result<StoredApply, ParseError> {
        let span = span_of(&node);
        let mut inner = parts(node);
        let name = symbol(&next_part(&mut inner));
        let args = next_part(&mut inner);
        let positional = args.as_rule() == Rule::positional_args;
        let mut args: Vec<Node<'_>> = parts(args).collect();
        let validity = self.validity(&mut args)?;
        let args = if positional {
            StoredArgs::Positional(self.exprs(args.into_iter())?)
        } else {
            StoredArgs::Named(self.named_args(args.into_iter())?)
        };
        Ok(StoredApply { name, args, validity, span })
    }

    /// Takes the `@ expr` off the end of some arguments.
    pub fn validity(&self, args: &mut Vec<Node<'_>>) -> Result<Option<Expr>, ParseError> {
        match args.pop_if(|last| last.as_rule() == Rule::validity) {
            Some(validity) => Ok(Some(self.expr(next_part(&mut parts(validity)))?)),
            None => Ok(None),
        }
    }

    fn named_args<'i>(&self, nodes: impl Iterator<Item = Node<'i>>) -> Result<Vec<NamedArg>, ParseError> {
        nodes.map(|node| self.named_arg(node)).collect()
    }

    fn named_arg(&self, node: Node<'_>) -> Result<NamedArg, ParseError> {
        let mut parts = parts(node);
        let column = symbol(&next_part(&mut parts));
        let expr = match parts.next() {
            Some(expr) => self.expr(expr)?,
            None => Expr::Variable(column.clone()),
        };
        Ok(NamedArg { column, expr })
    }

    fn search_apply(&self, node: Node<'_>) -> Result<SearchApply, ParseError> {
        let span = span_of(&node);
        let mut inner = parts(node);
        let (relation, index) = index_path(&next_part(&mut inner));
        let bindings = self.named_args(parts(next_part(&mut inner)))?;
        let (mut parameters, mut within) = (vec![], None);
        for node in parts(next_part(&mut inner)) {
            if node.as_rule() == Rule::setting {
                parameters.push(self.setting(node)?);
                continue;
            }
            let place = span_of(&node);
            if within.replace(Box::new(self.within(node)?)).is_some() {
                let help = "keep one, and join the relations in a rule if both must hold";
                return Err(self.misplaced("`within` is given twice", place, help));
            }
        }
        Ok(SearchApply { relation, index, bindings, parameters, within, span })
    }

    /// The application after `within:`.
    fn within(&self, node: Node<'_>) -> Result<Atom, ParseError> {
        let apply = next_part(&mut parts(node));
        Ok(match apply.as_rule() {
            Rule::rule_apply => Atom::Rule(self.rule_apply(apply)?),
            _ => Atom::Stored(self.stored_apply(apply)?),
        })
    }

    /// `name: expr` pairs.
    pub fn settings<'i>(&self, nodes: impl Iterator<Item = Node<'i>>) -> Result<Vec<(Symbol, Expr)>, ParseError> {
        nodes.map(|node| self.setting(node)).collect()
    }

    /// One `name: expr`.
    pub fn setting(&self, node: Node<'_>) -> Result<(Symbol, Expr), ParseError> {
        let mut parts = parts(node);
        let name = symbol(&next_part(&mut parts));
        Ok((name, self.expr(next_part(&mut parts))?))
    }
}

/// The connectives, loosest first.
const LEVELS: [Rule; 3] = [Rule::comma, Rule::kw_or, Rule::kw_and];

fn items(body: Node<'_>) -> Vec<Item<'_>> {
    let mut items = vec![];
    let (mut connective, mut negations) = (None, vec![]);
    for node in body.into_inner() {
        match node.as_rule() {
            rule @ (Rule::comma | Rule::kw_or | Rule::kw_and) => connective = Some(rule),
            Rule::kw_not => negations.push(span_of(&node)),
            _ => items.push(Item {
                connective: connective.take(),
                negations: std::mem::take(&mut negations),
                atom: node,
            }),
        }
    }
    items
}

/// The relation and the index of `relation:index`.
pub(super) fn index_path(node: &Node<'_>) -> (Symbol, Symbol) {
    let SourceSpan(start, _) = span_of(node);
    let (relation, index) = node.as_str().rsplit_once(':').expect("the grammar puts a colon into an index path");
    let index_start = start + relation.len() + 1;
    (Symbol::new(relation, SourceSpan(start, relation.len())), Symbol::new(index, SourceSpan(index_start, index.len())))
}
