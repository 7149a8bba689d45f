//! What is known of a model by its name.

use limpid_core::{Price, PriceTier, Rates, ToolProtocol, UsableWindow, WindowSize};

use super::entry::{ModelEntry, PriceEntry, TierEntry};
use super::family::{Family, Taken};
use super::file::{CatalogueError, CatalogueFile};
use super::pattern::fit;
use super::table::Table;
use crate::abilities::{Abilities, Input};
use crate::model::{ModelCard, StateRule};

/// What is known of models: the owner's file, then what the provider says, then a table that was fetched, then what is
/// shipped.
#[derive(Clone, Debug)]
pub struct ModelProfiles {
    /// Entries of the owner's file.
    own: Vec<ModelEntry>,
    /// What the provider says itself.
    reported: Option<Table>,
    /// A table that was fetched.
    fetched: Option<Table>,
    /// Entries of the shipped file.
    shipped: Vec<ModelEntry>,
    /// The shipped table.
    table: Table,
    /// Families, the owner's in front.
    families: Vec<Family>,
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
    /// Where the price is from.
    pub price_source: Option<String>,
    /// The model (`provider/id`) whose abilities it is taken to have, because nobody has said anything of it.
    pub assumed: Option<String>,
}

impl ModelProfiles {
    /// The shipped profiles, and before them those of the owner's `models.toml`: its name for errors, and its text.
    ///
    /// # Errors
    /// When a file cannot be read; says where and why.
    pub fn load(owner: Option<(&str, &str)>) -> Result<Self, CatalogueError> {
        let mut files = CatalogueFile::load(owner)?;
        let shipped = files.pop().unwrap_or_default();
        let own = files.pop().unwrap_or_default();
        let families = own.families.into_iter().chain(shipped.families).collect();
        Ok(Self {
            own: own.models,
            reported: None,
            fetched: None,
            shipped: shipped.models,
            table: Table::shipped(),
            families,
        })
    }

    /// The same with a table that counts before what is shipped.
    #[must_use]
    pub fn with_fetched(self, table: Table) -> Self {
        Self { fetched: Some(table), ..self }
    }

    /// The same with what the provider itself says, which counts before every table.
    #[must_use]
    pub fn with_reported(self, table: Table) -> Self {
        Self { reported: Some(table), ..self }
    }

    /// What is known of a model; capitals and small letters count as the same. A model that is in no table is taken to be
    /// like its family, but for its price; of one without a family nothing is known.
    pub fn get(&self, provider: &str, id: &str) -> ModelProfile {
        let name = format!("{provider}/{id}").to_lowercase();
        let listed = self.listed(&name);
        let mut entries = self.entries(&name);
        let mut profile = ModelProfile { provider: provider.to_owned(), id: id.to_owned(), ..ModelProfile::default() };
        profile.set_price(&entries);
        if !listed && let Some(taken) = Family::take(&self.families, &name) {
            let (names, newer) = match taken {
                Taken::Same(names) => (names, None),
                Taken::Newer(like) => (vec![like.to_lowercase()], Some(like)),
            };
            if let Some(like) = names.iter().find(|name| self.listed(name)) {
                let is_own = newer.is_some();
                profile.assumed = newer;
                let alike = self.entries(like).into_iter();
                // What a provider wants of its callers, and until when it serves a model, is its own affair.
                entries.extend(alike.map(|entry| ModelEntry {
                    reasoning_back: None,
                    strict_tools: None,
                    tool_search: entry.tool_search.filter(|_| is_own),
                    retires: None,
                    ..entry
                }));
            }
        }
        for entry in &entries {
            profile.fill(entry);
        }
        profile
    }

    /// Whether a table names a model.
    fn listed(&self, name: &str) -> bool {
        self.fetched.iter().chain([&self.table]).any(|table| table.names(name))
    }

    /// What is said of a name, in the order in which it counts. A row of a table that cannot be read says nothing.
    fn entries(&self, name: &str) -> Vec<ModelEntry> {
        let mut entries = fitting(&self.own, name);
        entries.extend(self.reported.as_ref().and_then(|table| table.get(name)));
        entries.extend(self.fetched.as_ref().and_then(|table| table.get(name)));
        entries.extend(fitting(&self.shipped, name));
        entries.extend(self.table.get(name));
        entries
    }
}

