//! The tiered profile: order, golden goal block, caps by exact counts, and what a budget cuts.

use std::collections::BTreeSet;

use crate::kit::{exact, included, part, profile, render, render_with, sections, system, tools, user};
use limpid_core::Tier;
use limpid_prompt::inputs::{
    ActiveSkill, ArtifactAction, ArtifactInput, CheckpointInput, CheckpointStatus, DecisionInput, DelegateInput,
    Digest, GoalInput, GoalStatus, HistoryMessage, Inputs, ModelInfo, Priority, Quoted, RoleName, SkillsInput,
    SummarizeInput, TrustName,
};
use limpid_prompt::profile::Step;
use limpid_prompt::{Outcome, Prompt};

const MODES: [&str; 5] = ["assistant", "developer", "planning", "debugger", "user"];

fn ollm(path: &str, inputs: &Inputs) -> Prompt {
    render("ollm", path, inputs)
}

/// A conversation in a mode and tier, with tools.
fn talk(mode: &str, tier: u8) -> Inputs {
    Inputs {
        mode: mode.to_owned(),
        tier: Some(tier),
        tools: tools(&["read_file", "exec", "web_fetch", "update_checkpoint"]),
        user: Some(Quoted::new("hi", TrustName::Owner)),
        ..Inputs::default()
    }
}

fn step(description: &str, status: CheckpointStatus) -> CheckpointInput {
    CheckpointInput { description: description.to_owned(), status, ..CheckpointInput::default() }
}

fn decision(description: &str, locked: bool) -> DecisionInput {
    DecisionInput { description: description.to_owned(), locked, ..DecisionInput::default() }
}

fn artifact(path: &str, action: ArtifactAction) -> ArtifactInput {
    ArtifactInput { path: path.to_owned(), action, ..ArtifactInput::default() }
}

/// The goal of the seed's example.
fn login() -> GoalInput {
    GoalInput {
        id: "g1".to_owned(),
        description: "Implement user authentication system".to_owned(),
        priority: Priority::High,
        status: GoalStatus::Active,
        checkpoints: vec![
            step("Design authentication flow", CheckpointStatus::Completed),
            step("Add JWT token generation", CheckpointStatus::InProgress),
            step("Add password hashing", CheckpointStatus::Pending),
        ],
        decisions: vec![
            decision("Use JWT for authentication", true),
            decision("Use bcrypt for password hashing", false),
        ],
        artifacts: vec![
            artifact("src/auth/login.ts", ArtifactAction::Created),
            artifact("src/routes/api.ts", ArtifactAction::Modified),
        ],
        ..GoalInput::by(TrustName::Owner)
    }
}

const LOGIN: &str = "[Active Goal]
CURRENT GOAL: Implement user authentication system
Priority: High
Status: Active

Checkpoints:
✅ 1. Design authentication flow
🔄 2. Add JWT token generation (IN PROGRESS)
⏳ 3. Add password hashing

Key Decisions:
🔒 Use JWT for authentication (locked)
- Use bcrypt for password hashing

Artifacts:
- Created: src/auth/login.ts
- Modified: src/routes/api.ts";

fn skill(name: &str, body: &str) -> ActiveSkill {
    ActiveSkill { name: name.to_owned(), body: body.to_owned(), ..ActiveSkill::by(TrustName::Owner) }
}

fn everything() -> Inputs {
    Inputs {
        goal: Some(login()),
        skills: SkillsInput {
            active: vec![skill("b", "Read the diff."), skill("a", "Sign it.")],
            ..SkillsInput::default()
        },
        additional_instructions: "Use metric units.".to_owned(),
        ..talk("assistant", 3)
    }
}

/// The first lines that can only be a mode's own template.
fn template(mode: &str, tier: u8) -> String {
    crate::kit::shipped_file(&format!("ollm/modes/{mode}/tier{tier}.md"))
}

