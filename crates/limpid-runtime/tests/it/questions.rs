//! Questions to the owner, in whole turns: what they are asked, what a yes covers, and what is theirs by it.

use std::sync::Arc;

use limpid_core::{ToolClass, Trust};
use limpid_runtime::{Agent, ApprovalAnswer, ChatRequest, ConversationChoice, EventKind, QuestionId, Tool, TurnEvent};
use limpid_store::{Audience, DraftId};

use crate::kit::effects::{EffectTool, OBEDIENT, PageAndMail, agent, answering, results, saying_always};
use crate::kit::{Bench, all, last, new_chat};

// SEC-072
#[tokio::test]
async fn five_calls_that_wait_in_a_turn_are_one_question_and_each_part_has_its_own_answer() {
    let call =
        |n: u32| format!("{{ id = \"m{n}\", name = \"send_mail\", arguments = {{ to = \"{n}@example.com\" }} }}");
    let calls: Vec<String> = (1..=5).map(call).collect();
    let script = format!(
        "[[reply]]\ncalls = [{{ id = \"r\", name = \"read_page\" }}]\n[[reply]]\ncalls = [{}]\n[[reply]]\ntext = \"Done.\"\n",
        calls.join(", ")
    );
    let bench = Bench::new(&script).await;
    let (page, mail) = (EffectTool::outside("read_page"), EffectTool::new("send_mail", ToolClass::Send));
    let agent = agent(&bench, &[&page, &mail]);
    let mut handle = agent.chat(ChatRequest { can_answer: true, ..last("read the page") }).await.unwrap();
    let mut questions = Vec::new();
    while let Some(event) = handle.next().await {
        if let TurnEvent::ApprovalRequested { parts, .. } = &event {
            questions.push(parts.iter().map(|part| part.id.call().to_string()).collect::<Vec<_>>());
            let answers: Vec<ApprovalAnswer> =
                (0..5).map(|at| if at % 2 == 0 { ApprovalAnswer::Once } else { ApprovalAnswer::No }).collect();
            handle.answer_all(parts, &answers);
        }
        if event.is_last() {
            break;
        }
    }
    assert_eq!(questions, [["m1", "m2", "m3", "m4", "m5"]]);
    assert_eq!(mail.runs(), 3);
    let refused = results(&bench).iter().filter(|result| result.contains("the owner said no")).count();
    assert_eq!(refused, 2);
}

// SEC-072
#[tokio::test]
async fn the_window_is_cleaned_then_the_call_runs_and_only_its_outcome_comes_into_the_clean_window() {
    for outcome in [Trust::Owner, Trust::Outside] {
        let send = |id: &str| {
            format!(
                "[[reply]]\ncalls = [{{ id = \"{id}\", name = \"send_mail\", arguments = {{ text = \"EVIL\" }} }}]\n"
            )
        };
        let script = format!(
            "[[reply]]\ncalls = [{{ id = \"r\", name = \"read_page\" }}]\n{}{}[[reply]]\ntext = \"Done.\"\n",
            send("a"),
            send("b")
        );
        let mut bench = Bench::new(&script).await;
        bench.config.agent.mode = "developer".into();
        let (page, run) =
            (EffectTool::outside("read_page"), EffectTool::with_trust("send_mail", ToolClass::Execute, outcome));
        let agent = agent(&bench, &[&page, &run]);
        // What the call came to may be delivered as soon as the turn has ended.
        let mut changes = agent.subscribe();
        assert_eq!(answering(&agent, "read the page", ApprovalAnswer::CleanFirst).await.len(), 1);
        assert_eq!(
            run.runs.lock().unwrap().clone(),
            [serde_json::json!({ "text": "EVIL" })],
            "what was shown is what ran"
        );
        assert_eq!(bench.server.calls().len(), 2, "the model is not asked again with the page before it");
        agent.conversations().deliver_waiting().await.unwrap();
        let told = delivered(&mut changes);
        let result = if outcome.is_foreign() { "> send_mail done" } else { "send_mail done" };
        assert!(told.contains("was done") && told.ends_with(&format!("\n\n{result}")), "{told}");
        let questions = answering(&agent, "and now?", ApprovalAnswer::No).await;
        let sent = bench.server.calls()[2].text();
        assert!(!sent.contains("EVIL") && !sent.contains("read_page done") && sent.contains("put aside"), "{sent}");
        let told = sent.find("send_mail done").expect("what it came to is known");
        let is_inside = sent[..told].rfind("[untrusted ").is_some_and(|open| !sent[open..told].contains("[/untrusted"));
        assert_eq!(is_inside, outcome.is_foreign(), "{sent}");
        assert_eq!(questions.len(), usize::from(outcome.is_foreign()), "a clean turn asks nothing");
        assert_eq!(run.runs(), if outcome.is_foreign() { 1 } else { 2 });
    }
}

