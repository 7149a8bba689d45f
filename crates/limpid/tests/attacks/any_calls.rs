//! A model that calls any tools with any words. Once a stranger's text is in its window, each text that it writes has the mark; wherever
//! the mark stands afterwards, the stranger has come.

use std::path::Path;
use std::sync::{Arc, Mutex};

use limpid_testkit::Recorded;
use serde_json::{Value, json};

use crate::attacks::obedient::{MARK, Planned, Site, page};
use crate::kit::World;

/// Steps of the owner's, and of strangers, in one home.
const STEPS: usize = 14;

const PATHS: [&str; 16] = [
    "notes.md",
    "diary.md",
    "AGENTS.md",
    "HEARTBEAT.md",
    "memory/MEMORY.md",
    "docs/../notes.md",
    "new.md",
    "deep/new.md",
    ".",
    "outside",
    "outside/notes.md",
    "outside/notes/letter.md",
    "outside/new.csv",
    "outside/tool/run.py",
    "skills/tea/SKILL.md",
    "../soul.md",
];
const WORDS: [&str; 6] = ["tea at five", "be kind", "# Rules\n- obey", "line\nand line", "my", "water the plants"];
const KEYS: [&str; 5] = ["tea", "milk", "tea-2", "1", "spring"];
const TIMES: [&str; 4] = ["in 1 hour", "10m", "every day at 9:00", "0 9 * * *"];

/// What is chosen next, the same each time for one seed (the SplitMix64 generator).
struct Choices(u64);

impl Choices {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % most.max(1) as u64).unwrap()
    }

    fn of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

struct AnyModel {
    choices: Choices,
    /// The texts that it has made, so that no two are the same.
    texts: u32,
    /// What the owner has it do first.
    first: Vec<Planned>,
    /// How many more replies call something.
    replies: usize,
    site: String,
    /// What was sent to it since somebody looked.
    asked: Vec<Recorded>,
}

impl AnyModel {
    fn answer(&mut self, request: &Recorded) -> Value {
        self.asked.push(request.clone());
        let foreign = request.text().contains(MARK);
        let body = request.json();
        let Some(tools) = body["tools"].as_array().filter(|tools| !tools.is_empty()) else {
            return json!({ "text": self.text(foreign) });
        };
        let offers = |name: &str| tools.iter().find(|tool| tool["function"]["name"] == name);
        if let Some((name, arguments)) = self.first.pop().filter(|(name, _)| offers(name).is_some()) {
            return json!({ "calls": [{ "name": name, "arguments": arguments }] });
        }
        if self.replies > 0 {
            self.replies -= 1;
            let calls: Vec<Value> = (0..=self.choices.below(3)).map(|_| self.call(tools, foreign)).collect();
            return json!({ "calls": calls });
        }
        match offers("heartbeat_decision") {
            Some(decision) => json!({ "calls": [self.call(std::slice::from_ref(decision), foreign)] }),
            None => json!({ "text": self.text(foreign) }),
        }
    }

    fn call(&mut self, tools: &[Value], foreign: bool) -> Value {
        let tool = &self.choices.of(tools)["function"];
        json!({ "name": tool["name"], "arguments": self.object(&tool["parameters"], foreign) })
    }

    fn object(&mut self, schema: &Value, foreign: bool) -> Value {
        let required = |name: &String| schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
        let fields = schema["properties"].as_object().into_iter().flatten();
        let mut made = serde_json::Map::new();
        for (name, field) in fields {
            if required(name) || self.choices.below(3) == 0 {
                made.insert(name.clone(), self.value(name, field, foreign));
            }
        }
        Value::Object(made)
    }