// OLLM-002 OLLM-003 OLLM-005 OLLM-129
#[test]
fn the_system_text_has_the_order_and_the_goal_block_of_the_golden() {
    let prompt = ollm("chat-remote", &everything());
    let order = [
        "identity",
        "mode",
        "core-mandates",
        "goal",
        "active-skills",
        "sanity-reality-check",
        "additional-instructions",
        "user-message",
    ];
    assert_eq!(sections(&prompt), order);
    assert_eq!(part(&prompt, "goal"), LOGIN);
    let texts: Vec<String> = order[..7].iter().map(|id| part(&prompt, id)).collect();
    assert_eq!(system(&prompt), texts.join("\n\n"));
    assert_eq!(part(&prompt, "active-skills"), "[Active Skills]\nRead the diff.\n\nSign it.");
    assert_eq!(part(&prompt, "additional-instructions"), "[Additional Instructions]\nUse metric units.");
    assert!(texts[2].starts_with("[Core Mandates]\n"));
    assert!(texts[5].starts_with("[Sanity Checks]\n"));
    let others = profile("ollm", &[]);
    for path in others.paths() {
        for section in path.sections() {
            assert!(section.id == "goal" || !section.id.contains("goal"), "{}", section.id);
        }
    }
}

// OLLM-003 OLLM-006
#[test]
fn what_is_empty_leaves_neither_heading_nor_gap() {
    let prompt = ollm("chat-remote", &Inputs { use_sanity_checks: false, ..talk("assistant", 3) });
    assert_eq!(sections(&prompt), ["identity", "mode", "core-mandates", "user-message"]);
    let text = system(&prompt);
    assert!(!text.contains("\n\n\n") && !text.ends_with('\n') && !text.starts_with('\n'), "{text}");
    for heading in ["[Active Goal]", "[Active Skills]", "[Sanity Checks]", "[Additional Instructions]"] {
        assert!(!text.contains(heading));
    }
}

// OLLM-006
#[test]
fn the_defaults_are_the_seeds() {
    let inputs = Inputs::default();
    let prompt = ollm("chat-remote", &inputs);
    assert_eq!(sections(&prompt), ["identity", "mode", "core-mandates", "sanity-reality-check"]);
    assert!(system(&prompt).starts_with("You are Assistant, "));
    assert!(part(&prompt, "core-mandates").contains("- Ask before"));
    let named = Inputs { agent_name: "Ada".to_owned(), ..inputs };
    assert!(system(&ollm("chat-remote", &named)).starts_with("You are Ada, "));
}

// OLLM-005
#[test]
fn a_goal_without_parts_has_no_headings_of_parts() {
    let goal = GoalInput {
        description: "Move\nhouse".to_owned(),
        priority: Priority::Low,
        status: GoalStatus::Completed,
        ..GoalInput::by(TrustName::Owner)
    };
    let prompt = ollm("chat-remote", &Inputs { goal: Some(goal), ..talk("assistant", 3) });
    assert_eq!(part(&prompt, "goal"), "[Active Goal]\nCURRENT GOAL: Move house\nPriority: Low\nStatus: Completed");
}

// OLLM-009
#[test]
fn mandates_sanity_identity_and_state_snapshot_are_files_of_the_profile() {
    let ollm = profile("ollm", &[]);
    for id in ["identity", "core-mandates", "sanity-reality-check", "state-snapshot"] {
        assert!(ollm.section(id).is_some(), "{id}");
    }
    let summarize =
        SummarizeInput { messages: crate::kit::history(&["Build it.", "Done."]), ..SummarizeInput::default() };
    let prompt = render_with(&ollm, "state-snapshot", &Inputs { summarize, goal: Some(login()), ..Inputs::default() });
    assert_eq!(prompt.messages().len(), 1);
    assert!(user(&prompt).starts_with("ACTIVE GOAL: Implement user authentication system\n"));
    assert!(user(&prompt).contains("user: Build it.\nassistant: Done."));
    assert!(prompt.tools().is_empty());
}

// OLLM-010
#[test]
fn a_run_without_a_person_asks_nothing() {
    for tier in 1..=5 {
        let person = part(&ollm("chat-remote", &talk("assistant", tier)), "core-mandates");
        assert!(person.contains("- Ask before") && !person.contains("ask nothing"), "{person}");
        for path in ["heartbeat", "task"] {
            let quiet = part(&ollm(path, &Inputs { interactive: false, ..talk("assistant", tier) }), "core-mandates");
            assert!(quiet.contains("ask nothing") && !quiet.contains("Ask before"), "{quiet}");
            assert!(!quiet.contains("question"), "{quiet}");
        }
    }
}

