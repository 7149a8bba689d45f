//! Which cards of a Splinterlands battle may be played, and the numbers that the picker's prompt gives them.

use std::collections::HashSet;

/// The splinter whose monsters follow every summoner.
const NEUTRAL: &str = "Neutral";

/// The splinter whose summoners may lead one further splinter.
const DRAGON: &str = "Dragon";

/// The ability that lets a summoner lead a gladiator.
const CONSCRIPT: &str = "Conscript";

/// What the ids of monsters are counted from, so that they never meet those of summoners.
const MONSTER_IDS: u32 = 1000;

/// One card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// The game's own id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its splinter: Fire, Water, …, Dragon or Neutral.
    pub splinter: String,
    /// What it costs.
    pub mana: u32,
    /// Its kind: Summoner, Monster, or how it attacks.
    pub kind: String,
    /// Its abilities.
    pub abilities: Vec<String>,
    /// Whether it is a gladiator.
    pub gladiator: bool,
}

impl Card {
    /// Whether the card has an ability, whatever the case of its letters.
    pub fn has_ability(&self, ability: &str) -> bool {
        self.abilities.iter().any(|own| same(own, ability))
    }
}

/// A battle for which a team is to be picked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Battle {
    /// Mana that the team may cost together.
    pub mana_cap: u32,
    /// Monsters that may stand in the team.
    pub max_monsters: u32,
    /// Splinters that may not be played.
    pub inactive: Vec<String>,
    /// Cards that may not be played, by id or name.
    pub barred: Vec<String>,
    /// The player's summoners.
    pub summoners: Vec<Card>,
    /// The player's monsters.
    pub monsters: Vec<Card>,
}

impl Default for Battle {
    fn default() -> Self {
        Self {
            mana_cap: 20,
            max_monsters: 6,
            inactive: Vec::new(),
            barred: Vec::new(),
            summoners: Vec::new(),
            monsters: Vec::new(),
        }
    }
}

impl Battle {
    /// The cards that can be played, in the order given: without inactive splinters, barred cards, duplicates,
    /// monsters that no summoner can lead, and gladiators unless a summoner can conscript one.
    pub fn options(&self) -> Options<'_> {
        let summoners = self.allowed(&self.summoners);
        let monsters = self.allowed(&self.monsters).into_iter().filter(|card| can_be_led(card, &summoners)).collect();
        Options { summoners, monsters }
    }

    fn allowed<'a>(&self, cards: &'a [Card]) -> Vec<&'a Card> {
        let mut seen = HashSet::new();
        let open =
            |card: &&Card| !self.inactive.iter().any(|splinter| same(splinter, &card.splinter)) && !self.bars(card);
        // Two copies of a card differ in the id of the copy but not in name.
        cards.iter().filter(open).filter(|card| seen.insert(card.name.to_lowercase())).collect()
    }

    fn bars(&self, card: &Card) -> bool {
        self.barred.iter().any(|barred| *barred == card.id || same(barred, &card.name))
    }
}

/// The cards that can be played. Their places are their numbers: `S1` is the first summoner, `M1` the first monster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options<'a> {
    /// The summoners.
    pub summoners: Vec<&'a Card>,
    /// The monsters.
    pub monsters: Vec<&'a Card>,
}

impl<'a> Options<'a> {
    /// The number that stands for an option: S<i> is i, M<i> is 1000 + i. None for an option that is not offered.
    pub fn id(&self, option: &str) -> Option<u32> {
        let place = |cards: &[&Card], digits: &str| {
            let place: u32 = digits.parse().ok().filter(|place: &u32| place.to_string() == digits)?;
            (1..=cards.len()).contains(&usize::try_from(place).ok()?).then_some(place)
        };
        match option.split_at_checked(1)? {
            ("S", digits) => place(&self.summoners, digits),
            ("M", digits) => Some(MONSTER_IDS + place(&self.monsters, digits)?),
            _ => None,
        }
    }

    /// The card behind a number of [`Options::id`].
    pub fn card(&self, id: u32) -> Option<&'a Card> {
        let (cards, place) = match id.checked_sub(MONSTER_IDS) {
            Some(place) => (&self.monsters, place),
            None => (&self.summoners, id),
        };
        cards.get(usize::try_from(place).ok()?.checked_sub(1)?).copied()
    }

    /// The options that are gladiators, as the prompt names them: `M3`.
    pub fn gladiators(&self) -> Vec<String> {
        let numbered = self.monsters.iter().zip(1..);
        numbered.filter(|(card, _)| card.gladiator).map(|(_, n): (_, u32)| format!("M{n}")).collect()
    }
}

