use limpid_core::reach::{ToolCard, search};
use limpid_model::ExactCounter;
use limpid_prompt::count::{Estimate, TokenCounter as _};
use limpid_prompt::inputs::{ModelInfo, Quoted, TrustName};
use limpid_prompt::{OfferedTool, Profiles, RenderRequest};
use serde_json::json;

use super::*;
use crate::tool_selection::sizes::newest_fitting;

fn tool(name: &str, group: &str) -> ToolInput {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "limit": { "type": "integer" } },
        "required": ["path"],
    });
    let serde_json::Value::Object(schema) = schema else { panic!() };
    ToolInput { name: name.to_owned(), group: group.to_owned(), schema: schema.into(), ..ToolInput::default() }
}

/// Nine servers with ten tools each, and the finder.
fn ninety() -> Inputs {
    let of_server = |server: u32| {
        (0..10).map(move |n| ToolInput {
            description: format!("Does piece of work number {n} on the machine behind server {server}."),
            ..tool(&format!("server{server}_tool{n}"), &format!("server{server}"))
        })
    };
    Inputs { tools: (0..9).flat_map(of_server).chain([FindTools::input(false)]).collect(), ..Inputs::default() }
}

/// Every tool that the `limpid` profile describes, and the finder.
fn described() -> Inputs {
    let profile = limpid();
    let groups = [
        ("memory", "memory"),
        ("learning", "memory"),
        ("task", "tasks"),
        ("email", "mail"),
        ("sms", "sms"),
        ("notification", "notifications"),
        ("goal", "goals"),
        ("checkpoint", "goals"),
        ("record", "goals"),
        ("skill", "skills"),
        ("file", "files"),
        ("dir", "files"),
        ("web", "web"),
        ("url", "web"),
        ("agent", "agents"),
        ("spawn", "agents"),
    ];
    let group = |name: &str| groups.iter().find(|(word, _)| name.contains(word)).map_or("system", |(_, group)| group);
    let names = limpid_prompt::profile::shipped_files();
    let names = names.iter().filter_map(|file| file.path.strip_prefix("limpid/tools/")?.strip_suffix(".md"));
    let path = profile.path("chat-remote").unwrap();
    let tools = names.filter(|name| *name != FIND_TOOLS && path.offers(name, false) && profile.tool(name).is_some());
    let tools = tools.map(|name| tool(name, group(name))).chain([FindTools::input(false)]);
    Inputs { tools: tools.collect(), ..Inputs::default() }
}

fn shipped(name: &str) -> std::sync::Arc<Profile> {
    std::sync::Arc::clone(Profiles::shipped().get(name).unwrap())
}

fn limpid() -> std::sync::Arc<Profile> {
    shipped("limpid")
}

fn settled(inputs: &Inputs, kept: Option<ToolSelection>, prefix_reset: bool) -> (Inputs, ToolSelection) {
    settled_after("", inputs, kept, prefix_reset)
}

fn settled_after(
    view_id: &str,
    inputs: &Inputs,
    kept: Option<ToolSelection>,
    prefix_reset: bool,
) -> (Inputs, ToolSelection) {
    let view_id = view_id.to_owned();
    let mut inputs = inputs.clone();
    let (profile, uses) = (limpid(), BTreeMap::new());
    let choice = Choice {
        profile: &profile,
        path: "chat-remote",
        defers: true,
        prefix_reset,
        view_id,
        kept,
        uses: &uses,
        asked: None,
    };
    let kept = select_tools(&mut inputs, &choice);
    (inputs, kept)
}

fn names(inputs: &Inputs, reach: ToolPlacement) -> Vec<&str> {
    inputs.tools.iter().filter(|tool| tool.reach == reach).map(|tool| tool.name.as_str()).collect()
}

/// The tools that came after the conversation began, looked for or not.
fn came(inputs: &Inputs) -> Vec<&str> {
    let came = inputs.tools.iter().filter(|tool| matches!(tool.reach, ToolPlacement::Added | ToolPlacement::Found));
    came.map(|tool| tool.name.as_str()).collect()
}

