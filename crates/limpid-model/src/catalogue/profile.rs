//! What is known of a model by its name.

use limpid_core::{Price, ToolProtocol, UsableWindow, WindowSize};

use super::file::{CatalogueError, CatalogueFile, ModelEntry, PriceEntry};
use crate::abilities::Abilities;
use crate::model::{ModelCard, StateRule};

/// What is known of models: the owner's file before the shipped one.
#[derive(Clone, Debug)]
pub struct ModelProfiles {
    /// Entries of the files, the one that counts first in front.
    files: Vec<Vec<ModelEntry>>,
}

/// What is known of one model; absent is unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelProfile {
    /// The provider's name.
    pub provider: String,
    /// The model's name as the provider knows it.
    pub id: String,
    /// The window that it is sold with.
    pub window: Option<WindowSize>,
    /// Tokens that may really be used.
    pub usable_window: Option<UsableWindow>,
    /// How it calls tools.
    pub tools: Option<ToolProtocol>,
    /// Whether it reasons before it answers.
    pub thinking: Option<bool>,
    /// Whether it reads images.
    pub vision: Option<bool>,
    /// The family of its tokenizer.
    pub tokenizer: Option<String>,
    /// Randomness when a call sets none.
    pub temperature: Option<f32>,
    /// A chat template in place of the file's own.
    pub template: Option<String>,
    /// Whether its reasoning is taken back only behind exactly what it was made behind.
    pub reasoning_bound: Option<bool>,
    /// Whether a Chat Completions server wants the reasoning of messages with calls back.
    pub reasoning_back: Option<bool>,
    /// What it takes and refuses.
    pub abilities: Abilities,
    /// What it costs.
    pub price: Option<Price>,
    /// The day (`2025-08-07`) on which the price was right.
    pub price_as_of: Option<String>,
}

impl ModelProfiles {
    /// The shipped profiles, and before them those of the owner's `models.toml`: its name for errors, and its text.
    ///
    /// # Errors
    /// When a file cannot be read; says where and why.
    pub fn load(owner: Option<(&str, &str)>) -> Result<Self, CatalogueError> {
        Ok(Self { files: CatalogueFile::load(owner)?.into_iter().map(|file| file.models).collect() })
    }

    /// What is known of a model; capitals and small letters count as the same. Of a model that no entry names nothing is known.
    pub fn get(&self, provider: &str, id: &str) -> ModelProfile {
        let entries = self.entries(&format!("{provider}/{id}").to_lowercase());
        let mut profile = ModelProfile { provider: provider.to_owned(), id: id.to_owned(), ..ModelProfile::default() };
        for entry in &entries {
            profile.fill(entry);
        }
        let amount = |of: fn(&PriceEntry) -> Option<f64>| entries.iter().find_map(|entry| of(&entry.price));
        if let (Some(input), Some(output)) = (amount(|price| price.input), amount(|price| price.output)) {
            let cached = amount(|price| price.cached).unwrap_or(input);
            let cache_written = amount(|price| price.cache_written).unwrap_or(input);
            profile.price = Some(Price { input, cached, cache_written, output });
            profile.price_as_of = entries.iter().find_map(|entry| entry.price.as_of.clone());
        }
        profile
    }

    /// The entries that fit a name, the one that counts first in front.
    fn entries(&self, name: &str) -> Vec<&ModelEntry> {
        let by_file = self.files.iter().flat_map(|file| {
            let mut fitting: Vec<_> = file.iter().filter_map(|entry| Some((fit(entry, name)?, entry))).collect();
            fitting.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
            fitting
        });
        by_file.map(|(_, entry)| entry).collect()
    }
}

impl ModelProfile {
    /// The card of a remote model. What is unknown stays unknown; tools are taken to be native, which a server that has
    /// none answers with an error.
    pub fn card(&self) -> ModelCard {
        ModelCard {
            provider: self.provider.clone(),
            id: self.id.clone(),
            local: false,
            window: self.window,
            usable_window: self.usable_window.or_else(|| self.window.map(UsableWindow::default_for)),
            tools: self.tools.unwrap_or_default(),
            thinking: self.thinking.unwrap_or(false),
            vision: self.vision.unwrap_or(false),
            price: self.price,
            state: StateRule {
                bound: self.reasoning_bound,
                in_chat: self.reasoning_back.unwrap_or(false),
                ..StateRule::default()
            },
            abilities: self.abilities.clone(),
        }
    }

