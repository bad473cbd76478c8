//! How much a text may become, and until when it may be read.

use std::cell::{Cell, RefCell};

use cozo::Interrupt;
use cozo::session::SessionError;
use serde::de::Error;

/// Why a text was not read.
#[derive(Debug)]
pub enum DecodeError {
    /// It is not what it should be.
    Bad(String),
    /// It becomes more than it may.
    TooMuch,
    /// There is no more memory for it now.
    NoMemory,
    /// The time for it is over.
    Stopped(miette::Report),
    /// A row of an import does not fit its headers.
    Row(SessionError),
}

/// The interrupt is looked at each time so many values were read.
const VALUES_PER_CHECK: usize = 4096;

/// Memory is asked for in pieces of so many bytes.
const PIECE: usize = 1 << 18;

/// Counts what is made of a text.
pub struct Meter<'m> {
    interrupt: &'m Interrupt,
    /// How many bytes more there may be.
    left: Cell<usize>,
    /// How many bytes more are known to whoever gives memory.
    granted: Cell<usize>,
    /// Gives memory; whether there is so much more.
    grant: &'m dyn Fn(usize) -> bool,
    values: Cell<usize>,
    refusal: RefCell<Option<DecodeError>>,
}

impl<'m> Meter<'m> {
    /// Allows so many bytes, of which `grant` is asked for each piece.
    pub fn new(limit: usize, interrupt: &'m Interrupt, grant: &'m dyn Fn(usize) -> bool) -> Self {
        let (left, granted, values) = (Cell::new(limit), Cell::new(0), Cell::new(0));
        Meter { interrupt, left, granted, grant, values, refusal: RefCell::default() }
    }

    /// Makes room for a value of so many bytes.
    pub fn charge<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let Some(left) = self.left.get().checked_sub(bytes) else { return self.refuse(DecodeError::TooMuch) };
        self.left.set(left);
        if self.granted.get() < bytes {
            let piece = bytes.max(PIECE).min(left.saturating_add(bytes));
            if !(self.grant)(piece) {
                return self.refuse(DecodeError::NoMemory);
            }
            self.granted.set(self.granted.get() + piece);
        }
        self.granted.set(self.granted.get() - bytes);
        self.count()
    }

    /// Counts a value that was read.
    fn count<E: Error>(&self) -> Result<(), E> {
        self.values.set(self.values.get() + 1);
        match self.values.get().is_multiple_of(VALUES_PER_CHECK) {
            true => self.check(),
            false => Ok(()),
        }
    }

    /// Takes back what was charged too much.
    pub fn refund(&self, bytes: usize) {
        self.left.set(self.left.get() + bytes);
        self.granted.set(self.granted.get() + bytes);
    }

    /// Makes room for one more item in a list, before it is made.
    pub fn reserve<T, E: Error>(&self, items: &mut Vec<T>) -> Result<(), E> {
        if items.len() < items.capacity() {
            return self.count();
        }
        let more = (items.len() / 2).max(4);
        // To grow, a list may be copied: for a moment there are two.
        let copied = items.capacity() * size_of::<T>();
        self.charge(copied + more * size_of::<T>())?;
        self.refund(copied);
        match items.try_reserve_exact(more) {
            Ok(()) => Ok(()),
            Err(_) => self.refuse(DecodeError::NoMemory),
        }
    }

    /// Gives back the room that a list does not need any more.
    pub fn shrink<T>(&self, items: &mut Vec<T>) {
        let spare = items.capacity() - items.len();
        if spare > 0 {
            items.shrink_to_fit();
            self.refund(spare * size_of::<T>());
        }
    }

    /// Fails, for this reason rather than for what the text's reader makes of it.
    pub fn refuse<T, E: Error>(&self, reason: DecodeError) -> Result<T, E> {
        self.refusal.replace(Some(reason));
        Err(E::custom("it is not read on"))
    }

    /// Why it failed, if that was no fault of the text's.
    pub fn refusal(&self) -> Option<DecodeError> {
        self.refusal.take()
    }

    fn check<E: Error>(&self) -> Result<(), E> {
        match self.interrupt.check() {
            Ok(()) => Ok(()),
            Err(stopped) => self.refuse(DecodeError::Stopped(stopped.into())),
        }
    }
}
