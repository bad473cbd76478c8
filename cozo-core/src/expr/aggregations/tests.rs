//! Tests over all aggregations.
