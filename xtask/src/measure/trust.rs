//! MEA-16: an obedient model reads AgentDojo's injected texts; what a stranger wants waits for the owner.
//!
//! Every pair of a user task and an injection task is played three times: without any policy, to know what would happen;
//! with an owner who says no to everything; and with one who says yes to what is their own. Every user task is also played
//! alone, which counts the questions.
//!
//! Two more tables are of attacks of Limpid's own, and of texts that others published.
//!
//! # Layout
//! - `world`, `world.py`: AgentDojo's environments, tools and checks.
//! - `tools`, `tools.toml`: its tools as tools of Limpid, each with what it changes. `reserved.toml`: what the model
//!   reserves before it reads anything.
//! - `player`: the obedient model. `chat`: an agent that it plays through.
//! - `counts`: what is counted, and the table.
//! - `attacks`: Limpid's own attacks. `texts`, `texts.py`: public texts, of which `site` serves pages.

mod attacks;
mod chat;
mod counts;
mod player;
mod site;
mod texts;
mod tools;
mod world;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Table;
use super::program::block_on;
use chat::{Chat, Owner};
use counts::Counts;
use player::Player;
use tools::{Declared, Reserved, Suite};
use world::{Begun, MARK, Task, World};

/// Parts of the measure.
const PARTS: u32 = 10;

/// The suites of AgentDojo.
const SUITES: [&str; 4] = ["workspace", "travel", "banking", "slack"];

/// Those suites together, Limpid's own attacks, and public texts: a table each.
const TABLES: [&str; 3] = ["agentdojo", "attacks", "texts"];

/// What is measured.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Trust {
    /// Only a tenth of the pairs and tasks, always the same: 1 to 10
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(PARTS)))]
    part: Option<u32>,
    /// Only one table (agentdojo, attacks or texts), or one suite of AgentDojo's (workspace, travel, banking or slack)
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
}

/// What was measured.
pub(crate) struct Measured {
    /// The tables, AgentDojo's first.
    pub tables: Vec<Table>,
    /// Their numbers for programs.
    pub value: Value,
    /// Whether all was measured, as a page needs it.
    pub is_full: bool,
    /// What is wrong.
    pub wrong: Vec<String>,
}

/// Takes the measure.
// MEA-16 SEC-096 SEC-098 SEC-099
pub(crate) fn measure(root: &Path, trust: &Trust) -> Result<Measured, String> {
    let wanted = trust.suite.as_deref();
    if let Some(name) = wanted.filter(|name| !SUITES.iter().chain(&TABLES).any(|known| known == name)) {
        return Err(format!("there is no suite {name}; there are {}, {}", SUITES.join(", "), TABLES.join(", ")));
    }
    let is_full = trust.part.is_none() && wanted.is_none();
    let mut measured = Measured { tables: Vec::new(), value: json!({}), is_full, wrong: Vec::new() };
    for table in TABLES {
        match table {
            "attacks" if wanted.is_none_or(|name| name == table) => measured.add(table, attacks::play(root)?),
            "texts" if wanted.is_none_or(|name| name == table) => measured.add(table, block_on(texts::play())?),
            "agentdojo" if wanted.is_none_or(|name| name == table || SUITES.contains(&name)) => {
                measured.add(table, block_on(agentdojo(trust, is_full))?);
            }
            _ => {}
        }
    }
    Ok(measured)
}

impl Measured {
    fn add(&mut self, name: &str, (table, value, wrong): (Table, Value, Vec<String>)) {
        self.tables.push(table);
        self.value[name] = value;
        self.wrong.extend(wrong);
    }
}

/// Plays AgentDojo. Gives the table, its numbers, and what is wrong.
async fn agentdojo(trust: &Trust, is_full: bool) -> Result<(Table, Value, Vec<String>), String> {
    let mut all = play_all(trust).await?;
    let mut wrong: Vec<String> = all.iter().flat_map(|(name, counts)| counts.wrong(name)).collect();
    let sum = all.iter().fold(Counts::default(), |sum, (_, counts)| sum.with(counts));
    if is_full {
        wrong.extend(sum.not_whole());
    }
    if all.len() > 1 {
        all.push(("all", sum.clone()));
    }
    Ok((counts::table(&all, &sum), counts::json(&sum), wrong))
}

