//! The owner's rules that hold something back, besides as they are written in the usual form of their arguments: a call is held by it too.

use std::sync::Arc;

use limpid_core::policy::{ArgumentPattern, OwnerRules, Rule};
use limpid_tools::{letters_form, usual_form};
use serde_json::Value;

/// The rules, each that holds something back by its arguments once more in each form of them that is another one.
pub(super) fn with_usual_forms(rules: &Arc<OwnerRules>) -> Arc<OwnerRules> {
    let usual = |held: &[Rule]| {
        let in_form = |form| held.iter().filter_map(move |rule| usual_rule(rule, form));
        in_form(usual_form as Form).chain(in_form(letters_form)).collect::<Vec<Rule>>()
    };
    let (ask, deny) = (usual(&rules.ask), usual(&rules.deny));
    if ask.is_empty() && deny.is_empty() {
        return Arc::clone(rules);
    }
    let mut both = OwnerRules::clone(rules);
    both.ask.extend(ask);
    both.deny.extend(deny);
    Arc::new(both)
}

type Form = fn(&Value) -> Value;

fn usual_rule(rule: &Rule, form: Form) -> Option<Rule> {
    let written = rule.arguments.as_ref()?;
    let arguments = usual_pattern(written, form);
    (arguments != *written).then(|| Rule { arguments: Some(arguments), ..rule.clone() })
}

fn usual_pattern(pattern: &ArgumentPattern, form: Form) -> ArgumentPattern {
    match pattern {
        ArgumentPattern::Text(text) => match form(&Value::from(text.as_str())) {
            Value::String(usual) => ArgumentPattern::Text(usual),
            _ => pattern.clone(),
        },
        ArgumentPattern::List(items) => {
            ArgumentPattern::List(items.iter().map(|item| usual_pattern(item, form)).collect())
        }
        ArgumentPattern::Fields(fields) => {
            let usual = |(name, pattern): &(String, ArgumentPattern)| (name.clone(), usual_pattern(pattern, form));
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
            ("o".to_owned(), Argument::Fields(vec![("url".to_owned(), said("https://h.example/wipe"))])),
            ("to".to_owned(), Argument::List(vec![said("boss@work.example"), said("x")])),
        ]);
        let held: Vec<bool> = both.deny.iter().map(|rule| rule.arguments.as_ref().unwrap().concerns(&call)).collect();
        assert_eq!(held, [false, true, false]);
        let plain = Arc::new(OwnerRules::default());
        assert!(Arc::ptr_eq(&with_usual_forms(&plain), &plain));
    }
}
