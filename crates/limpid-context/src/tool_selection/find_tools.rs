//! `find_tools`: finds tools that do not travel with the prompt, and has them travel from here on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::reach::FIND_TOOLS;
use limpid_core::reach::{Room, ToolCard, search};
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass};
use limpid_prompt::Profile;
use limpid_prompt::inputs::{Inputs, ToolInput, ToolPlacement};
use limpid_services::tools::{
    Concerned, Reservation, Tool, ToolContext, ToolFinder, echoed, is_of_server, read_arguments, schema_of,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::tool_selection::sizes::{ToolSizes, newest_fitting};

/// The group of tools that are about tools.
const GROUP: &str = "tools";

/// Finds tools by words. One belongs to one turn: it knows what the turn's prompt offers and what was found since.
pub struct FindTools {
    tools: Vec<Known>,
    room: Room,
    /// Whether calls can be reserved.
    reserves: bool,
    found: Mutex<Found>,
}

/// What was found so far.
struct Found {
    /// In the order in which prompts declare them.
    names: Vec<String>,
    /// Whether the conversation does not keep them yet.
    is_new: bool,
}

/// What is known of one tool of the path.
struct Known {
    name: String,
    group: String,
    description: String,
    words: Vec<String>,
    with: Vec<String>,
    arguments: String,
    tokens: usize,
    declared: bool,
}

impl Known {
    fn card(&self) -> ToolCard<'_> {
        ToolCard {
            name: &self.name,
            group: &self.group,
            description: &self.description,
            words: &self.words,
            uses: 0,
            tokens: self.tokens,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
}

/// The same where something can be sent.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WithReservations {
    query: String,
    #[serde(default)]
    reserve: Vec<Reservation>,
}

/// Characters of the words that tools are searched by.
const QUERY: usize = 1_000;

/// The argument that reserves calls.
const RESERVE: &str = "reserve";

/// What whoever is asked about a call that reserves something has to know of it.
const LETS_PASS: &str = "with a yes, what it reserves is done later in this turn without another question";

impl FindTools {
    /// The finder of a turn; none when its prompt does not declare it. `found` are the tools that were found before.
    pub fn of_turn(profile: &Profile, path: &str, inputs: &Inputs, found: Vec<String>) -> Option<Arc<dyn ToolFinder>> {
        let is_declared =
            |name: &str| inputs.tools.iter().any(|tool| tool.name == name && tool.reach == ToolPlacement::Declared);
        let sizes = ToolSizes::of_path(profile, path, inputs);
        if !is_declared(FIND_TOOLS) || !sizes.has(FIND_TOOLS) {
            return None;
        }
        let declared = sizes.tools().iter().map(limpid_prompt::OfferedTool::name).filter(|name| is_declared(name));
        let room = sizes.room_beside(declared);
        let known = |tool: &limpid_prompt::OfferedTool| {
            let input = inputs.tools.iter().find(|input| input.name == tool.name());
            let text = profile.tool(tool.name());
            Known {
                name: tool.name().to_owned(),
                group: tool.group().to_owned(),
                description: tool.description().to_owned(),
                words: text.map(|text| text.words.clone()).unwrap_or_default(),
                with: text.map(|text| text.with.clone()).unwrap_or_default(),
                arguments: input.map(ToolInput::arguments).unwrap_or_default(),
                tokens: sizes.tokens_of(tool.name()),
                declared: is_declared(tool.name()),
            }
        };
        let tools = sizes.tools().iter().filter(|tool| tool.name() != FIND_TOOLS).map(known).collect();
        let reserves = inputs.tools.iter().any(|tool| tool.name == FIND_TOOLS && reserves(tool));
        Some(Arc::new(Self { tools, room, reserves, found: Mutex::new(Found { names: found, is_new: false }) }))
    }

    /// The tool as prompts are made from it; `sends` says whether something can be sent.
    pub fn input(sends: bool) -> ToolInput {
        ToolInput {
            name: FIND_TOOLS.to_owned(),
            group: GROUP.to_owned(),
            schema: schema(sends).into(),
            ..ToolInput::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has tools travel, and says which had to make room.
    fn take(&self, before: &[String], hits: &[&Known]) -> (Vec<String>, Vec<String>) {
        let new: BTreeSet<&str> = hits.iter().filter(|hit| !hit.declared).map(|hit| hit.name.as_str()).collect();
        let kept = before.iter().filter(|name| !new.contains(name.as_str())).cloned();
        // The best hit is the last to go.
        let hits = hits.iter().rev().filter(|hit| !hit.declared).map(|hit| hit.name.clone());
        let is_known = new.iter().all(|name| before.iter().any(|before| before == name));
        let all: Vec<String> = if is_known { before.to_vec() } else { kept.chain(hits).collect() };
        let tokens = |name: &str| self.tools.iter().find(|tool| tool.name == name).map_or(0, |tool| tool.tokens);
        let fits = newest_fitting(all.clone(), tokens, self.room);
        let gone = all.into_iter().filter(|name| !fits.contains(name)).collect();
        (fits, gone)
    }

    /// The hits, each followed by the tools that its results are of no use without.
    fn with_companions<'k>(&'k self, hits: Vec<&'k Known>) -> Vec<&'k Known> {
        let mut all: Vec<&Known> = Vec::new();
        for hit in hits {
            let companions = self.tools.iter().filter(|tool| hit.with.contains(&tool.name));
            for tool in std::iter::once(hit).chain(companions) {
                if !all.iter().any(|known| known.name == tool.name) {
                    all.push(tool);
                }
            }
        }
        all
    }

    fn nothing_fits(&self) -> String {
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for tool in &self.tools {
            groups.entry(&tool.group).or_default().push(&tool.name);
        }
        let lines = groups.iter().map(|(group, names)| format!("\n{group}: {}", names.join(", ")));
        format!("nothing fits these words; there are:{}", lines.collect::<String>())
    }
}

#[async_trait]
impl Tool for FindTools {
    fn name(&self) -> &'static str {
        FIND_TOOLS
    }

    fn group(&self) -> &'static str {
        GROUP
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn schema(&self) -> Map<String, Value> {
        schema(self.reserves)
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn concerns(&self, arguments: &Value, _conversation: Option<&ConversationId>) -> Concerned {
        let reserves = arguments.get(RESERVE).and_then(Value::as_array).is_some_and(|calls| !calls.is_empty());
        if reserves { Concerned::Words(LETS_PASS.to_owned()) } else { Concerned::InArguments }
    }

    fn is_public(&self) -> bool {
        !self.tools.iter().any(|tool| is_of_server(&tool.group))
    }

    async fn run(&self, _: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        // What it reserves was kept before it ran.
        let WithReservations { query, reserve } = if self.reserves {
            read_arguments(arguments)?
        } else {
            let Arguments { query } = read_arguments(arguments)?;
            WithReservations { query, reserve: Vec::new() }
        };
        let query: String = query.chars().take(QUERY).collect();
        let kept = if reserve.is_empty() { String::new() } else { format!("reserved: {}\n", reserve.len()) };
        let cards: Vec<ToolCard<'_>> = self.tools.iter().map(Known::card).collect();
        let hits: Vec<&Known> = search(&cards, &query).into_iter().map(|at| &self.tools[at]).collect();
        let hits = self.with_companions(hits);
        if hits.is_empty() {
            return Ok(echoed(kept + &self.nothing_fits()));
        }
        let (now, gone) = {
            let mut found = self.lock();
            let (now, gone) = self.take(&found.names, &hits);
            if now != found.names {
                *found = Found { names: now.clone(), is_new: true };
            }
            (now, gone)
        };
        let here = |hit: &&&Known| hit.declared || now.contains(&hit.name);
        let line = |hit: &&Known| format!("{}({}): {}", hit.name, hit.arguments, hit.description);
        let mut lines: Vec<String> = hits.iter().filter(here).map(line).collect();
        if !gone.is_empty() {
            lines.push(format!("no room any more for: {}", gone.join(", ")));
        }
        Ok(echoed(kept + &lines.join("\n")))
    }
}

fn schema(reserves: bool) -> Map<String, Value> {
    if reserves { schema_of::<WithReservations>() } else { schema_of::<Arguments>() }
}

/// Whether the finder of these inputs can reserve calls.
pub(crate) fn reserves(finder: &ToolInput) -> bool {
    finder.schema.get("properties").is_some_and(|properties| !properties[RESERVE].is_null())
}

impl ToolFinder for FindTools {
    fn is_not_loaded(&self, name: &str) -> bool {
        let is_hidden = self.tools.iter().any(|tool| tool.name == name && !tool.declared);
        is_hidden && !self.lock().names.iter().any(|found| found == name)
    }

    fn found(&self) -> Vec<String> {
        self.lock().names.clone()
    }

    fn take_changes(&self) -> Option<Vec<String>> {
        let mut found = self.lock();
        std::mem::take(&mut found.is_new).then(|| found.names.clone())
    }
}
