//! The pick of a card team.

use limpid_prompt::Inputs;
use serde_json::json;

use crate::golden::{example, offered, patched, render, roles, scenario, user};

fn pick_inputs() -> Inputs {
    scenario("kai", "pick")
}

fn pick_text(inputs: &Inputs) -> String {
    user(&render("kai", "splinterlands-pick", inputs))
}

// KAI-115
#[test]
fn nothing_but_its_payload_changes_a_byte_of_the_pick() {
    let expected = pick_text(&pick_inputs());
    let mut loaded = example();
    loaded.payload = pick_inputs().payload;
    loaded.ui_mode = limpid_prompt::inputs::UiMode::Interactive;
    let prompt = render("kai", "splinterlands-pick", &loaded);
    assert_eq!(roles(&prompt), ["user"]);
    assert_eq!(user(&prompt), expected);
    assert!(offered(&prompt).is_empty());
}

// KAI-116 KAI-117 KAI-118
#[test]
fn the_pick_has_rules_options_and_last_a_skeleton() {
    let text = pick_text(&pick_inputs());
    let options = "Summoners:\nS1: Zintar | Death | 3m | Summoner | -1 Melee\n\
                   S2: Tarsa | Fire | 4m | Summoner | +1 Health, Conscript\n\n\
                   Monsters:\nM1: Serpent | Fire | 3m | Melee | Sneak\nM2: Golem | Neutral | 6m | Ranged | Shield, Void\n\
                   M3: Gor | Fire | 5m | Melee\n\n";
    assert!(text.contains(options), "{text}");
    assert!(text.contains(" at most 24 mana") && text.contains("1 to 5 monsters") && text.contains("gladiators M3,"));
    let skeleton: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(skeleton, json!({ "summoner": "", "monsters": [], "mana_total": 0 }));
}

// KAI-118
#[test]
fn without_a_payload_the_games_limits_hold() {
    for payload in
        [json!(null), json!({}), json!([1]), json!("x"), json!({ "mana_cap": "many", "monsters": [7, null] })]
    {
        let text = pick_text(&patched(Inputs::default(), json!({ "payload": payload })));
        assert!(text.contains(" at most 20 mana") && text.contains("1 to 6 monsters"), "{text}");
        assert!(!text.contains("S1:") && !text.contains("gladiator"), "{text}");
    }
}
