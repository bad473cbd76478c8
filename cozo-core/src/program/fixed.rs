//! Resolving `head <~ Name(inputs, options)`.

use std::collections::BTreeMap;

use super::names::{Relations, column_index, instead_of_rule};
use super::resolve::check_once;
use super::{Definition, FixedApply, FixedInput, Formula, HeadColumn, Predicate, ProgramError, Resolver, Target};
use crate::diag::nearest;
use crate::expr::Expr;
use crate::fixed_rule::{FixedRuleError, OptionMap, Options, Rule, RuleSet};
use crate::parse::ast::{self, StoredBindings, Symbol};
use crate::schema::SchemaRef;
use crate::value::SmallStr;

impl Resolver<'_> {
    /// Resolves a rule whose body is a fixed rule.
    pub(super) fn fixed(
        &mut self,
        rule: &ast::Rule,
        call: &ast::FixedCall,
    ) -> Result<Predicate<Formula>, ProgramError> {
        let name = &call.name.name;
        check_once(call.options.iter().map(|(name, _)| name), "option")?;
        if name == "Constant" {
            let (rule_name, option) = (name.to_string(), "data".to_string());
            let missing = FixedRuleError::OptionNotFound { rule: rule_name, option, span: call.span };
            let data = call.options.iter().find(|(option, _)| option.name == "data");
            return self.constant(rule, &data.ok_or(missing)?.1);
        }
        let found = self.fixed_rule(&call.name)?;
        if let Some(arg) = rule.head.args.iter().find(|arg| arg.aggregation.is_some()) {
            return Err(ProgramError::AggregationInFixed { span: arg.variable.span });
        }
        let inputs = call.inputs.iter().map(|input| self.fixed_input(input)).collect::<Result<Vec<_>, _>>()?;
        check_bindings(&inputs)?;
        let head: Vec<Symbol> = rule.head.args.iter().map(|arg| arg.variable.clone()).collect();
        let options = self.fixed_options(call, &found, &head)?;
        let named = inputs.first().map_or(0, |input| input.bindings.iter().filter(|name| !name.is_wildcard()).count());
        let arity = found.arity(Options { rule: name, given: &options, span: call.span }, &head, named)?;
        let columns = fixed_columns(rule, name, arity)?;
        let apply = FixedApply { name: name.clone(), rule: found, inputs, options, span: call.span };
        Ok(Predicate { columns, definition: Definition::Fixed(apply), span: rule.head.span })
    }

    /// A fixed rule by name, if this database allows it.
    fn fixed_rule(&self, name: &Symbol) -> Result<Rule, ProgramError> {
        let (text, span) = (name.name.to_string(), name.span);
        let rules = self.fixed_rules;
        match rules.and_then(|rules| rules.find(&name.name)) {
            Some(rule) if rule.needs_external_access() && !rules.is_some_and(|rules| rules.external_access) => {
                Err(ProgramError::ExternalAccess { name: text, span })
            }
            Some(rule) => Ok(rule),
            None => {
                let known = rules.map_or(vec![], RuleSet::names);
                let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
                let near = nearest(&name.name, &known).map(|near| format!("did you mean `{near}`? "));
                let hint = format!("{}'::fixed_rules' lists them", near.unwrap_or_default());
                Err(ProgramError::FixedRuleNotFound { name: text, hint, span })
            }
        }
    }

    fn fixed_input(&mut self, input: &ast::FixedInput) -> Result<FixedInput, ProgramError> {
        match input {
            ast::FixedInput::Rule { name, bindings, span } => {
                let target = Target::Predicate(name.name.clone());
                Ok(FixedInput { target, bindings: bindings.clone(), span: *span })
            }
            ast::FixedInput::Stored { name, bindings: StoredBindings::Positional(bindings), span, .. }
                if !self.is_used =>
            {
                let target = Target::Predicate(name.name.clone());
                Ok(FixedInput { target, bindings: bindings.clone(), span: *span })
            }
            ast::FixedInput::Stored { name, bindings, validity, span } => {
                let (target, schema) = self.stored_target(name, validity.as_ref())?;
                let bindings = match bindings {
                    StoredBindings::Positional(names) => names.clone(),
                    StoredBindings::Named(named) => by_position(&schema, named)?,
                };
                Ok(FixedInput { target, bindings, span: *span })
            }
        }
    }

    /// The options by name. If the number of columns depends on them, their parameters are replaced by values.
    fn fixed_options(
        &mut self,
        call: &ast::FixedCall,
        rule: &Rule,
        head: &[Symbol],
    ) -> Result<OptionMap, ProgramError> {
        let mut options = OptionMap::new();
        for (name, expr) in &call.options {
            options.insert(name.name.clone(), self.expr(expr)?);
        }
        let has_parameter = |expr: &Expr| {
            let mut found = false;
            expr.walk(&mut |part| found |= matches!(part, Expr::Parameter(..)));
            found
        };
        if rule.arity_depends_on_options() && options.values().any(has_parameter) {
            self.parameters.shape_depends_on_values = true;
            let values = self.parameters.bind(self.values)?;
            options.values_mut().for_each(|expr| *expr = expr.with_parameters(&values));
        }
        rule.init_options(&mut options, head, call.span)?;
        Ok(options)
    }
}