/// What was delivered by now.
fn delivered(changes: &mut tokio::sync::broadcast::Receiver<limpid_runtime::Event>) -> String {
    let mut told = String::new();
    while let Ok(event) = changes.try_recv() {
        if let EventKind::Delivered { text, .. } = event.change {
            told.push_str(&text);
        }
    }
    told
}

// SEC-072
#[tokio::test]
async fn a_call_that_fails_in_a_clean_window_is_not_told_as_done() {
    let script = "[[reply]]\ncalls = [{ id = \"r\", name = \"read_page\" }]\n[[reply]]\ncalls = [{ id = \"a\", name = \"keep\", \
                  arguments = { path = \"there-is-none/a.md\", text = \"x\" } }]\n";
    let mut bench = Bench::new(script).await;
    bench.config.agent.mode = "developer".into();
    let (page, keep) = (EffectTool::outside("read_page"), EffectTool::new("keep", ToolClass::Write));
    let agent = agent(&bench, &[&page, &keep]);
    assert_eq!(answering(&agent, "read the page", ApprovalAnswer::CleanFirst).await.len(), 1);
    let mut changes = agent.subscribe();
    agent.conversations().deliver_waiting().await.unwrap();
    let told = delivered(&mut changes);
    assert!(told.starts_with("The action you approved failed.") && told.contains("cannot be used"), "{told}");
}

/// What is said while a question waits is said after what was put aside, so it is for the next turn.
// SEC-072 LES-010
#[tokio::test]
async fn what_the_owner_says_while_a_question_waits_is_answered_also_when_the_window_is_cleaned_first() {
    let script = "[[reply]]\ncalls = [{ id = \"r\", name = \"read_page\" }]\n\
                  [[reply]]\ncalls = [{ id = \"a\", name = \"send_mail\" }]\n[[reply]]\ntext = \"Nothing else.\"\n";
    let mut bench = Bench::new(script).await;
    bench.config.agent.mode = "developer".into();
    let (page, run) = (EffectTool::outside("read_page"), EffectTool::new("send_mail", ToolClass::Execute));
    let agent = agent(&bench, &[&page, &run]);
    let mut first = agent.chat(ChatRequest { can_answer: true, ..last("read the page") }).await.unwrap();
    let mut second = None;
    while let Some(event) = first.next().await {
        if let TurnEvent::ApprovalRequested { parts, .. } = &event {
            second = Some(agent.chat(last("what else is new?")).await.unwrap());
            first.answer(&parts[0].id, ApprovalAnswer::CleanFirst);
        }
        if event.is_last() {
            break;
        }
    }
    let said = all(second.expect("a question was asked")).await;
    assert!(said.iter().any(|event| matches!(event, TurnEvent::Text(text) if text == "Nothing else.")), "{said:?}");
    assert_eq!(run.runs(), 1);
    let asked = bench.server.calls()[2].text();
    assert!(asked.contains("what else is new?") && !asked.contains("read_page done"), "{asked}");
}

