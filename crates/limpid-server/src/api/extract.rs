//! What an address says, read strictly.

use axum::extract::{FromRequestParts, Path as AnyPath, Query as AnyQuery};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::error::ApiError;

/// The most rows that are listed at once.
const MOST: u32 = 1_000;

/// The query of an address.
pub(super) struct Query<T>(pub(super) T);

/// The parts of a path.
pub(super) struct Path<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let read = AnyQuery::from_request_parts(parts, state).await;
        read.map(|AnyQuery(read)| Self(read)).map_err(|error| ApiError::invalid(error.body_text()))
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let read = AnyPath::from_request_parts(parts, state).await;
        read.map(|AnyPath(read)| Self(read)).map_err(|error| ApiError::invalid(error.body_text()))
    }
}

/// How many rows are listed.
///
/// # Errors
/// When none or too many are asked for.
pub(super) fn limit(asked: Option<u32>) -> Result<u32, ApiError> {
    match asked.unwrap_or(100) {
        limit @ 1..=MOST => Ok(limit),
        _ => Err(ApiError::invalid("`limit` is a number from 1 to 1000").param("limit")),
    }
}