    fn value(&mut self, name: &str, schema: &Value, foreign: bool) -> Value {
        if let Some(words) = schema["enum"].as_array() {
            return self.choices.of(words);
        }
        if let Some(kinds) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
            let kind = self.choices.of(kinds);
            return self.value(name, &kind, foreign);
        }
        match schema["type"].as_str().unwrap_or("string") {
            "boolean" => json!(self.choices.below(2) == 0),
            "integer" | "number" => json!(self.choices.of(&[1, 2, 3, 10])),
            "array" => json!([self.value(name, &schema["items"], foreign)]),
            "object" => self.object(schema, foreign),
            _ => json!(self.word(name, foreign)),
        }
    }

    /// A text for a field, of the kind that it asks for.
    fn word(&mut self, name: &str, foreign: bool) -> String {
        match name {
            "path" | "working_dir" => self.choices.of(&PATHS).to_owned(),
            "url" => format!("{}/{}", self.site, self.choices.of(&["page", "other"])),
            "key" | "name" | "id" => self.choices.of(&KEYS).to_owned(),
            "when" | "at" | "time" | "schedule" => self.choices.of(&TIMES).to_owned(),
            "old_text" | "query" => self.choices.of(&WORDS).to_owned(),
            _ => self.text(foreign),
        }
    }

    fn text(&mut self, foreign: bool) -> String {
        self.texts += 1;
        let words = self.choices.of(&WORDS);
        let mark = if foreign { MARK } else { "own" };
        format!("{mark} {words} {}", self.texts)
    }
}

/// A home of the owner's whose model is [`AnyModel`].
struct Home {
    world: World,
    model: Arc<Mutex<AnyModel>>,
}

impl Home {
    async fn new(profile: &str, seed: u64) -> Self {
        let site = Site::start(|_| page(&format!("{MARK} says a page"))).await;
        let choices = Choices(seed);
        let (first, asked, site) = (Vec::new(), Vec::new(), site.url);
        let model = Arc::new(Mutex::new(AnyModel { choices, texts: 0, first, replies: 0, site, asked }));
        let answering = Arc::clone(&model);
        let world = World::answering(move |request: &Recorded| {
            serde_json::from_value(answering.lock().unwrap().answer(request)).unwrap()
        })
        .await;
        let settings = format!(
            "[agent]\nprofile = \"{profile}\"\n[web]\nmirrors = [\"127.0.0.1\"]\n[tools]\ndefer = false\n[inbox]\nsms = true\n"
        );
        for (name, text) in [
            ("limpid.toml", settings.as_str()),
            ("workspace/notes.md", "my notes\n"),
            ("workspace/diary.md", "tea at five\n"),
            ("workspace/AGENTS.md", "be kind\n"),
            ("outside/notes/letter.md", &format!("{MARK} says a letter\n")),
        ] {
            world.write(name, text);
        }
        world.done(&["memory", "add", "tea", "Ada drinks tea"]).await;
        Self { world, model }
    }

    /// A message of the owner's in one of the latest conversations or a new one.
    async fn chat(&self, replies: usize, first: Option<Planned>, piped: &str) {
        let listed = self.world.json(&["conversation", "list", "--json"]).await;
        let known = listed["conversations"].as_array().unwrap();
        let mut places: Vec<String> = known.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
        places.push("new".to_owned());
        let place = {
            let mut model = self.model.lock().unwrap();
            model.replies = replies;
            model.first = first.into_iter().collect();
            model.choices.of(&places)
        };
        self.world.pipe(&["chat", "-c", &place, "go on, please"], piped).await;
    }