/// A tool that starts a program in a folder of the bench, which holds a script.
fn starting(bench: &Bench) -> Arc<EffectTool> {
    bench.write("workspace/project/build.sh", "make");
    bench.write("bin/make", "the program");
    let run = EffectTool::new("send_mail", ToolClass::Execute);
    let path = |name: &str| bench.home.path().canonicalize().unwrap().join(name);
    let (program, folder) = (path("bin/make"), path("workspace/project"));
    *run.started.lock().unwrap() =
        Some(limpid_runtime::Started { program, files: Vec::new(), folder, folders: Vec::new(), files_in: None });
    run
}

// SEC-075
#[tokio::test]
async fn what_changed_between_the_question_and_the_yes_is_asked_about_anew() {
    for changed in ["bin/make", "workspace/project/build.sh", "workspace/project/new.sh"] {
        let mut bench = Bench::new(OBEDIENT).await;
        bench.config.agent.mode = "developer".into();
        let (page, run) = (EffectTool::outside("read_page"), starting(&bench));
        let agent = agent(&bench, &[&page, &run]);
        let mut handle = agent.chat(ChatRequest { can_answer: true, ..last("read the page") }).await.unwrap();
        let mut reasons = Vec::new();
        while let Some(event) = handle.next().await {
            if let TurnEvent::ApprovalRequested { parts, .. } = &event {
                assert_eq!(run.runs(), 0);
                if reasons.is_empty() {
                    bench.write(changed, "something else");
                }
                reasons.push(parts[0].reason.clone());
                handle.answer(&parts[0].id, ApprovalAnswer::Once);
            }
            if event.is_last() {
                break;
            }
        }
        assert_eq!((reasons.len(), run.runs()), (2, 1), "{changed}: {reasons:?}");
        let name = changed.rsplit('/').next().unwrap();
        assert!(!reasons[0].contains(name) && reasons[1].contains(&format!("{name}` ")), "{reasons:?}");
    }
}

/// Two clients that show one question may answer it at the same time, and the first answer may find that the call has changed.
// SEC-011 SEC-075
#[tokio::test]
async fn an_answer_to_the_question_before_changes_nothing_at_the_one_that_is_open_now() {
    let mut bench = Bench::new(OBEDIENT).await;
    bench.config.agent.mode = "developer".into();
    let (page, run) = (EffectTool::outside("read_page"), starting(&bench));
    let agent = agent(&bench, &[&page, &run]);
    let mut handle = agent.chat(ChatRequest { can_answer: true, ..last("read the page") }).await.unwrap();
    let mut asked: Vec<QuestionId> = Vec::new();
    while let Some(event) = handle.next().await {
        if let TurnEvent::ApprovalRequested { parts, .. } = &event {
            let now = parts[0].id.clone();
            match asked.last() {
                None => {
                    bench.write("bin/make", "something else");
                    handle.answer(&now, ApprovalAnswer::Once);
                }
                Some(before) => {
                    assert!(now != *before && now.call() == before.call());
                    for answer in [ApprovalAnswer::Once, ApprovalAnswer::Always, ApprovalAnswer::CleanFirst] {
                        handle.answer(before, answer);
                    }
                    handle.answer(&now, ApprovalAnswer::No);
                }
            }
            asked.push(now);
        }
        if event.is_last() {
            break;
        }
    }
    assert_eq!((asked.len(), run.runs()), (2, 0), "nobody has said yes to the second question");
    assert!(results(&bench)[1].contains("the owner said no"), "{:?}", results(&bench));
}

// SEC-002
#[tokio::test]
async fn a_yes_runs_the_call_and_the_turn_goes_on() {
    let mut bench = Bench::new(OBEDIENT).await;
    bench.config.agent.mode = "developer".into();
    let (page, mail) = (EffectTool::outside("read_page"), EffectTool::new("send_mail", ToolClass::Send));
    let agent = agent(&bench, &[&page, &mail]);
    assert_eq!(answering(&agent, "read the page", ApprovalAnswer::Once).await.len(), 1);
    assert_eq!(mail.runs(), 1);
    assert_eq!(results(&bench)[1], "send_mail done");
}