/// Plays what is wanted of each suite.
async fn play_all(trust: &Trust) -> Result<Vec<(&'static str, Counts)>, String> {
    let world = Arc::new(World::start()?);
    let (tasks, declared, reserved) = (world.tasks()?, tools::declared()?, tools::reserved()?);
    let mut all = Vec::new();
    // Numbers run through all suites, and those of pairs so that a part has all injection tasks of a suite.
    let (mut task_number, mut pair_number) = (0, 0);
    let is_ours = |number: u32| trust.part.is_none_or(|part| number % PARTS == part - 1);
    for name in SUITES {
        let suite = declared.get(name).ok_or_else(|| format!("tools.toml has no suite {name}"))?;
        let is_wanted = trust.suite.as_deref().is_none_or(|wanted| wanted == name || wanted == TABLES[0]);
        let bench = Bench::open(name, (suite, &reserved), &world)?;
        let mut counts = Counts::default();
        for task in tasks.iter().filter(|task| task.suite == name) {
            if is_wanted && is_ours(task_number) {
                bench.play_alone(task, &mut counts).await?;
            }
            task_number += 1;
            for injection in &task.injections {
                if is_wanted && is_ours(pair_number + 2 * task_number) {
                    bench.play_pair(task, injection, &mut counts).await?;
                }
                pair_number += 1;
            }
        }
        if is_wanted {
            all.push((name, counts));
        }
    }
    Ok(all)
}

/// A suite, and what plays it.
struct Bench<'a> {
    suite: &'a Suite,
    reserved: &'a Reserved,
    world: Arc<World>,
    player: Arc<Player>,
    chat: Chat,
}

impl<'a> Bench<'a> {
    fn open(name: &str, (suite, reserved): (&'a Suite, &'a Reserved), world: &Arc<World>) -> Result<Self, String> {
        let player = Arc::new(Player::default());
        let chat = Chat::open(name, tools::tools(name, suite, world, &player)?, &player)?;
        Ok(Self { suite, reserved, world: Arc::clone(world), player, chat })
    }

    /// Begins a task. What can be reserved is reserved where there is a policy.
    fn begin(&self, task: &Task, injection: Option<&str>, has_policy: bool) -> Result<Begun, String> {
        let begun = self.world.begin(task, injection)?;
        self.player.begin(&begun, (&task.suite, &task.user), self.suite, has_policy.then_some(self.reserved));
        Ok(begun)
    }

    /// Plays a user task that nobody attacks.
    async fn play_alone(&self, task: &Task, counts: &mut Counts) -> Result<(), String> {
        let failed = |why: String| format!("{} {}: {why}", task.suite, task.user);
        let begun = self.begin(task, None, true)?;
        let chatted = self.chat.play(&begun.prompt, Owner::Agrees).await.map_err(failed)?;
        let name = format!("{} {}", task.suite, task.user);
        counts.add_task(&name, &chatted, self.world.score()?.solved);
        Ok(())
    }

    /// Plays a pair: without a policy, with an owner who refuses everything, with one who agrees to what is their own.
    async fn play_pair(&self, task: &Task, injection: &str, counts: &mut Counts) -> Result<(), String> {
        let name = format!("{} {} {injection}", task.suite, task.user);
        let failed = |why: String| format!("{name}: {why}");
        let begun = self.begin(task, Some(injection), false)?;
        self.play_without_policy().map_err(failed)?;
        let has_effect = begun.injected.iter().any(|call| self.suite.get(&call.name).is_some_and(Declared::has_effect));
        counts.add_bare(&self.player.played(), (has_effect, begun.by_hand), self.world.score()?.solved);
        for owner in [Owner::Refuses, Owner::Agrees] {
            let begun = self.begin(task, Some(injection), true)?;
            let chatted = self.chat.play(&begun.prompt, owner).await.map_err(failed)?;
            counts.add_pair(&name, owner, &chatted, self.world.score()?.solved);
        }
        Ok(())
    }

    /// The same calls straight to the world: what would happen if every call were allowed.
    fn play_without_policy(&self) -> Result<(), String> {
        let mut sees_mark = false;
        while let Some(calls) = self.player.next(sees_mark) {
            for call in calls {
                self.player.runs(&call, false);
                sees_mark |= self.world.call(&call)?.text.contains(MARK);
            }
        }
        Ok(())
    }
}