// OLLM-011
#[test]
fn what_compaction_kept_is_one_message_of_quoted_data_before_the_recent_turns() {
    let inputs = Inputs {
        pin: Some(Quoted::new("Build the login.\nKeep it simple.", TrustName::Owner)),
        digests: vec![
            Digest { id: "d1".to_owned(), text: "Chose tokens.".to_owned(), trust: TrustName::Owner },
            Digest { id: "d2".to_owned(), text: "Wrote\nthe page.".to_owned(), trust: TrustName::Owner },
        ],
        history: crate::kit::history(&["Hello", "Hello."]),
        ..talk("assistant", 3)
    };
    for path in ["chat-remote", "chat-local", "heartbeat", "task"] {
        let prompt = ollm(path, &inputs);
        let roles: Vec<RoleName> = prompt.messages().iter().map(|message| message.role().into()).collect();
        assert_eq!(roles, [RoleName::System, RoleName::User, RoleName::User, RoleName::Assistant, RoleName::User]);
        let kept = prompt.messages()[1].text();
        assert!(kept.contains("> Build the login.\n> Keep it simple."), "{kept}");
        assert!(kept.contains("> Chose tokens.\n\n> Wrote\n> the page."), "{kept}");
        assert_eq!(prompt.messages()[2].text(), "Hello");
    }
}

// OLLM-012
#[test]
fn a_digest_is_asked_for_with_the_goal_and_what_to_preserve() {
    let messages = vec![
        HistoryMessage {
            role: RoleName::User,
            content: "Use tokens.".to_owned(),
            ..HistoryMessage::by(TrustName::Owner)
        },
        HistoryMessage {
            role: RoleName::Assistant,
            content: "Done.".to_owned(),
            ..HistoryMessage::by(TrustName::Owner)
        },
    ];
    let summarize = SummarizeInput { messages, ..SummarizeInput::default() };
    let with = Inputs { goal: Some(login()), summarize: summarize.clone(), ..Inputs::default() };
    let prompt = ollm("summarize", &with);
    assert_eq!(prompt.messages().len(), 1);
    let text = user(&prompt);
    assert!(text.starts_with("ACTIVE GOAL: Implement user authentication system\n\nSummarise"), "{text}");
    let (request, rest) = text.split_once("user: Use tokens.\nassistant: Done.\n").unwrap();
    assert!(request.contains("progress towards the goal"));
    let (bullets, brevity) = rest.strip_prefix("\nPreserve:\n").unwrap().split_once("\n\n").unwrap();
    let bullets: Vec<&str> = bullets.lines().collect();
    assert_eq!(bullets.len(), 5);
    for (bullet, word) in bullets.iter().zip(["Decisions", "Checkpoints", "Files", "Blockers", "Next steps"]) {
        assert!(bullet.starts_with(&format!("- {word}")), "{bullet}");
    }
    assert!(brevity.starts_with("Be brief"));
    let without = ollm("summarize", &Inputs { summarize, ..Inputs::default() });
    assert!(user(&without).starts_with("Summarise"), "{}", user(&without));
    assert!(user(&without).contains("\nPreserve:\n"));
}

// OLLM-090
#[test]
fn a_mode_adds_its_focus_to_every_request_for_a_summary() {
    let texts = ["summarize", "merge-summaries", "state-snapshot"].map(|path| {
        let of_mode = |mode: &str| user(&ollm(path, &Inputs { mode: mode.to_owned(), ..Inputs::default() })).to_owned();
        let focus = |text: String| text.lines().find(|line| line.starts_with("Focus: ")).map(str::to_owned);
        ["assistant", "user", "developer", "debugger", "planning"].map(of_mode).map(focus)
    });
    assert_eq!(texts[0][..2], [None, None], "these two have no work of their own to look at");
    let focus: BTreeSet<_> = texts[0][2..].iter().flatten().collect();
    assert_eq!(focus.len(), 3, "{texts:?}");
    assert!(texts[0] == texts[1] && texts[0] == texts[2]);
}

// OLLM-014 OLLM-019
#[test]
fn the_budget_by_tier_leaves_the_goal_block_out() {
    let ollm = profile("ollm", &[]);
    let path = ollm.path("chat-remote").unwrap();
    let Step::Message(system) = &path.steps[0] else { panic!("the system message comes first") };
    let budget = system.budget.as_ref().unwrap();
    for tier in Tier::ALL {
        assert_eq!(budget.limit.at(tier, None), tier.prompt_budget() as usize);
    }
    assert!(budget.except.contains(&"goal".to_owned()));
}

const CAPS: [[usize; 3]; 5] = [[100, 60, 30], [260, 110, 50], [520, 180, 100], [800, 250, 150], [800, 250, 150]];

