//! The owner's rules that hold something back, besides as they are written in the usual form of their arguments: a call is held by it too.

use std::sync::Arc;

use limpid_core::policy::{ArgumentPattern, OwnerRules, Rule};
use limpid_tools::usual_form;
use serde_json::Value;

/// The rules, each that holds something back by its arguments twice where its usual form is another one.
pub(super) fn with_usual_forms(rules: &Arc<OwnerRules>) -> Arc<OwnerRules> {
    let usual = |held: &[Rule]| held.iter().filter_map(usual_rule).collect::<Vec<Rule>>();
    let (ask, deny) = (usual(&rules.ask), usual(&rules.deny));
    if ask.is_empty() && deny.is_empty() {
        return Arc::clone(rules);
    }
    let mut both = OwnerRules::clone(rules);
    both.ask.extend(ask);
    both.deny.extend(deny);
    Arc::new(both)
}

fn usual_rule(rule: &Rule) -> Option<Rule> {
    let written = rule.arguments.as_ref()?;
    let arguments = usual_pattern(written);
    (arguments != *written).then(|| Rule { arguments: Some(arguments), ..rule.clone() })
}

fn usual_pattern(pattern: &ArgumentPattern) -> ArgumentPattern {
    match pattern {
        ArgumentPattern::Text(text) => match usual_form(&Value::from(text.as_str())) {
            Value::String(usual) => ArgumentPattern::Text(usual),
            _ => pattern.clone(),
        },
        ArgumentPattern::List(items) => ArgumentPattern::List(items.iter().map(usual_pattern).collect()),
        ArgumentPattern::Fields(fields) => {
            let usual = |(name, pattern): &(String, ArgumentPattern)| (name.clone(), usual_pattern(pattern));
            ArgumentPattern::Fields(fields.iter().map(usual).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use limpid_core::policy::{Argument, ToolPattern};

    use super::*;

    // SEC-071
    #[test]
    fn a_rule_holds_nested_arguments_in_their_usual_form() {
        let text = |text: &str| ArgumentPattern::Text(text.to_owned());
        let inner = ArgumentPattern::Fields(vec![("url".to_owned(), text("https://h.example/Wipe/"))]);
        let list = ArgumentPattern::List(vec![text("Boss@work.example"), text("**")]);
        let written = ArgumentPattern::Fields(vec![("o".to_owned(), inner), ("to".to_owned(), list)]);
        let rule = Rule { tool: ToolPattern::All, arguments: Some(written), destination: None, max_bytes: None };
        let rules = Arc::new(OwnerRules { deny: vec![rule], ..OwnerRules::default() });
        let both = with_usual_forms(&rules);
        let said = |text: &str| Argument::Text(text.to_owned());
        let call = Argument::Fields(vec![
            ("o".to_owned(), Argument::Fields(vec![("url".to_owned(), said("https://h.example/wipe/"))])),
            ("to".to_owned(), Argument::List(vec![said("boss@work.example"), said("x")])),
        ]);
        let held: Vec<bool> = both.deny.iter().map(|rule| rule.arguments.as_ref().unwrap().concerns(&call)).collect();
        assert_eq!(held, [false, true]);
        let plain = Arc::new(OwnerRules::default());
        assert!(Arc::ptr_eq(&with_usual_forms(&plain), &plain));
    }
}
