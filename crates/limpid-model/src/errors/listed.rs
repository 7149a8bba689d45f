//! Advice for a model that its provider does not serve: those that it does.

/// Models that are named.
const MOST: usize = 6;

/// What to do about a model (`provider/id`) that was not found, when the provider lists these.
pub(super) fn advice(name: &str, listed: &[String]) -> String {
    let (provider, wanted) = name.split_once('/').unwrap_or_default();
    if listed.is_empty() || listed.iter().any(|id| id == wanted) {
        return "Check the model's name and that this account may use it.".to_owned();
    }
    let mut alike: Vec<&String> = listed.iter().collect();
    // Among those that are alike the newest one has the greatest name.
    alike.sort_by(|one, other| same(other, wanted).cmp(&same(one, wanted)).then_with(|| other.cmp(one)));
    let named: Vec<String> = alike.iter().take(MOST).map(|id| format!("{provider}/{id}")).collect();
    let more = listed.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "{provider} does not list this model, or has switched it off. Choose one that it lists: {}{more}.",
        named.join(", ")
    )
}

/// How many words two names begin with alike.
fn same(one: &str, other: &str) -> usize {
    let words = |name: &str| name.split(['-', '/', ':', '.']).map(str::to_lowercase).collect::<Vec<_>>();
    words(one).iter().zip(words(other).iter()).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    // MOD-105
    #[test]
    fn the_nearest_of_the_listed_models_come_first_and_not_all_of_hundreds() {
        let listed: Vec<String> = (0..50).map(|n| format!("other-{n}")).collect();
        let listed: Vec<String> =
            ["claude-opus-5-5", "claude-sonnet-5-5"].map(str::to_owned).into_iter().chain(listed).collect();
        let said = advice("anthropic/claude-sonnet-4", &listed);
        assert!(said.contains("it lists: anthropic/claude-sonnet-5-5, anthropic/claude-opus-5-5, "), "{said}");
        assert!(said.ends_with("and 46 more.") && said.len() < 300, "{said}");
        let own = "anthropic/claude-opus-5-5";
        assert_eq!(advice(own, &listed), advice(own, &[]), "what is listed is refused for another cause");
    }
}