fn can_be_led(card: &Card, summoners: &[&Card]) -> bool {
    summoners.iter().any(|summoner| {
        let colour = same(&card.splinter, NEUTRAL)
            || same(&card.splinter, &summoner.splinter)
            || same(&summoner.splinter, DRAGON);
        colour && (!card.gladiator || summoner.has_ability(CONSCRIPT))
    })
}

fn same(left: &str, right: &str) -> bool {
    left.to_lowercase() == right.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(name: &str, splinter: &str) -> Card {
        Card { id: format!("id-{name}"), name: name.to_owned(), splinter: splinter.to_owned(), ..Card::default() }
    }

    fn names(cards: &[&Card]) -> Vec<String> {
        cards.iter().map(|card| card.name.clone()).collect()
    }

    fn battle() -> Battle {
        Battle {
            summoners: vec![card("Zed", "Fire"), card("Ada", "Water")],
            monsters: vec![card("Imp", "Fire"), card("Crab", "Water"), card("Cat", "Neutral"), card("Ent", "Earth")],
            ..Battle::default()
        }
    }

    // KAI-118
    #[test]
    fn a_battle_allows_20_mana_and_6_monsters_unless_told_otherwise() {
        assert_eq!((Battle::default().mana_cap, Battle::default().max_monsters), (20, 6));
    }

    // KAI-117
    #[test]
    fn a_monster_that_no_summoner_can_lead_is_gone() {
        let battle = battle();
        assert_eq!(names(&battle.options().monsters), ["Imp", "Crab", "Cat"]);
    }

    // KAI-117
    #[test]
    fn an_inactive_splinter_takes_its_summoners_and_whom_only_they_could_lead() {
        let battle = Battle { inactive: vec!["fire".into()], ..battle() };
        let options = battle.options();
        assert_eq!(names(&options.summoners), ["Ada"]);
        assert_eq!(names(&options.monsters), ["Crab", "Cat"]);
    }

    // KAI-117
    #[test]
    fn barred_cards_are_gone_by_id_and_by_name() {
        let battle = Battle { barred: vec!["id-Imp".into(), "cat".into(), "id-Ada".into()], ..battle() };
        let options = battle.options();
        assert_eq!(names(&options.summoners), ["Zed"]);
        assert!(options.monsters.is_empty(), "{:?}", options.monsters);
    }

    // KAI-117
    #[test]
    fn a_second_copy_of_a_card_is_gone() {
        let mut battle = battle();
        battle.monsters.push(Card { id: "another copy".into(), ..card("Imp", "Fire") });
        assert_eq!(names(&battle.options().monsters), ["Imp", "Crab", "Cat"]);
    }

    // KAI-117
    #[test]
    fn gladiators_stay_only_under_a_summoner_with_conscript() {
        let mut battle = battle();
        battle.monsters.push(Card { gladiator: true, ..card("Gor", "Fire") });
        assert!(!names(&battle.options().monsters).contains(&"Gor".to_owned()));

        battle.summoners[1].abilities.push("Conscript".into());
        assert!(!names(&battle.options().monsters).contains(&"Gor".to_owned()), "Ada leads Water only");

        battle.summoners[0].abilities.push("conscript".into());
        let options = battle.options();
        assert_eq!(names(&options.monsters), ["Imp", "Crab", "Cat", "Gor"]);
        assert_eq!(options.gladiators(), ["M4"]);
    }

    // KAI-117
    #[test]
    fn a_dragon_summoner_can_lead_any_active_splinter() {
        let battle = Battle { summoners: vec![card("Wyrm", "Dragon")], inactive: vec!["Water".into()], ..battle() };
        assert_eq!(names(&battle.options().monsters), ["Imp", "Cat", "Ent"]);
    }

    // KAI-117
    #[test]
    fn without_a_summoner_no_monster_is_left() {
        let battle = Battle { summoners: Vec::new(), ..battle() };
        assert_eq!(battle.options(), Options::default());
    }

    // KAI-118
    #[test]
    fn options_have_numbers_that_lead_back_to_their_cards() {
        let battle = battle();
        let options = battle.options();
        assert_eq!(options.id("S2"), Some(2));
        assert_eq!(options.id("M3"), Some(1003));
        for unknown in ["", "S", "S0", "S3", "M4", "S01", "S-1", "S+1", "X1", "s1", "é1", "S99999999999"] {
            assert_eq!(options.id(unknown), None, "{unknown}");
        }
        assert_eq!(options.card(2).map(|card| card.name.as_str()), Some("Ada"));
        assert_eq!(options.card(1003).map(|card| card.name.as_str()), Some("Cat"));
        for unknown in [0, 3, 999, 1000, 1004, u32::MAX] {
            assert_eq!(options.card(unknown), None, "{unknown}");
        }
    }
}
