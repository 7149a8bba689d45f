//! Findings about a profile that loads: what works, but hardly as it was meant.

mod modes;
mod own;
mod paths;
mod texts;
mod tools;

use crate::count::FixedCounter;
use crate::problem::Problem;
use crate::profile::Profile;

use own::Own;

impl Profile {
    /// What is found in the profile's own files: parts over their budget, templates that shrink as the tier grows,
    /// paragraphs that stand twice, modes that lack tiers, tools that do not exist or are not offered, invisible characters, placeholders
    /// that nobody filled, and `turn` text before text that could be kept.
    pub fn lint(&self, counter: &dyn FixedCounter) -> Vec<Problem> {
        let own = Own { profile: self };
        let mut problems = Vec::new();
        texts::characters(own, &mut problems);
        texts::placeholders(own, &mut problems);
        texts::shrinking(own, &mut problems);
        texts::paragraphs(own, &mut problems);
        modes::missing_tiers(own, &mut problems);
        tools::unknown_or_not_offered(own, &mut problems);
        paths::prefixes(own, &mut problems);
        paths::budgets(own, counter, &mut problems);
        problems
    }
}
