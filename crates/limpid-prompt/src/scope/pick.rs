//! Names over the payload of the card picker: what is left of it after the rules of the game.

use crate::splinterlands::{Battle, Card};
use serde_json::Value;

use super::record::Record;
use super::view::View;

/// A field of `pick`. Whatever the payload looks like, what can be read of it counts and the rest has defaults.
pub(super) fn pick<'a>(payload: Option<&Value>, field: &str) -> View<'a> {
    let battle = payload.map(battle).unwrap_or_default();
    let options = battle.options();
    let cards = |cards: &[&Card]| View::records(cards.iter().copied().map(card_fields));
    match field {
        "" => View::Bool(payload.is_some()),
        "mana_cap" => View::int(battle.mana_cap),
        "max_monsters" => View::int(battle.max_monsters),
        "summoners" => cards(&options.summoners),
        "monsters" => cards(&options.monsters),
        "gladiators" => View::List(options.gladiators().into_iter().map(View::file).collect()),
        _ => View::Absent,
    }
}

fn card_fields<'a>(card: &Card) -> Record<'a> {
    let text = |text: &str| View::file(text.to_owned());
    Record::Made(vec![
        ("name", text(&card.name)),
        ("splinter", text(&card.splinter)),
        ("mana", View::int(card.mana)),
        ("type", text(&card.kind)),
        ("abilities", View::List(card.abilities.iter().map(|ability| text(ability)).collect())),
    ])
}

fn battle(payload: &Value) -> Battle {
    let default = Battle::default();
    let cards = |field: &str| payload[field].as_array().into_iter().flatten().map(card).collect();
    Battle {
        mana_cap: number(&payload["mana_cap"]).unwrap_or(default.mana_cap),
        max_monsters: number(&payload["max_monsters"]).unwrap_or(default.max_monsters),
        inactive: texts(&payload["inactive"]),
        barred: texts(&payload["barred"]),
        summoners: cards("summoners"),
        monsters: cards("monsters"),
    }
}

fn card(value: &Value) -> Card {
    Card {
        id: text(&value["id"]),
        name: text(&value["name"]),
        splinter: text(&value["splinter"]),
        mana: number(&value["mana"]).unwrap_or_default(),
        kind: text(&value["type"]),
        abilities: texts(&value["abilities"]),
        gladiator: value["gladiator"].as_bool().unwrap_or_default(),
    }
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).filter(|text| !text.is_empty()).collect()
}
