//! The operators of a rule as a program over registers that hold numbers and Booleans: a loop over instructions, where trees of
//! expressions over values would be walked for each row anew.

use crate::expr::Expr;
use crate::plan::{OperatorKind, OperatorPlan};
use crate::value::{Cell, DataValue, Scalar};

/// A program, and its registers: first those of the rule's slots, then those of constants, parameters and intermediate results.
pub struct RowProgram {
    registers: Vec<Scalar>,
    instructions: Vec<Instruction>,
}

/// What is done with registers. All of them decline what is not of the type that they take.
enum Instruction {
    /// Applies a function to two.
    Apply { function: fn(Scalar, Scalar) -> Option<Scalar>, args: [usize; 2], target: usize },
    /// Copies one.
    Copy { from: usize, target: usize },
    /// Drops the row if this is false.
    Test(usize),
    /// Drops the row if these differ.
    Same(usize, usize),
    /// Goes on further down if this is false.
    Unless { condition: usize, next: usize },
    /// Goes on further down.
    Goto(usize),
    /// Declines: something here is no number and no Boolean.
    Decline,
}

impl RowProgram {
    /// The program of a rule with so many slots.
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

    /// Appends what evaluates an expression; gives the register of its value, which is `target` if one is given.
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
                // It is null.
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

    /// The place of an instruction that is not known yet.
    fn reserve(&mut self) -> usize {
        self.decline();
        self.instructions.len() - 1
    }

    /// Appends that the program declines; any register will do for what follows.
    fn decline(&mut self) -> usize {
        self.instructions.push(Instruction::Decline);
        0
    }

    /// The registers of the slots, and behind them others.
    #[inline]
    pub fn registers(&mut self) -> &mut [Scalar] {
        &mut self.registers
    }

    /// Runs on one row, of which the slots are filled that were known before; whether it has become one. Nothing if that takes
    /// other values than numbers and Booleans, or fails.
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