    /// What a person should be told is unknown: `window`, `price`.
    pub fn unknown(&self) -> Vec<&'static str> {
        let facts = [("window", self.window.is_some()), ("price", self.price.is_some())];
        facts.into_iter().filter(|(_, known)| !known).map(|(fact, _)| fact).collect()
    }

    /// Takes from an entry what no earlier one said.
    fn fill(&mut self, entry: &ModelEntry) {
        self.window = self.window.or(entry.window.map(WindowSize));
        self.usable_window = self.usable_window.or(entry.usable_window.map(UsableWindow));
        self.tools = self.tools.or(entry.tools);
        self.thinking = self.thinking.or(entry.thinking);
        self.vision = self.vision.or(entry.vision);
        self.reasoning_bound = self.reasoning_bound.or(entry.reasoning_bound);
        self.reasoning_back = self.reasoning_back.or(entry.reasoning_back);
        self.abilities.fill(entry);
        self.temperature = self.temperature.or(entry.temperature);
        self.tokenizer = self.tokenizer.take().or_else(|| entry.tokenizer.clone());
        self.template = self.template.take().or_else(|| entry.template.clone());
    }
}

impl Abilities {
    /// Takes from an entry what no earlier one said.
    fn fill(&mut self, entry: &ModelEntry) {
        self.max_output = self.max_output.or(entry.max_output);
        self.sampling = self.sampling.or(entry.sampling);
        self.forced_tools = self.forced_tools.or(entry.forced_tools);
        self.effort = self.effort.take().or_else(|| entry.effort.clone());
        self.effort_form = self.effort_form.or(entry.effort_form);
        self.own_effort = self.own_effort.or(entry.own_effort);
        self.cache_minimum = self.cache_minimum.or(entry.cache_minimum);
        self.retires = self.retires.take().or_else(|| entry.retires.clone());
        self.refuses = self.refuses.take().or_else(|| entry.refuses.clone());
    }
}

/// How many characters of the longest fitting name are not `*`; none when no name fits.
fn fit(entry: &ModelEntry, name: &str) -> Option<usize> {
    let fitting = entry.names.iter().filter(|pattern| fits(&pattern.to_lowercase(), name));
    fitting.map(|pattern| pattern.chars().filter(|c| *c != '*').count()).max()
}