// OLLM-014 OLLM-020 OLLM-028 PRO-064
#[test]
fn every_mode_and_tier_fits_its_caps_untrimmed() {
    for mode in MODES {
        for tier in 1..=5_u8 {
            for interactive in [true, false] {
                let prompt = ollm("chat-remote", &Inputs { interactive, ..talk(mode, tier) });
                let [template, mandates, sanity] = CAPS[usize::from(tier) - 1];
                let sizes = [
                    (format!("{}\n\n{}", part(&prompt, "identity"), part(&prompt, "mode")), template),
                    (part(&prompt, "core-mandates"), mandates),
                    (part(&prompt, "sanity-reality-check"), sanity),
                ];
                for (text, cap) in sizes {
                    assert!(exact(&text) <= cap, "{mode} tier {tier}: {} of {cap} tokens: {text}", exact(&text));
                }
                let whole = exact(system(&prompt));
                let budget = Tier::new(tier).unwrap().prompt_budget() as usize;
                assert!(whole <= budget, "{mode} tier {tier}: {whole} of {budget} tokens");
                assert!(prompt.report().iter().all(|row| !matches!(row.outcome, Outcome::Trimmed | Outcome::Dropped)));
            }
        }
    }
}

// OLLM-021
#[test]
fn a_higher_tier_never_says_less() {
    for mode in MODES {
        for (lower, higher) in (1..5).zip(2..6) {
            let (lower, higher) = (ollm("chat-remote", &talk(mode, lower)), ollm("chat-remote", &talk(mode, higher)));
            for section in ["mode", "core-mandates", "sanity-reality-check"] {
                let (less, more) = (exact(&part(&lower, section)), exact(&part(&higher, section)));
                assert!(less <= more, "{mode} {section}: {less} then {more} tokens");
            }
            let (less, more) = (exact(&part(&lower, "mode")), exact(&part(&higher, "mode")));
            assert!(less < more, "{mode}: a tier adds something");
        }
    }
}

fn wordy(paragraphs: usize, words: usize) -> String {
    let paragraph = |n: usize| format!("Paragraph {n}: {}", "keep this in mind ".repeat(words).trim_end());
    (1..=paragraphs).map(paragraph).collect::<Vec<_>>().join("\n\n")
}

// OLLM-022 OLLM-124
#[test]
fn additional_paragraphs_go_first_and_from_the_end() {
    let inputs = Inputs { additional_instructions: wordy(5, 30), ..talk("assistant", 2) };
    let prompt = ollm("chat-remote", &inputs);
    let text = part(&prompt, "additional-instructions");
    assert!(text.contains("Paragraph 1:") && !text.contains("Paragraph 5:"), "{text}");
    let row = prompt.report().iter().find(|row| row.section == "additional-instructions").unwrap();
    assert_eq!(row.outcome, Outcome::Trimmed);
    assert!(exact(system(&prompt)) <= 500);
    let tiny = Inputs { model: ModelInfo { window: Some(4096), ..ModelInfo::default() }, tier: None, ..inputs };
    let tiny = ollm("chat-remote", &tiny);
    assert!(exact(system(&tiny)) <= 200, "{} tokens at 4K", exact(system(&tiny)));
    assert!(!system(&tiny).contains("Paragraph"));
}

// OLLM-022 OLLM-023 LES-003
#[test]
fn as_room_shrinks_additional_goes_then_skills_then_sanity_then_template_and_mandates_stay() {
    let whole = ollm("chat-remote", &everything());
    let (mut stages, mut refused) = (Vec::new(), false);
    for words in (60..260).step_by(4) {
        let mandates = format!("[Core Mandates]\n{}", "Be kind to all. ".repeat(words).trim_end());
        let own = profile("ollm", &[("sections/core-mandates/tier3.md", &mandates)]);
        let Ok(prompt) = crate::kit::try_render(&own, "chat-remote", &everything()) else {
            refused = true;
            continue;
        };
        assert!(!refused, "less room never helps");
        assert_eq!(part(&prompt, "core-mandates"), mandates);
        assert_eq!(part(&prompt, "goal"), LOGIN);
        let template = part(&prompt, "mode");
        assert!(template.starts_with("Answer first") && part(&whole, "mode").starts_with(&template));
        let gone = [
            included(&prompt, "additional-instructions").is_none(),
            included(&prompt, "active-skills").is_none_or(|text| !text.contains("Sign it.")),
            included(&prompt, "active-skills").is_none(),
            included(&prompt, "sanity-reality-check").is_none(),
            template.len() < part(&whole, "mode").len(),
        ];
        assert!(gone.is_sorted_by(|earlier, later| earlier >= later), "{words}: {gone:?}");
        stages.push(gone.iter().filter(|gone| **gone).count());
    }
    assert!(refused, "at last there is no room");
    assert!(stages.is_sorted());
    assert_eq!((stages.first(), stages.last()), (Some(&0), Some(&5)));
}

