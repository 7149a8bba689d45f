//! What a check finds.

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was checked.
    pub what: &'static str,
    /// Whether it works.
    pub ok: bool,
    /// What is there, or what is wrong.
    pub says: String,
    /// What to do about it.
    pub advice: Option<String>,
}

/// What is there, or what is wrong and what to do about it; no advice when the words say it.
pub(super) type Finding = Result<String, (String, &'static str)>;

impl Check {
    pub(super) fn of(what: &'static str, finding: Finding) -> Self {
        Self::with_advice(what, finding.map_err(|(says, advice)| (says, advice.to_owned())))
    }

    pub(super) fn with_advice(what: &'static str, finding: Result<String, (String, String)>) -> Self {
        match finding {
            Ok(says) => Self { what, ok: true, says, advice: None },
            Err((says, advice)) => {
                Self { what, ok: false, says, advice: Some(advice).filter(|advice| !advice.is_empty()) }
            }
        }
    }
}