/// Whether a name fits a pattern in which `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let tail = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = name.find(piece) else { return false };
        name = &name[at + piece.len()..];
    }
    name.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use limpid_core::Effort;
    use proptest::prelude::*;

    use super::*;
    use crate::abilities::{EffortForm, ForcedTools};
    use crate::remedy::Field;

    fn profiles(owner: &str) -> ModelProfiles {
        ModelProfiles::load(Some(("models.toml", owner))).unwrap()
    }

    // LES-016 LES-076
    #[test]
    fn of_an_unknown_model_nothing_is_known_and_that_is_said() {
        let profile = profiles("").get("openai", "made-up");
        assert_eq!((profile.window, profile.price, profile.tools), (None, None, None));
        assert_eq!(profile.unknown(), ["window", "price"]);
        let card = profile.card();
        assert_eq!((card.window, card.usable_window, card.price), (None, None, None));
        assert_eq!(card.name(), "openai/made-up");
    }

    #[test]
    fn a_known_model_has_its_window_and_its_price() {
        let profile = profiles("").get("anthropic", "claude-sonnet-4-5-20250929");
        assert_eq!(profile.window, Some(WindowSize(200_000)));
        assert_eq!(profile.card().usable_window, Some(UsableWindow(170_000)));
        assert_eq!(profile.price, Some(Price { input: 3.0, cached: 0.3, cache_written: 3.75, output: 15.0 }));
        assert_eq!(profile.price_as_of.as_deref(), Some("2025-09-29"));
        assert!(profile.unknown().is_empty());
        assert_eq!(profiles("").get("local", "SmolLM2-135M-Instruct.Q4_1").tools, Some(ToolProtocol::None));
        assert_eq!(profiles("").get("openai", "gpt-5-mini").price.map(|price| price.input), Some(0.25));
    }

    // OLLM-017
    #[test]
    fn the_usable_window_is_the_profiles_value_or_else_85_percent() {
        let owner = "[[model]]\nnames = [\"x/a\"]\nwindow = 8192\n[[model]]\nnames = [\"x/b\"]\nwindow = 8192\n\
            usable_window = 7000";
        assert_eq!(profiles(owner).get("x", "a").card().usable_window, Some(UsableWindow(6963)));
        assert_eq!(profiles(owner).get("x", "b").card().usable_window, Some(UsableWindow(7000)));
    }

    #[test]
    fn the_owners_fields_stand_before_the_shipped_ones_one_by_one() {
        let owner = "[[model]]\nnames = [\"openai/gpt-4o*\"]\nwindow = 64000\nprice = { output = 1.0 }";
        let profile = profiles(owner).get("openai", "gpt-4o");
        assert_eq!(profile.window, Some(WindowSize(64_000)));
        assert_eq!(profile.price, Some(Price { input: 2.5, cached: 1.25, cache_written: 2.5, output: 1.0 }));
        assert_eq!(profile.tokenizer.as_deref(), Some("o200k"));
    }

    #[test]
    fn the_longest_name_counts_first() {
        let owner = "[[model]]\nnames = [\"x/*\"]\nwindow = 1000\nvision = true\n[[model]]\nnames = [\"x/big*\"]\n\
            window = 2000";
        let profile = profiles(owner).get("x", "big-1");
        assert_eq!((profile.window, profile.vision), (Some(WindowSize(2000)), Some(true)));
    }

    // MOD-120
    #[test]
    fn what_a_model_takes_and_refuses_is_said_by_its_entries() {
        let owner = "[[model]]\nnames = [\"x/a\"]\nmax_output = 64_000\nsampling = false\nforced_tools = \"never\"\n\
            effort = [\"low\", \"high\"]\neffort_form = \"budget\"\nown_effort = \"low\"\n[[model]]\nnames = [\"x/*\"]\nsampling = true\ncache_minimum = 1024\n\
            retires = \"2027-05-01\"\nrefuses = [\"seed\", \"tool_choice\"]";
        let expected = Abilities {
            max_output: Some(64_000),
            sampling: Some(false),
            forced_tools: Some(ForcedTools::Never),
            effort: Some(vec![Effort::Low, Effort::High]),
            effort_form: Some(EffortForm::Budget),
            own_effort: Some(Effort::Low),
            cache_minimum: Some(1024),
            retires: Some("2027-05-01".to_owned()),
            refuses: Some(vec![Field::Seed, Field::ToolChoice]),
        };
        assert_eq!(profiles(owner).get("x", "a").card().abilities, expected);
    }

    #[test]
    fn a_wrong_file_is_refused_with_what_is_wrong() {
        let cases = [
            ("[[model]]\nnames = [\"x/y\"]\nwindw = 1", "unknown field `windw`"),
            ("[[model]]\nnames = [\"x/y\"]\ntools = \"maybe\"", "`maybe` is no way to call tools"),
            ("[[model]]\nnames = [\"x/y\"]\neffort = [\"huge\"]", "`huge` is not a level of effort"),
            ("[[model]]\nnames = [\"x/y\"]\nown_effort = \"huge\"", "`huge` is not a level of effort"),
            ("[[model]]\nnames = [\"x/y\"]\neffort_form = \"loud\"", "`loud` is no way to tell a model its effort"),
            ("[[model]]\nnames = [\"x/y\"]\nforced_tools = \"yes\"", "`yes` does not say when a tool can be forced"),
            ("[[model]]\nnames = [\"x/y\"]\nrefuses = [\"heat\"]", "`heat` is not a field that can be left out"),
            ("[[model]]\nnames = [\"gpt\"]", "`gpt` is no model's name"),
            ("[[model]]\nnames = [\"x/y\"]\nprice = { input = -1.0 }", "no amount of dollars"),
            ("[[model]]\nnames = [\"x/y\"]\nwindow = 10\nusable_window = 11", "larger than its window"),
        ];
        for (text, expected) in cases {
            let error = ModelProfiles::load(Some(("home/models.toml", text))).unwrap_err().to_string();
            assert!(error.starts_with("home/models.toml: ") && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, name, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/bc", false),
            ("a/*", "a/", true),
            ("a/*-x*z", "a/1-x2z", true),
            ("a/*-x*z", "a/1-xz1", false),
            ("*ab*ab", "xab", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    proptest! {
        // SEC-044
        #[test]
        fn any_file_gives_profiles_or_an_error(text in "(\\[\\[model\\]\\]|\\[\\[download\\]\\]|names = |\\PC|\n){0,30}") {
            let _ = ModelProfiles::load(Some(("models.toml", &text)));
        }
    }
}
