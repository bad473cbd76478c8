//! One rendering of errors as JSON and as text, for every surface.