// SEC-078 SEC-065
#[tokio::test]
async fn a_lasting_yes_of_a_chat_is_asked_for_anew_once_others_read_it() {
    let again = "[[reply]]\ncalls = [{ name = \"send_mail\", arguments = { to = \"eve@example.com\" } }]\n\
                 [[reply]]\ntext = \"ok\"\n";
    let bench = Bench::new(&format!("{OBEDIENT}{}", again.repeat(3))).await;
    let agent = PageAndMail::new().agent(&bench);
    let alone = saying_always(&agent, "read the page").await;
    assert!(matches!(&alone[..], [one] if !one.contains("others")), "{alone:?}");
    assert_eq!(saying_always(&agent, "and again").await, [""; 0], "it lasts");
    let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    agent.conversations().set_audience(&conversation, Audience::Group).await.unwrap();
    let with_others = saying_always(&agent, "and now?").await;
    assert!(matches!(&with_others[..], [one] if one.contains(", where others read too")), "{with_others:?}");
    assert_eq!(saying_always(&agent, "once more").await, [""; 0], "it lasts there too");
}

// SEC-056 SEC-060
#[tokio::test]
async fn a_file_that_a_tainted_turn_writes_among_the_owners_waits_and_is_theirs_by_their_yes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt").display().to_string();
    let script = format!(
        r#"
[[reply]]
calls = [{{ id = "a", name = "read_page" }}]
[[reply]]
calls = [{{ id = "b", name = "put_file", arguments = {{ path = "{path}", text = "my notes" }} }}]
[[reply]]
text = "Kept."
[[reply]]
calls = [{{ id = "c", name = "see_file", arguments = {{ path = "{path}" }} }}]
[[reply]]
text = "Done."
"#
    );
    let bench = Bench::new(&script).await;
    let tools = [
        EffectTool::outside("read_page"),
        EffectTool::new("put_file", ToolClass::Write),
        EffectTool::new("see_file", ToolClass::Read),
    ];
    let mut options = bench.options();
    options.config.agent.mode = "developer".into();
    options.tools = tools.each_ref().map(|tool| Arc::clone(tool) as Arc<dyn Tool>).into();
    let agent = Agent::open(options).unwrap();
    all(agent.chat(last("keep what the page says")).await.unwrap()).await;
    assert!(!folder.path().join("notes.txt").exists(), "before");
    let why = agent.drafts().get(DraftId(1)).await.unwrap().0.new.why;
    assert!(why.ends_with("; what it writes counts as yours from then on"), "{why}");
    agent.drafts().approve(DraftId(1), None).await.unwrap();
    all(agent.chat(new_chat("what do my notes say?")).await.unwrap()).await;
    assert_eq!(results(&bench)[0], "my notes", "after");
    let raised = agent.store().raised_labels().await.unwrap().rows;
    let [raised] = <[_; 1]>::try_from(raised).unwrap();
    let shown = format!(r#"put_file {{"path":"{path}","text":"my notes"}}"#);
    assert_eq!((raised.new.act, raised.new.shown), (limpid_store::RaisingAct::File, shown));
}

// SEC-002
#[tokio::test]
async fn a_prompts_file_whose_change_the_owner_approved_is_the_owners() {
    let script = r#"
[[reply]]
calls = [{ id = "a", name = "read_page" }]
[[reply]]
calls = [{ id = "b", name = "write_file", arguments = { path = "AGENTS.md", content = "Metric units." } }]
[[reply]]
text = "Proposed."
[[reply]]
text = "Hello."
"#;
    let mut bench = Bench::new(script).await;
    bench.config.agent.profile = "picoclaw".into();
    let agent = agent(&bench, &[&EffectTool::outside("read_page")]);
    all(agent.chat(last("read the page")).await.unwrap()).await;
    let draft = agent.drafts().list(false).await.unwrap().rows[0].id;
    assert!(!bench.home.path().join("workspace/AGENTS.md").exists());
    agent.drafts().approve(draft, None).await.unwrap();
    all(agent.chat(new_chat("hi")).await.unwrap()).await;
    assert!(bench.server.calls()[3].text().contains("Metric units."));
}