/// The entries of a file that fit a name, the longest fitting name first.
fn fitting(file: &[ModelEntry], name: &str) -> Vec<ModelEntry> {
    let longest = |entry: &ModelEntry| entry.names.iter().filter_map(|named| fit(&named.to_lowercase(), name)).max();
    let mut fitting: Vec<_> = file.iter().filter_map(|entry| Some((longest(entry)?, entry))).collect();
    fitting.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    fitting.into_iter().map(|(_, entry)| entry.clone()).collect()
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
            usable_window: self.usable(),
            tools: self.tools.unwrap_or_default(),
            thinking: self.thinking.unwrap_or(false),
            vision: self.reads(Input::Image).or(self.vision).unwrap_or(false),
            price: self.price.clone(),
            state: StateRule {
                bound: self.reasoning_bound,
                in_chat: self.reasoning_back.unwrap_or(false),
                ..StateRule::default()
            },
            abilities: self.abilities.clone(),
            assumed: self.assumed.clone(),
        }
    }

    /// What may really be used. What one table says of it must fit the window that another one says.
    fn usable(&self) -> Option<UsableWindow> {
        let fits = |usable: &UsableWindow| self.window.is_none_or(|window| usable.0 <= window.0);
        self.usable_window.filter(fits).or_else(|| self.window.map(UsableWindow::default_for))
    }

    /// What a person should be told is unknown: `window`, `price`.
    pub fn unknown(&self) -> Vec<&'static str> {
        let facts = [("window", self.window.is_some()), ("price", self.price.is_some())];
        facts.into_iter().filter(|(_, known)| !known).map(|(fact, _)| fact).collect()
    }

    /// Whether it reads a kind of input, as far as its inputs are known.
    fn reads(&self, input: Input) -> Option<bool> {
        self.abilities.inputs.as_ref().map(|inputs| inputs.contains(&input))
    }

    /// Takes the price from the entries, amount by amount; what is dearer for long prompts from the one that says what input
    /// costs.
    fn set_price(&mut self, entries: &[ModelEntry]) {
        let amount = |of: fn(&PriceEntry) -> Option<f64>| entries.iter().find_map(|entry| of(&entry.price));
        let (Some(input), Some(output)) = (amount(|price| price.input), amount(|price| price.output)) else { return };
        let cache_written = amount(|price| price.cache_written).unwrap_or(input);
        let base = Rates {
            input,
            cached: amount(|price| price.cached).unwrap_or(input),
            cache_written,
            cache_written_hour: amount(|price| price.cache_written_hour).unwrap_or(cache_written),
            audio: amount(|price| price.audio).unwrap_or(input),
            output,
            reasoning: amount(|price| price.reasoning).unwrap_or(output),
        };
        let says = entries.iter().find(|entry| entry.price.input.is_some());
        let mut tiers: Vec<PriceTier> =
            says.iter().flat_map(|entry| &entry.price.tiers).map(|tier| tier.over(base)).collect();
        tiers.sort_by_key(|tier| tier.above);
        self.price = Some(Price { base, tiers });
        self.price_as_of = entries.iter().find_map(|entry| entry.price.as_of.clone());
        self.price_source = says.and_then(|entry| entry.source.clone());
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

impl TierEntry {
    /// The tier: what it does not say is as for short prompts.
    fn over(&self, base: Rates) -> PriceTier {
        let (input, output) = (self.input.unwrap_or(base.input), self.output.unwrap_or(base.output));
        let or = |said: Option<f64>, base: f64, of: f64, now: f64| said.unwrap_or(if base == of { now } else { base });
        let rates = Rates {
            input,
            cached: or(self.cached, base.cached, base.input, input),
            cache_written: or(self.cache_written, base.cache_written, base.input, input),
            cache_written_hour: or(self.cache_written_hour, base.cache_written_hour, base.input, input),
            audio: or(self.audio, base.audio, base.input, input),
            output,
            reasoning: or(self.reasoning, base.reasoning, base.output, output),
        };
        PriceTier { above: self.above, rates }
    }
}

impl Abilities {
    /// Takes from an entry what no earlier one said.
    fn fill(&mut self, entry: &ModelEntry) {
        self.max_output = self.max_output.or(entry.max_output);
        self.sampling = self.sampling.or(entry.sampling);
        self.forced_tools = self.forced_tools.or(entry.forced_tools);
        self.strict_tools = self.strict_tools.or(entry.strict_tools);
        self.tools_unreasoned = self.tools_unreasoned.or(entry.tools_unreasoned);
        self.tool_search = self.tool_search.or(entry.tool_search);
        self.opens_reasoning = self.opens_reasoning.or(entry.opens_reasoning);
        self.effort = self.effort.take().or_else(|| entry.effort.clone());
        self.effort_form = self.effort_form.or(entry.effort_form);
        self.own_effort = self.own_effort.or(entry.own_effort);
        self.effort_default = self.effort_default.or(entry.effort_default);
        self.thinking_budget = self.thinking_budget.or(entry.thinking_budget);
        self.inputs = self.inputs.take().or_else(|| entry.inputs.clone());
        self.cache_breakpoints = self.cache_breakpoints.or(entry.cache_breakpoints);
        self.cache_minimum = self.cache_minimum.or(entry.cache_minimum);
        self.retires = self.retires.take().or_else(|| entry.retires.clone());
        self.refuses = self.refuses.take().or_else(|| entry.refuses.clone());
    }
}

#[cfg(test)]
mod tests;
