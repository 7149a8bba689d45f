//! A goal keeps to its allotment in every profile (OLLM-075).

use crate::kit::{part, render};
use limpid_core::Tier;
use limpid_prompt::inputs::{
    ArtifactInput, CheckpointInput, CheckpointStatus, DecisionInput, GoalInput, Inputs, ModelInfo, ToolProtocolName,
    TrustName,
};
use limpid_prompt::{Estimate, TokenCounter as _};

const PROFILES: [&str; 5] = ["limpid", "ollm", "kai", "koshi", "picoclaw"];

/// Three steps of each kind, decisions, and files.
fn goal(entries: usize) -> GoalInput {
    use CheckpointStatus::{Completed, InProgress, Pending};
    let step = |status, word: &str, n: usize| CheckpointInput {
        id: format!("{word}{n}"),
        description: format!("{word} step number {n}"),
        status,
        ..CheckpointInput::default()
    };
    let steps = |status, word| (1..=entries).map(move |n| step(status, word, n));
    let decision = |locked: bool, n: usize| DecisionInput {
        description: format!("{} choice number {n}", if locked { "locked" } else { "open" }),
        locked,
        ..DecisionInput::default()
    };
    GoalInput {
        id: "g1".to_owned(),
        description: "Move the whole library".to_owned(),
        checkpoints: steps(Completed, "done")
            .chain([step(InProgress, "running", 1)])
            .chain(steps(Pending, "far"))
            .collect(),
        decisions: (1..=entries).map(|n| decision(n == 2, n)).collect(),
        artifacts: (1..=entries)
            .map(|n| ArtifactInput { path: format!("files/number{n}.csv"), ..ArtifactInput::default() })
            .collect(),
        ..GoalInput::by(TrustName::Owner)
    }
}

/// The goal block of a prompt; a model without tools gets the longest.
fn block(profile: &str, tier: u8, goal: GoalInput) -> String {
    let model = ModelInfo { tools: false, tool_protocol: ToolProtocolName::None, ..ModelInfo::default() };
    let inputs = Inputs { goal: Some(goal), tier: Some(tier), model, ..Inputs::default() };
    part(&render(profile, "chat-remote", &inputs), "goal")
}

// OLLM-074 OLLM-075 OLLM-077
#[test]
fn the_block_never_outgrows_its_allotment_and_keeps_what_must_stay() {
    for profile in PROFILES {
        for tier in Tier::ALL {
            for entries in [0, 1, 2, 3, 5, 9, 20, 60] {
                let text = block(profile, tier.number(), goal(entries));
                let tokens = Estimate::default().count(&text);
                let allotment = tier.goal_allotment() as usize;
                assert!(tokens <= allotment, "{profile} {tier} {entries}: {tokens} of {allotment}\n{text}");
                assert!(text.contains("Move the whole library"), "{profile} {tier} {entries}: {text}");
                let locked = entries < 2 || text.contains("locked choice number 2");
                assert!(locked && text.contains("[CHECKPOINT]"), "{profile} {tier} {entries}: {text}");
            }
        }
    }
}

// OLLM-075
#[test]
fn artifacts_go_first_then_finished_steps_open_decisions_and_far_steps() {
    let shown: Vec<String> = [2, 3, 4, 5, 6, 8, 12].map(|entries| block("ollm", 1, goal(entries))).to_vec();
    insta::assert_snapshot!(shown.join("\n\n=====\n\n"));
}

// OLLM-075
#[test]
fn steps_keep_their_numbers_when_others_have_no_room() {
    let mut inputs = Inputs { goal: Some(goal(12)), tier: Some(1), ..Inputs::default() };
    let text = |inputs: &Inputs| render("ollm", "chat-remote", inputs).messages()[0].text().to_owned();
    let crowded = text(&inputs);
    assert!(crowded.contains(" more\n") && !crowded.contains("done step number 1\n"), "{crowded}");
    assert!(crowded.contains("\u{1f504} 13. running step number 1 (IN PROGRESS)\n"), "{crowded}");
    // Without ids they are counted as they are shown.
    inputs.goal.iter_mut().flat_map(|goal| &mut goal.checkpoints).for_each(|step| step.id.clear());
    assert!(!text(&inputs).contains("13. running"));
}