/// The columns of a rule, named by its head or by number.
fn fixed_columns(rule: &ast::Rule, name: &SmallStr, arity: usize) -> Result<Vec<HeadColumn>, ProgramError> {
    let args = &rule.head.args;
    if args.is_empty() {
        let numbered = |i| HeadColumn { name: SmallStr::from(format!("_{i}")), aggregation: None };
        return Ok((0..arity).map(numbered).collect());
    }
    if args.len() != arity {
        let span = rule.head.span;
        return Err(ProgramError::FixedHead { head: args.len(), rule: name.to_string(), gives: arity, span });
    }
    Ok(args.iter().map(|arg| HeadColumn { name: arg.variable.name.clone(), aggregation: None }).collect())
}

/// Turns names by column into names by position.
fn by_position(schema: &SchemaRef, named: &[(Symbol, Symbol)]) -> Result<Vec<Symbol>, ProgramError> {
    let mut bindings: Vec<Symbol> = schema.columns().map(|_| Symbol::new("_", Default::default())).collect();
    check_once(named.iter().map(|(column, _)| column), "column")?;
    let mut seen: Vec<&Symbol> = vec![];
    for (column, binding) in named {
        check_binding(binding, &mut seen)?;
        let index = column_index(schema, column)?;
        bindings[index] = binding.clone();
    }
    Ok(bindings)
}

/// Refuses a name that stands for two columns.
fn check_bindings(inputs: &[FixedInput]) -> Result<(), ProgramError> {
    let mut seen: Vec<&Symbol> = vec![];
    inputs.iter().flat_map(|input| &input.bindings).try_for_each(|binding| check_binding(binding, &mut seen))
}

fn check_binding<'s>(binding: &'s Symbol, seen: &mut Vec<&'s Symbol>) -> Result<(), ProgramError> {
    if seen.contains(&binding) {
        return Err(ProgramError::DuplicateBinding { name: binding.to_string(), span: binding.span });
    }
    if !binding.is_wildcard() {
        seen.push(binding);
    }
    Ok(())
}

/// Checks that the rules among the inputs are defined.
pub(super) fn check_inputs(
    apply: &FixedApply,
    predicates: &BTreeMap<SmallStr, Predicate<Formula>>,
    relations: &dyn Relations,
) -> Result<(), ProgramError> {
    for input in &apply.inputs {
        if let Target::Predicate(name) = &input.target
            && !predicates.contains_key(name)
        {
            let hint = instead_of_rule(name, predicates, relations);
            return Err(ProgramError::InputRuleNotFound { name: name.to_string(), hint, span: input.span });
        }
    }
    Ok(())
}