// OLLM-023
#[test]
fn what_must_stay_and_does_not_fit_is_an_error_with_its_sizes() {
    let mandates = format!("[Core Mandates]\n{}", "Be kind to all. ".repeat(400));
    let own = profile("ollm", &[("sections/core-mandates/tier3.md", &mandates)]);
    let error = crate::kit::try_render(&own, "chat-remote", &everything()).unwrap_err().to_string();
    assert!(error.contains("core-mandates") && error.contains("mode") && error.contains("1000"), "{error}");
}

// OLLM-028 OLLM-031 OLLM-128
#[test]
fn each_prompt_holds_exactly_one_template() {
    for mode in MODES {
        for tier in 1..=5 {
            let inputs = Inputs { mode: mode.to_owned(), tier: Some(tier), ..everything() };
            let prompt = ollm("chat-remote", &inputs);
            let text = system(&prompt);
            let found: Vec<&str> = MODES[..4]
                .iter()
                .copied()
                .filter(|other| text.contains(template(other, tier).lines().next().unwrap()))
                .collect();
            assert_eq!(found, [if mode == "user" { "assistant" } else { mode }]);
            assert_eq!(text.matches("You are ").count(), 1);
            if tier > 1 {
                assert_eq!(part(&prompt, "goal"), LOGIN, "the goal survives a switch of the mode");
                assert!(text.contains("Read the diff.") && text.contains("Use metric units."));
            }
        }
    }
}

// OLLM-030
#[test]
fn the_users_templates_begin_as_copies_of_the_assistants() {
    for tier in 1..=5 {
        assert_eq!(template("user", tier), template("assistant", tier));
    }
    let own = profile("ollm", &[("modes/user/tier3.md", "Teach, do not tell.\n")]);
    let prompt = render_with(&own, "chat-remote", &talk("user", 3));
    assert_eq!(part(&prompt, "mode"), "Teach, do not tell.");
    assert_eq!(
        part(&render_with(&own, "chat-remote", &talk("assistant", 3)), "mode").lines().next(),
        template("assistant", 3).lines().next()
    );
}

// OLLM-126
#[test]
fn tiers_are_ordered_by_number() {
    let windows = [4096, 8192, 16_384, 32_768, 131_072];
    let size = |window: u32| {
        let model = ModelInfo { window: Some(window), ..ModelInfo::default() };
        exact(system(&ollm("chat-remote", &Inputs { model, tier: None, ..talk("developer", 1) })))
    };
    let sizes = windows.map(size);
    for (i, small) in sizes.iter().enumerate() {
        for (j, large) in sizes.iter().enumerate() {
            assert_eq!(small.cmp(large), i.cmp(&j), "{} and {}", windows[i], windows[j]);
        }
    }
}

// OLLM-077
#[test]
fn a_model_without_tools_reports_on_its_goal_by_markers() {
    let markers = ["[CHECKPOINT]", "[DECISION]", "[ARTIFACT]", "[NEXT]"];
    let text = |inputs: &Inputs| part(&ollm("chat-remote", inputs), "goal");
    let model = ModelInfo { tools: false, ..ModelInfo::default() };
    let without = text(&Inputs { model, ..everything() });
    assert!(without.starts_with(LOGIN) && markers.iter().all(|marker| without.contains(marker)), "{without}");
    assert!(exact(&without) <= 200, "{} tokens", exact(&without));
    assert!(markers.iter().all(|marker| !text(&everything()).contains(marker)));
}

// PRO-011
#[test]
fn what_it_does_not_define_is_limpids() {
    let delegate = DelegateInput { task: "Brew.".to_owned(), ..DelegateInput::by(TrustName::Owner) };
    let inputs = Inputs { delegate, ..Inputs::default() };
    for path in ["subagent-async", "subagent-sync", "worker"] {
        assert_eq!(system(&ollm(path, &inputs)), system(&render("limpid", path, &inputs)));
    }
}