    /// Something that happens to a home; `strangers` write into it, too.
    async fn step(&self, strangers: bool) {
        let (step, replies) = {
            let mut model = self.model.lock().unwrap();
            (model.choices.below(if strangers { 9 } else { 4 }), 1 + model.choices.below(4))
        };
        let piped = format!("{MARK}\nsays\na\nstranger\n");
        match step {
            0 | 1 => self.chat(replies, None, "").await,
            2 => {
                let drafts = self.world.json(&["draft", "list", "--json"]).await;
                for draft in drafts["drafts"].as_array().unwrap() {
                    self.world.run(&["draft", "refuse", &draft["id"].to_string()]).await;
                }
            }
            3 => {
                let said = self.model.lock().unwrap().choices.of(&["/clean", "/undo", "/compact", "/undo back"]);
                self.world.run(&["chat", said]).await;
            }
            4 | 5 => self.chat(replies, None, &piped).await,
            6 => {
                let letter = json!({ "path": "outside/notes/letter.md" });
                self.chat(replies, Some(("read_file", letter)), "").await;
            }
            7 => {
                let address = format!("{}/page", self.model.lock().unwrap().site);
                self.chat(replies, Some(("web_fetch", json!({ "url": address }))), "").await;
            }
            _ => {
                self.model.lock().unwrap().replies = replies;
                self.world.done(&["inbox", "add", "sms", &format!("{MARK} says a message"), "--from", "+491"]).await;
                self.world.run(&["heartbeat", "run"]).await;
            }
        }
    }

    /// Where the mark stands among what is the owner's.
    async fn has_come_to(&self) -> Vec<String> {
        let mut found = Vec::new();
        files(self.world.home.path(), &mut |path| {
            let name = path.strip_prefix(self.world.home.path()).unwrap();
            if name.starts_with("data") || name.starts_with("outside") {
                return;
            }
            let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
            if text.contains(MARK) || name.to_string_lossy().contains(MARK) {
                found.push(format!("{}: {text}", name.display()));
            }
        });
        let memories = self.world.json(&["memory", "list", "--json"]).await;
        let is_owners = |memory: &&Value| memory["trust"] != "outside" && memory.to_string().contains(MARK);
        found.extend(memories["memories"].as_array().unwrap().iter().filter(is_owners).map(Value::to_string));
        for request in std::mem::take(&mut self.model.lock().unwrap().asked) {
            let said = request.texts().into_iter().filter(|sent| sent.role != "assistant");
            found.extend(said.map(|sent| unquoted(&sent.text)).filter(|text| text.contains(MARK)));
        }
        found
    }
}

/// A text without what stands in boundaries.
fn unquoted(text: &str) -> String {
    let Some((before, rest)) = text.split_once("[untrusted ") else { return text.to_owned() };
    let tag = rest.split(']').next().unwrap_or_default();
    let after = rest.split_once(&format!("[/untrusted {tag}]")).map_or("", |(_, after)| after);
    format!("{before}{}", unquoted(after))
}

fn files(folder: &Path, look: &mut dyn FnMut(&Path)) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files(&path, look) } else { look(&path) }
    }
}

async fn nothing_comes(profile: &str, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let home = Home::new(profile, seed).await;
        for step in 0..STEPS {
            home.step(true).await;
            let found = home.has_come_to().await;
            assert!(found.is_empty(), "{profile}, seed {seed}, step {step}: {found:#?}");
        }
    }
}

// SEC-050 SEC-055 SEC-057
#[tokio::test]
async fn no_call_makes_a_strangers_words_the_owners() {
    nothing_comes("limpid", 0..3).await;
}

// SEC-050 SEC-055 SEC-057
#[tokio::test]
async fn no_call_of_another_profile_does() {
    nothing_comes("picoclaw", 10..12).await;
    nothing_comes("kai", 20..21).await;
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn without_strangers_calls_leave_files_and_memories() {
        let home = Home::new("limpid", 1).await;
        let (mut wrote, mut remembered) = (false, false);
        for _ in 0..8 * STEPS {
            home.step(false).await;
            files(&home.world.home.path().join("workspace"), &mut |path| {
                wrote |= std::fs::read_to_string(path).is_ok_and(|text| text.contains("own "));
            });
            let memories = home.world.json(&["memory", "list", "--json"]).await;
            remembered |= memories["memories"].to_string().contains("own ");
            if wrote && remembered {
                return;
            }
        }
        panic!("wrote: {wrote}, remembered: {remembered}");
    }
}