/// Exact tokens of the tools as OpenAI's form declares them.
fn declared_tokens(inputs: &Inputs) -> usize {
    let profile = limpid();
    let counter = Estimate::default();
    let request = RenderRequest { path: "chat-remote", inputs, counter: &counter, count_tokens: false };
    let prompt = profile.render(request).unwrap();
    let declared =
        prompt.tools().iter().map(|tool| format!(r#"{{"type":"function","function":{}}}"#, tool.declaration()));
    ExactCounter::O200K.count(&format!("[{}]", declared.collect::<Vec<_>>().join(",")))
}

// SEC-100
#[test]
fn what_the_finder_shows_is_public_where_no_server_of_the_owners_has_a_tool() {
    let is_public = |inputs: &Inputs| {
        let (inputs, _) = settled(inputs, None, true);
        FindTools::of_turn(&limpid(), "chat-remote", &inputs, Vec::new()).unwrap().is_public()
    };
    let mut inputs = ninety();
    assert!(is_public(&inputs));
    inputs.tools.iter_mut().take(1).for_each(|tool| tool.group.insert_str(0, "mcp-"));
    assert!(!is_public(&inputs));
}

// PRO-046 LES-012
#[test]
fn ninety_tools_cost_at_most_a_thousand_tokens_and_every_server_is_named() {
    for (window, most) in [(None, 1000), (Some(128_000), 1000), (Some(8192), 1000), (Some(4096), 522)] {
        let model = ModelInfo { window, ..ModelInfo::default() };
        let (inputs, _) = settled(&Inputs { model, ..ninety() }, None, true);
        let tokens = declared_tokens(&inputs);
        assert!(tokens <= most, "{tokens} tokens at a window of {window:?}");
        let list = inputs.more_tools.join("\n");
        assert!((0..9).all(|server| list.contains(&format!("server{server}"))), "{list}");
        assert_eq!(names(&inputs, ToolPlacement::Deferred).len() + names(&inputs, ToolPlacement::Declared).len(), 91);
    }
}

// PRO-046 OLLM-039
#[test]
fn every_tool_of_the_profile_fits_the_first_turn() {
    for mode in ["assistant", "developer", "planning", "debugger", "user"] {
        let inputs = Inputs { mode: mode.to_owned(), user: Some(Quoted::new("hi", TrustName::Owner)), ..described() };
        let (settled, _) = settled(&inputs, None, true);
        let tokens = declared_tokens(&settled);
        assert!(tokens <= 1000, "{mode}: {tokens} tokens");
        if mode == "assistant" || mode == "developer" {
            let lines = settled.more_tools.join("\n");
            insta::with_settings!({snapshot_suffix => mode}, {
                insta::assert_snapshot!(format!("{}\n\n{lines}", names(&settled, ToolPlacement::Declared).join("\n")));
            });
        }
    }
}

// OLLM-039 PRO-046
#[test]
fn small_tiers_send_at_most_ten_tools_with_a_line_a_group() {
    for window in [2048, 4096, 8192] {
        let model = ModelInfo { window: Some(window), ..ModelInfo::default() };
        let (mut inputs, kept) = settled(&Inputs { model, ..described() }, None, true);
        assert!(inputs.more_tools.len() <= 11, "{:?}", inputs.more_tools);
        let profile = limpid();
        let sizes = ToolSizes::of_path(&profile, "chat-remote", &inputs);
        let all: Vec<String> = names(&inputs, ToolPlacement::Deferred).into_iter().map(str::to_owned).collect();
        let room = sizes.room_beside(kept.core.iter().map(String::as_str));
        let found = newest_fitting(all, |name| sizes.tokens_of(name), room);
        assert!(!found.is_empty(), "there is room for what is found");
        place_found(&mut inputs.tools, &found);
        let sent = names(&inputs, ToolPlacement::Declared).len() + came(&inputs).len();
        assert!(sent <= 10, "{sent} tools");
        let tokens = declared_tokens(&inputs);
        assert!(tokens <= window as usize * 85 / 100 * 15 / 100, "{tokens} tokens of {window}");
    }
}

// OLLM-039
#[test]
fn what_becomes_available_later_leaves_the_list_its_room() {
    for window in [8192, 16_384] {
        let model = ModelInfo { window: Some(window), ..ModelInfo::default() };
        let mut inputs = Inputs { model, ..ninety() };
        let (_, kept) = settled(&inputs, None, true);
        let late =
            |n: u32| ToolInput { description: format!("Does late work {n}."), ..tool(&format!("late{n}"), "late") };
        inputs.tools.extend((0..60).map(late));
        let (after, _) = settled(&inputs, Some(kept), false);
        assert!(!came(&after).is_empty());
        assert!(
            !names(&after, ToolPlacement::Deferred).iter().all(|name| !name.starts_with("late")),
            "no room for all"
        );
        // By the numbers that the choice goes by, since exact ones are smaller than these by about a list.
        let sizes = ToolSizes::of_path(&limpid(), "chat-remote", &inputs);
        let sent = after
            .tools
            .iter()
            .filter(|tool| matches!(tool.reach, ToolPlacement::Declared | ToolPlacement::Added | ToolPlacement::Found));
        let tokens: usize = sent.map(|tool| sizes.tokens_of(&tool.name)).sum();
        let list = list::size(&after.more_tools);
        assert!(list > 0 && tokens + list <= sizes.room().tokens, "{tokens} and {list} of {}", sizes.room().tokens);
    }
}

// OLLM-039
#[test]
fn without_a_finder_what_has_no_room_is_left_out_and_reported() {
    let profile = shipped("kai");
    let model = ModelInfo { window: Some(4096), ..ModelInfo::default() };
    let mut inputs = Inputs { model, ..ninety() };
    let uses = BTreeMap::new();
    let choice = Choice {
        profile: &profile,
        path: "chat-remote",
        defers: false,
        prefix_reset: true,
        view_id: String::new(),
        kept: None,
        uses: &uses,
        asked: None,
    };
    select_tools(&mut inputs, &choice);
    let counter = Estimate::default();
    let request = RenderRequest { path: "chat-remote", inputs: &inputs, counter: &counter, count_tokens: false };
    let prompt = profile.render(request).unwrap();
    assert!((1..=10).contains(&prompt.tools().len()));
    let row = prompt.cuts().find(|row| row.section == "tools").unwrap();
    assert_eq!((row.kept, row.dropped), (Some(prompt.tools().len()), Some(90 - prompt.tools().len())));
    assert!(row.reason.as_ref().unwrap().contains("server8_tool9"));
}

// PRO-042 LES-022
#[test]
fn late_tools_stand_behind_the_others_and_a_compaction_begins_anew() {
    let mut inputs = described();
    let (first, kept) = settled(&inputs, None, true);
    inputs.tools.insert(0, tool("early_bird", "late"));
    let (second, kept) = settled(&inputs, Some(kept), false);
    assert_eq!(names(&first, ToolPlacement::Declared), names(&second, ToolPlacement::Declared));
    assert_eq!(came(&second), ["early_bird"]);
    assert_eq!(
        names(&second, ToolPlacement::Added),
        ["early_bird"],
        "nobody looked for it, so no result can declare it"
    );
    assert_eq!(first.more_tools, second.more_tools);
    let found = ToolSelection { found: vec!["early_bird".into(), "send_sms".into()], ..kept };
    let (third, kept) = settled(&inputs, Some(found.clone()), true);
    assert_eq!(came(&third), ["early_bird", "send_sms"], "a changed file forgets nothing");
    assert_eq!(kept.found, found.found);
    let (fourth, kept) = settled_after("compacted", &inputs, Some(kept), true);
    assert_eq!(came(&fourth), [""; 0]);
    let (fifth, _) = settled_after("compacted", &inputs, Some(kept), false);
    assert_eq!(fourth, fifth);
}

// PRO-046
#[test]
fn what_is_said_and_used_travels() {
    let declared = |said: &str, used: &[(&str, u64)]| -> Vec<String> {
        let mut inputs = Inputs { user: Some(Quoted::new(said, TrustName::Owner)), ..described() };
        let uses = used.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let profile = limpid();
        let choice = Choice {
            profile: &profile,
            path: "chat-remote",
            defers: true,
            prefix_reset: true,
            view_id: String::new(),
            kept: None,
            uses: &uses,
            asked: None,
        };
        select_tools(&mut inputs, &choice);
        names(&inputs, ToolPlacement::Declared).into_iter().map(str::to_owned).collect()
    };
    let has = |tools: &[String], name: &str| tools.iter().any(|tool| tool == name);
    assert!(!has(&declared("hi", &[]), "send_sms"));
    assert!(has(&declared("send an sms to Bob", &[]), "send_sms"));
    assert!(has(&declared("hi", &[("send_sms", 100)]), "send_sms"));
}

/// Requests as people make them, and the tool that does it.
const REQUESTS: &str = include_str!("tests/requests.txt");

// PRO-046
#[test]
fn nine_of_ten_requests_find_their_tool_at_the_first_search() {
    let inputs = described();
    let profile = limpid();
    let sizes = ToolSizes::of_path(&profile, "chat-remote", &inputs);
    let tools: Vec<&OfferedTool> = sizes.tools().iter().filter(|tool| tool.name() != FIND_TOOLS).collect();
    let cards: Vec<ToolCard<'_>> = tools.iter().map(|tool| sizes.card(tool, &profile, &BTreeMap::new())).collect();
    let mut missed = Vec::new();
    let requests: Vec<(&str, &str)> = REQUESTS.lines().filter_map(|line| line.split_once(": ")).collect();
    for (wanted, said) in &requests {
        let hits: Vec<&str> = search(&cards, said).into_iter().map(|at| cards[at].name).collect();
        if !hits.iter().any(|hit| wanted.split('|').any(|wanted| wanted == *hit)) {
            missed.push(format!("{said} ({wanted}): {}", hits.join(", ")));
        }
    }
    let found = requests.len() - missed.len();
    insta::assert_snapshot!(format!("{found} of {} found\n\n{}", requests.len(), missed.join("\n")));
    assert!(found * 10 >= requests.len() * 9);
}

// OLLM-039
#[test]
fn tools_have_a_share_of_the_window_that_is_really_used() {
    let room = |window, usable| {
        let model = ModelInfo { window: Some(window), usable_window: usable, ..ModelInfo::default() };
        ToolSizes::of_path(&limpid(), "chat-remote", &Inputs { model, ..Inputs::default() }).room().tokens
    };
    assert_eq!((room(10_000, Some(6000)), room(10_000, None)), (900, 1275));
}

/// The sizes of windows that count as small.
const SMALL: [u32; 3] = [4096, 8192, 16_384];

fn settled_asking(
    inputs: &Inputs,
    kept: Option<ToolSelection>,
    prefix_reset: bool,
    asked: Option<&str>,
) -> (Inputs, ToolSelection) {
    let mut inputs = inputs.clone();
    let (profile, uses, view_id) = (limpid(), BTreeMap::new(), String::new());
    let choice = Choice {
        profile: &profile,
        path: "chat-remote",
        defers: true,
        prefix_reset,
        view_id,
        kept,
        uses: &uses,
        asked,
    };
    let kept = select_tools(&mut inputs, &choice);
    (inputs, kept)
}

#[test]
fn a_tool_that_is_asked_for_travels_from_the_first_message_on_and_in_every_later_one() {
    for mode in ["assistant", "developer"] {
        for window in SMALL.map(Some).into_iter().chain([None]) {
            let model = ModelInfo { window, ..ModelInfo::default() };
            let said = "Set a goal: mark each step of the plan as done, and write the status to a file.".to_owned();
            let inputs =
                Inputs { mode: mode.to_owned(), model, user: Some(Quoted::new(said, TrustName::Owner)), ..described() };
            let asked = Some("create_goal");
            let (first, _) = settled_asking(&inputs, None, true, asked);
            assert!(names(&first, ToolPlacement::Declared).contains(&"create_goal"), "{mode} {window:?}");

            // Later, when it waits behind the finder, and when the tools of goals become available only then.
            let quiet = |tools: Vec<ToolInput>| Inputs {
                user: Some(Quoted::new("hi", TrustName::Owner)),
                tools,
                ..inputs.clone()
            };
            let without = inputs.tools.iter().filter(|tool| tool.group != "goals").cloned().collect();
            for before in [quiet(inputs.tools.clone()), quiet(without)] {
                let (_, kept) = settled_asking(&before, None, true, None);
                let (later, kept) = settled_asking(&inputs, Some(kept), false, asked);
                let travels = [names(&later, ToolPlacement::Declared), came(&later)].concat();
                assert!(travels.contains(&"create_goal"), "{mode} {window:?}: {travels:?}");
                let (after, _) = settled_asking(&inputs, Some(kept), false, None);
                assert_eq!(came(&after), came(&later), "it stays");
            }
        }
    }
}
