//! How much is kept in a day of what strangers send through a program at which nobody sits.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use axum::http::StatusCode;

use super::bound::{Whose, whose};
use super::error::ApiError;
use super::tokens::{ApiRole, ApiToken};

/// Bytes that are kept of one program in a day.
const A_DAY: u64 = 16 << 20;

/// Bytes that a request takes besides its words.
const EACH: u64 = 4 << 10;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// What was kept of each program since a moment: its milliseconds since 1970, and bytes.
#[derive(Default)]
pub(super) struct Quotas(Mutex<HashMap<Whose, (i64, u64)>>);

impl Quotas {
    /// Counts a request of so many bytes; the owner's programs are not counted.
    ///
    /// # Errors
    /// When more would be kept of the program than may be in a day.
    pub(super) fn take(&self, program: &ApiToken, bytes: usize, now_ms: i64) -> Result<(), ApiError> {
        if program.role == ApiRole::Owner {
            return Ok(());
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back begins a day, too.
        kept.retain(|_, (since_ms, _)| (0..DAY_MS).contains(&now_ms.saturating_sub(*since_ms)));
        let (since_ms, own) = kept.entry(whose(program)).or_insert((now_ms, 0));
        let all = own.saturating_add(bytes as u64).saturating_add(EACH);
        if all > A_DAY {
            let left_ms = since_ms.saturating_add(DAY_MS).saturating_sub(now_ms);
            let why = "too much was sent through this program today; ask again tomorrow";
            let seconds = u64::try_from(left_ms).unwrap_or_default().div_ceil(1000);
            return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, why).after(seconds));
        }
        *own = all;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SUR-031 SEC-042
    #[test]
    fn a_program_has_so_many_bytes_a_day_and_the_owners_all() {
        let quotas = Quotas::default();
        let [stranger, other] =
            ["a", "b"].map(|name| ApiToken { name: name.into(), role: ApiRole::Program, made_ms: 1 });
        let owner = ApiToken { role: ApiRole::Owner, ..stranger.clone() };
        let most = usize::try_from(A_DAY - EACH).unwrap();
        quotas.take(&stranger, most - 1, 5).unwrap();
        quotas.take(&stranger, 0, 6).unwrap_err();
        for program in [&other, &owner] {
            quotas.take(program, most, 6).unwrap();
        }
        quotas.take(&owner, most, 6).unwrap();
        quotas.take(&stranger, 0, 5 + DAY_MS - 1).unwrap_err();
        quotas.take(&stranger, most, 5 + DAY_MS).unwrap();
    }
}
