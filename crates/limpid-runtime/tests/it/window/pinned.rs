//! What stays in sight however often a conversation is compacted, and whatever its model is like.

use std::sync::Arc;

use limpid_core::goal::Priority;
use limpid_core::{Role, ToolProtocol};
use limpid_model::{ModelCall, ModelCard};
use limpid_runtime::{ConversationChoice, Outcome};
use limpid_testkit::{Said, Talker};

use super::{BARE, agent, bench, card, events_of, outcome, question, talker, text_of};
use crate::kit::say;

const PROFILES: [&str; 5] = ["limpid", "ollm", "picoclaw", "kai", "koshi"];

fn config(profile: &str) -> String {
    format!("[agent]\nprofile = \"{profile}\"\n{BARE}[tools]\ndefer = false\n")
}

// OLLM-132
#[tokio::test]
async fn the_task_is_in_sight_after_ten_compactions_that_kept_only_replies() {
    const TASK: &str = "Carry the lamp to the top of the tower, and never by the north stair.";
    for profile in PROFILES {
        let bench = bench().await;
        // A summary of what was answered; nothing in it says what was asked for.
        let model = talker(4096, "The assistant noted this and that, some words of an answer.");
        let agent = agent(&bench, &model, &config(profile));
        say(&agent, TASK).await;
        let mut done = 0;
        for n in 1..=400 {
            let events = say(&agent, &question(n)).await;
            assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{profile} {n}: {:?}", outcome(&events));
            done = agent.conversations().context(&ConversationChoice::Last).await.unwrap().view.compactions;
            if done >= 10 {
                break;
            }
        }
        assert!(done >= 10, "{profile}: {done} compactions");
        model.take_sent();
        say(&agent, "And now?").await;
        let sent = text_of(&model.take_sent()[0]);
        assert!(sent.contains(TASK) && !sent.contains("Question 1:"), "{profile}: {sent}");
    }
}

// OLLM-138
#[tokio::test]
async fn a_model_that_reasons_gets_its_mandates_and_its_goal_before_and_after_a_compaction() {
    for profile in PROFILES {
        let mut sent = Vec::new();
        for thinking in [false, true] {
            let bench = bench().await;
            bench.write("soul.md", "You keep the gates.\nNever open the north gate after dark.\n");
            let model = ModelCard { thinking, ..card(16_384) };
            let model = Arc::new(Talker::new(model, |call: &ModelCall| match call.prompt.path() {
                "summarize" | "merge-summaries" => Said::Text("They talked about the gates.".to_owned()),
                _ => Said::Text("Noted.".to_owned()),
            }));
            let agent = agent(&bench, &model, &config(profile));
            say(&agent, "Let us begin.").await;
            agent.goals().create(&ConversationChoice::Last, "Oil the hinges", Priority::High).await.unwrap();
            for n in 1..=8 {
                say(&agent, &question(n)).await;
            }
            assert_eq!(agent.conversations().compact(&ConversationChoice::Last).await.unwrap().failure, None);
            say(&agent, "And now?").await;
            let home = bench.home.path().display().to_string();
            let texts = model.take_sent();
            sent.push(texts.iter().map(|prompt| text_of(prompt).replace(&home, "~")).collect::<Vec<_>>());
        }
        assert_eq!(sent[0], sent[1], "{profile}");
        let last = sent[1].last().unwrap();
        assert!(last.contains("Oil the hinges"), "{profile}: {last}");
        if matches!(profile, "limpid" | "kai") {
            assert!(last.contains("Never open the north gate after dark."), "{profile}: {last}");
        }
    }
}

// LES-055
#[tokio::test]
async fn a_digest_is_stored_although_the_model_never_saves_anything() {
    let never = |_: &ModelCall| Said::Text(format!("The port is 8080. {}", "some words of an answer, ".repeat(12)));
    // It saves where it should only write: there is no text to take.
    let only = |call: &ModelCall| match call.prompt.path() {
        "summarize" | "merge-summaries" => Said::Calls(vec![(
            "memory_store".to_owned(),
            r#"{"key":"port","content":"The port is 8080 everywhere."}"#.to_owned(),
        )]),
        _ => Said::Text(format!("The port is 8080. {}", "some words of an answer, ".repeat(12))),
    };
    let models: [fn(&ModelCall) -> Said; 2] = [never, only];
    for (profile, answers) in PROFILES.into_iter().flat_map(|profile| models.map(|answers| (profile, answers))) {
        let bench = bench().await;
        let native = ModelCard { tools: ToolProtocol::Native, ..card(32_768) };
        let model = Arc::new(Talker::new(native, answers));
        let tools = "[tools]\ndefer = false\n";
        let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"{profile}\"\n{tools}"));
        for n in 1..=12 {
            say(&agent, &question(n)).await;
        }
        let offered = model.take_calls().iter().any(|call| !call.prompt.tools().is_empty());
        let stored = agent.conversations().compact(&ConversationChoice::Last).await.unwrap();
        assert_eq!(stored.failure, None, "{profile}");
        assert!(offered, "{profile} offers tools");
        let summaries = model.take_calls();
        assert!(summaries.iter().all(|call| call.prompt.tools().is_empty()), "{profile}: nothing to call is offered");
        let view = agent.conversations().context(&ConversationChoice::Last).await.unwrap().view;
        assert_eq!(view.digests.len(), 1, "{profile}");
        assert!(view.digests[0].text.contains("port is 8080"), "{profile}: {:?}", view.digests);
        assert_eq!(agent.store().memories(None).await.unwrap().rows.len(), 0, "{profile}: nothing was saved");
        let kept = events_of(&agent).await;
        assert!(kept.iter().any(|event| event.new.view.as_ref().is_some_and(|kept| kept.digests == view.digests)));
        let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
        let all = agent.store().messages(&conversation.id, None).await.unwrap().rows;
        assert!(all.iter().all(|row| row.message.role != Role::Tool), "{profile}");
    }
}
