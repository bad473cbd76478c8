//! The operators of a rule as a program over registers.
//!
//! [`RowProgram::new`] compiles filters, tests and unifications into instructions, which [`RowProgram::run`] executes in a loop
//! for each row. So no tree of expressions is walked for a row, and no value is allocated.
//!
//! ```text
//! y = x + 1, y < 10        registers: slots x, y | constants 1, 10 | result t
//!
//! 0  Apply add x, 1  -> y
//! 1  Apply lt  y, 10 -> t
//! 2  Test t
//! ```
//!
//! A conditional jumps over the branches that are not taken (`Unless`, `Goto`). Registers hold numbers and Booleans. **A program
//! never makes an error**: where a value has another type, or a function fails, it declines, and the row is evaluated on values,
//! which words the error.

use crate::expr::Expr;
use crate::plan::{OperatorKind, OperatorPlan};
use crate::value::{Cell, DataValue, Scalar};

/// A program and its registers: first the slots of the rule, then constants, parameters and intermediate results.
pub struct RowProgram {
    registers: Vec<Scalar>,
    instructions: Vec<Instruction>,
}

/// An instruction. It declines a value of a type that it does not take.
enum Instruction {
    /// Applies a function to two registers.
    Apply { function: fn(Scalar, Scalar) -> Option<Scalar>, args: [usize; 2], target: usize },
    /// Copies a register.
    Copy { from: usize, target: usize },
    /// Drops the row if a register is false.
    Test(usize),
    /// Drops the row if two registers differ.
    Same(usize, usize),
    /// Jumps forward if a register is false.
    Unless { condition: usize, next: usize },
    /// Jumps forward.
    Goto(usize),
    /// Declines: a value here is neither a number nor a Boolean.
    Decline,
}

impl RowProgram {
    /// The program of the operators of a rule, which has so many slots.
    pub fn new(operators: &[OperatorPlan], slots: usize, parameters: &[&DataValue]) -> Self {
        let mut program = RowProgram { registers: vec![Scalar::bool(false); slots], instructions: vec![] };
        for operator in operators {
            match &operator.kind {
                OperatorKind::Filter(expr) => {
                    let condition = program.compile(expr, None, parameters);
                    program.instructions.push(Instruction::Test(condition));
                }
                OperatorKind::Same(slot, expr) => {
                    let value = program.compile(expr, None, parameters);
                    program.instructions.push(Instruction::Same(*slot, value));
                }
                OperatorKind::Unify(slot, expr) => {
                    program.compile(expr, Some(*slot), parameters);
                }
                OperatorKind::Distinct => {}
                OperatorKind::Join(_)
                | OperatorKind::SemiJoin(_)
                | OperatorKind::Unnest(..)
                | OperatorKind::Intersect(_) => program.instructions.push(Instruction::Decline),
            }
        }
        program
    }

    /// Appends the instructions that evaluate an expression; returns the register of its value, which is `target` if there is
    /// one.
    fn compile(&mut self, expr: &Expr, target: Option<usize>, parameters: &[&DataValue]) -> usize {
        let value = match expr {
            Expr::Slot(slot, _) => *slot,
            Expr::Constant(..) | Expr::Parameter(..) => match expr.given(parameters).and_then(Cell::scalar) {
                Some(scalar) => self.register(scalar),
                None => self.decline(),
            },
            Expr::Call { function, args, .. } => {
                let (Some(function), [a, b]) = (function.numbers, args.as_slice()) else { return self.decline() };
                let args = [a, b].map(|arg| self.compile(arg, None, parameters));
                let target = target.unwrap_or_else(|| self.register(Scalar::bool(false)));
                self.instructions.push(Instruction::Apply { function, args, target });
                return target;
            }
            Expr::Conditional { branches, .. } => {
                let target = target.unwrap_or_else(|| self.register(Scalar::bool(false)));
                let mut ends = Vec::with_capacity(branches.len());
                for (condition, value) in branches {
                    let condition = self.compile(condition, None, parameters);
                    let unless = self.reserve();
                    self.compile(value, Some(target), parameters);
                    ends.push(self.reserve());
                    self.instructions[unless] = Instruction::Unless { condition, next: self.instructions.len() };
                }
                // If no condition holds, the value is null, which no register holds.
                self.instructions.push(Instruction::Decline);
                let end = self.instructions.len();
                ends.into_iter().for_each(|place| self.instructions[place] = Instruction::Goto(end));
                return target;
            }
            Expr::Variable(..) => self.decline(),
        };
        if let Some(target) = target {
            self.instructions.push(Instruction::Copy { from: value, target });
        }
        target.unwrap_or(value)
    }

    fn register(&mut self, value: Scalar) -> usize {
        self.registers.push(value);
        self.registers.len() - 1
    }

    /// The place of an instruction that is filled in later.
    fn reserve(&mut self) -> usize {
        self.decline();
        self.instructions.len() - 1
    }

    /// Appends an instruction that declines. Later instructions do not run, so any register may stand for the value.
    fn decline(&mut self) -> usize {
        self.instructions.push(Instruction::Decline);
        0
    }

    /// The registers; those of the slots come first.
    #[inline]
    pub fn registers(&mut self) -> &mut [Scalar] {
        &mut self.registers
    }

    /// Runs on one row, whose input slots are filled; returns whether the row passes. Declines with `None` if a value is neither
    /// a number nor a Boolean, or a function fails.
    #[inline]
    pub fn run(&mut self) -> Option<bool> {
        let registers = self.registers.as_mut_slice();
        let mut next = 0;
        while let Some(instruction) = self.instructions.get(next) {
            next += 1;
            match *instruction {
                Instruction::Apply { function, args: [a, b], target } => {
                    registers[target] = function(registers[a], registers[b])?;
                }
                Instruction::Copy { from, target } => registers[target] = registers[from],
                Instruction::Test(condition) if !registers[condition].get_bool()? => return Some(false),
                Instruction::Same(a, b) if registers[a] != registers[b] => return Some(false),
                Instruction::Test(_) | Instruction::Same(..) => {}
                Instruction::Unless { condition, next: place } => {
                    if !registers[condition].get_bool()? {
                        next = place;
                    }
                }
                Instruction::Goto(place) => next = place,
                Instruction::Decline => return None,
            }
        }
        Some(true)
    }
}
