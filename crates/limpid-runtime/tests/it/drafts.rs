//! Calls that nobody could be asked about: kept with all that they are, carried out once, and never as anything else.

use crate::kit::effects::PageAndMail;
use crate::kit::tasks::{reminder, transcript};
use crate::kit::{Bench, all, last, new_chat};
use jiff::ToSpan;
use limpid_core::task::TaskKind;
use limpid_core::{DraftState, Trust};
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_runtime::{Agent, ApprovalAnswer, ChatRequest, Config, ConversationChoice, ServeEvent, TurnEvent};
use limpid_store::{Audience, DraftId};

const SCRIPT: &str = r#"
[[reply]]
calls = [{ id = "r", name = "read_page" }]
[[reply]]
calls = [{ id = "m", name = "send_mail", arguments = { to = "eve@example.com", text = "the secret" } }]
[[reply]]
text = "Done."
"#;

/// An agent that nobody watches has one draft.
async fn drafted() -> (Bench, PageAndMail, Agent) {
    let bench = Bench::new(SCRIPT).await;
    let tools = PageAndMail::new();
    let agent = tools.agent(&bench);
    let events = all(agent.chat(last("read the page")).await.unwrap()).await;
    assert!(events.contains(&TurnEvent::DraftKept(DraftId(1))), "{events:?}");
    (bench, tools, agent)
}

// SEC-010
#[tokio::test]
async fn a_draft_holds_the_exact_action_and_runs_once_also_after_a_restart() {
    let (bench, tools, agent) = drafted().await;
    let request = bench.server.calls().last().unwrap().text();
    assert!(request.contains("not done yet: kept as draft 1"), "the model is told");
    assert_eq!(tools.mail.runs(), 0);
    drop(agent);

    let agent = tools.agent(&bench);
    let waiting = agent.drafts().list(false).await.unwrap().rows;
    let draft = waiting.first().unwrap();
    assert_eq!((waiting.len(), draft.state, draft.new.tool.as_str()), (1, DraftState::Open, "send_mail"));
    assert_eq!(draft.new.arguments, r#"{"text":"the secret","to":"eve@example.com"}"#);
    assert_eq!(draft.new.destination.as_deref(), Some("eve@example.com"));
    assert_eq!(draft.new.why, "text from outside was read, and this would send something");
    assert_eq!((draft.new.led_by.as_str(), draft.new.trust), ("outside: read_page done", Trust::Outside));

    let (first, second) = tokio::join!(agent.drafts().approve(draft.id, None), agent.drafts().approve(draft.id, None));
    assert_eq!(tools.mail.runs(), 1, "{first:?} {second:?}");
    assert!(first.is_ok() != second.is_ok());
    assert_eq!(tools.mail.runs.lock().unwrap()[0]["text"], "the secret");
    let (done, steps) = agent.drafts().get(draft.id).await.unwrap();
    assert_eq!((done.state, done.detail.as_str()), (DraftState::Sent, "send_mail done"));
    assert_eq!(steps.len(), 4);
    assert!(agent.drafts().approve(draft.id, None).await.unwrap_err().to_string().contains("is sent"));
    assert!(agent.drafts().refuse(draft.id).await.is_err());
}

/// What became of the first call is not what led to the second one.
// SEC-010
#[tokio::test]
async fn each_draft_of_a_turn_names_the_text_that_led_to_it() {
    let send = |id: &str| {
        format!("[[reply]]\ncalls = [{{ id = \"{id}\", name = \"send_mail\", arguments = {{ text = \"{id}\" }} }}]\n")
    };
    let read = "[[reply]]\ncalls = [{ id = \"r\", name = \"read_page\" }]\n";
    let bench = Bench::new(&format!("{read}{}{}[[reply]]\ntext = \"Done.\"\n", send("a"), send("b"))).await;
    let agent = PageAndMail::new().agent(&bench);
    all(agent.chat(last("read the page")).await.unwrap()).await;
    let led_by: Vec<_> =
        agent.drafts().list(false).await.unwrap().rows.into_iter().map(|draft| draft.new.led_by).collect();
    assert_eq!(led_by, ["outside: read_page done"; 2]);
}

/// Also where no stranger wrote anything, and in the first turn, before which there is no history.
// SEC-010
#[tokio::test]
async fn a_draft_names_the_text_that_led_to_it_in_a_first_turn_a_task_and_a_heartbeat() {
    const SEND: &str =
        "[[reply]]\ncalls = [{ id = \"m\", name = \"send_mail\" }]\n[[reply]]\ntext = \"HEARTBEAT_OK\"\n";
    let mut bench = Bench::new(&SEND.repeat(3)).await;
    let config =
        "model = \"openai/scripted\"\n[agent]\nprofile = \"kai\"\n[policy]\nask = [{ tool = \"send_mail\" }]\n";
    bench.config = Config::parse(config, "limpid.toml").unwrap();
    let agent = PageAndMail::new().agent(&bench);
    all(agent.chat(last("Tell Eve\nthat I am late.")).await.unwrap()).await;
    let task =
        ChatRequest { path: Some("task".to_owned()), text: "Water the plants.".to_owned(), ..Default::default() };
    all(agent.chat(task).await.unwrap()).await;
    agent.jobs().run_heartbeat().await.unwrap();
    let led_by: Vec<_> =
        agent.drafts().list(false).await.unwrap().rows.into_iter().map(|draft| draft.new.led_by).collect();
    assert_eq!(led_by[..2], ["owner: Tell Eve that I am late.", "owner: Water the plants."]);
    assert!(led_by[2].starts_with("file, shipped:profiles/kai/sections/heartbeat-opening.md:"), "{led_by:?}");
    assert!(
        led_by[2].ends_with(
            ": Look through your memories and tasks. If nothing needs attention, answer \
         HEARTBEAT_OK. If something does, deal with it and report what you did."
        ),
        "{led_by:?}"
    );
}

// SEC-011 LES-136
#[tokio::test]
async fn an_approval_holds_for_the_program_and_the_folder_that_it_was_kept_with() {
    for swap in ["program", "folder"] {
        let bench = Bench::new(SCRIPT).await;
        bench.write("workspace/a.txt", "a");
        let tools = PageAndMail::new();
        let agent = tools.agent(&bench);
        all(agent.chat(last("read the page")).await.unwrap()).await;
        if swap == "program" {
            *tools.mail.program.lock().unwrap() = "/tmp/true".into();
        } else {
            let workspace = bench.home.path().join("workspace");
            std::fs::rename(&workspace, bench.home.path().join("old")).unwrap();
            std::fs::create_dir(&workspace).unwrap();
        }
        let draft = agent.drafts().approve(DraftId(1), None).await.unwrap();
        assert_eq!((draft.state, tools.mail.runs()), (DraftState::Failed, 0), "{swap}");
        assert!(draft.detail.contains("not what they were"), "{}", draft.detail);
    }
}

/// Work goes on in the folder while a draft waits: what was kept is not lost by it, and does not run as something else.
// SEC-075
#[tokio::test]
async fn a_draft_whose_files_have_changed_waits_again_and_says_which() {
    let bench = Bench::new(SCRIPT).await;
    let tools = PageAndMail::new();
    bench.write("workspace/project/build.sh", "make");
    bench.write("bin/make", "the program");
    let path = |name: &str| bench.home.path().canonicalize().unwrap().join(name);
    *tools.mail.started.lock().unwrap() = Some(limpid_runtime::Started {
        program: path("bin/make"),
        files: Vec::new(),
        folder: path("workspace/project"),
        folders: Vec::new(),
        files_in: None,
    });
    let agent = tools.agent(&bench);
    all(agent.chat(last("read the page")).await.unwrap()).await;
    let seen = agent.drafts().get(DraftId(1)).await.unwrap().0.new.bound_hash().to_owned();
    bench.write("workspace/project/build.sh", "rm -r .");
    let again = agent.drafts().approve(DraftId(1), Some(&seen)).await.unwrap();
    assert_eq!((again.state, tools.mail.runs()), (DraftState::Open, 0));
    assert!(again.detail.contains("build.sh` has changed") && again.detail.contains("not run"), "{}", again.detail);
    assert!(agent.drafts().approve(DraftId(1), Some(&seen)).await.is_err(), "it is not what was looked at then");
    let now = again.new.bound_hash();
    let sent = agent.drafts().approve(DraftId(1), Some(now)).await.unwrap();
    assert_eq!((sent.state, tools.mail.runs()), (DraftState::Sent, 1), "{}", sent.detail);
}

// SEC-077
#[tokio::test]
async fn a_question_names_the_folder_that_a_program_starts_in() {
    for starts_something in [true, false] {
        let bench = Bench::new(SCRIPT).await;
        let tools = PageAndMail::new();
        bench.write("workspace/project/build.sh", "make");
        bench.write("bin/make", "the program");
        let path = |name: &str| bench.home.path().canonicalize().unwrap().join(name);
        *tools.mail.started.lock().unwrap() = starts_something.then(|| limpid_runtime::Started {
            program: path("bin/make"),
            files: Vec::new(),
            folder: path("workspace/project"),
            folders: Vec::new(),
            files_in: None,
        });
        let agent = tools.agent(&bench);
        all(agent.chat(last("read the page")).await.unwrap()).await;
        let expected = starts_something.then(|| path("workspace/project").display().to_string());
        let shown = agent.drafts().get(DraftId(1)).await.unwrap().0.new.folder;
        assert_eq!(shown, expected.unwrap_or_default(), "a call that starts nothing has none");
    }
}

/// A yes is one to the words that stood there: what a call could do besides is asked about in new ones.
// SEC-011 SEC-077
#[tokio::test]
async fn a_draft_says_what_its_call_can_do_by_now_and_a_yes_is_one_to_that() {
    let (_bench, tools, agent) = drafted().await;
    let can = |words: &str| *tools.mail.warning.lock().unwrap() = Some(words.to_owned());
    can("it can read your folders");
    let again = agent.drafts().approve(DraftId(1), None).await.unwrap();
    assert_eq!((again.state, tools.mail.runs()), (DraftState::Open, 0));
    assert!(again.new.why.contains("; it can read your folders"), "{}", again.new.why);
    assert!(again.detail.contains("what it can see, change and reach is new"), "{}", again.detail);
    let seen = again.new.bound_hash().to_owned();
    can("it can read your folders and the variables MY_TOKEN");
    let edited = agent.drafts().edit(DraftId(1), r#"{"to":"ada@example.com","text":"hello"}"#).await.unwrap();
    let why = "text from outside was read, and this would send something; \
               it can read your folders and the variables MY_TOKEN";
    assert_eq!(edited.new.why, why);
    assert!(agent.drafts().approve(DraftId(1), Some(&seen)).await.is_err(), "it is not what was looked at then");
    let sent = agent.drafts().approve(DraftId(1), Some(edited.new.bound_hash())).await.unwrap();
    assert_eq!((sent.state, tools.mail.runs()), (DraftState::Sent, 1), "{}", sent.detail);
}

/// Whoever answers for a host's name is told that it was looked up.
// SEC-022 SEC-100
#[tokio::test]
async fn a_name_is_looked_up_only_by_a_yes_that_fits() {
    let mut bench = Bench::new(SCRIPT).await;
    let settings = "model = \"openai/scripted\"\n[tools]\ndefer = false\n[web]\nalso = [\"192.168.7.7\"]\n";
    bench.config = Config::parse(settings, "limpid.toml").unwrap();
    let tools = PageAndMail::new();
    let agent = tools.agent(&bench);
    let events = all(agent.chat(last("read the page")).await.unwrap()).await;
    assert_eq!(agent.drafts().list(false).await.unwrap().rows.len(), 1, "{events:?}");
    let lookups = || tools.mail.lookups.load(std::sync::atomic::Ordering::SeqCst);
    *tools.mail.warning.lock().unwrap() = Some("it can read your folders".to_owned());
    let again = agent.drafts().approve(DraftId(1), None).await.unwrap();
    assert_eq!((again.state, tools.mail.runs(), lookups()), (DraftState::Open, 0, 0), "{}", again.detail);
    let sent = agent.drafts().approve(DraftId(1), Some(again.new.bound_hash())).await.unwrap();
    assert_eq!((sent.state, tools.mail.runs(), lookups() > 0), (DraftState::Sent, 1, true), "{}", sent.detail);
}

/// A draft waits for its yes also where its call would run unasked by now.
// SEC-011
#[tokio::test]
async fn an_edit_that_a_rule_lets_pass_says_what_it_would_do_all_the_same() {
    let (mut bench, tools, agent) = drafted().await;
    drop(agent);
    let rule = "[policy]\nallow = [{ tool = \"send_mail\", destination = \"ada@example.com\" }]\n";
    bench.config = Config::parse(&format!("model = \"openai/scripted\"\n{rule}"), "limpid.toml").unwrap();
    let agent = tools.agent(&bench);
    let edited = agent.drafts().edit(DraftId(1), r#"{"to":"ada@example.com","text":"hello"}"#).await.unwrap();
    assert_eq!((edited.state, tools.mail.runs()), (DraftState::Open, 0));
    assert_eq!(edited.new.why, "text from outside was read, and this would send something");
    let sent = agent.drafts().approve(DraftId(1), Some(edited.new.bound_hash())).await.unwrap();
    assert_eq!((sent.state, tools.mail.runs()), (DraftState::Sent, 1), "{}", sent.detail);
}

/// A rule that came later lets other calls go, and not this one as something else than was looked at.
// SEC-011
#[tokio::test]
async fn a_later_rule_does_not_stand_for_a_yes_to_something_else() {
    let (mut bench, tools, agent) = drafted().await;
    drop(agent);
    let rule = "model = \"openai/scripted\"\n[policy]\nallow = [{ tool = \"send_mail\" }]\n";
    bench.config = Config::parse(rule, "limpid.toml").unwrap();
    *tools.mail.program.lock().unwrap() = "/tmp/true".into();
    let agent = tools.agent(&bench);
    let draft = agent.drafts().approve(DraftId(1), None).await.unwrap();
    assert_eq!((draft.state, tools.mail.runs()), (DraftState::Failed, 0), "{}", draft.detail);
}

/// The workspace is made with whatever is first done in it; that is no other folder than the one that was approved.
// SEC-011
#[tokio::test]
async fn a_draft_of_a_home_without_a_workspace_can_be_carried_out() {
    let (bench, tools, agent) = drafted().await;
    bench.write("workspace/first.md", "made meanwhile");
    let draft = agent.drafts().approve(DraftId(1), None).await.unwrap();
    assert_eq!((draft.state, tools.mail.runs()), (DraftState::Sent, 1), "{}", draft.detail);
}

// SEC-010
#[tokio::test]
async fn a_draft_waits_seven_days_and_a_no_is_final() {
    let (bench, tools, agent) = drafted().await;
    bench.clock.forward(167.hours());
    assert_eq!(agent.drafts().list(false).await.unwrap().rows.len(), 1);
    bench.clock.forward(1.hours());
    assert!(agent.drafts().approve(DraftId(1), None).await.unwrap_err().to_string().contains("is expired"));
    assert!(agent.drafts().list(false).await.unwrap().rows.is_empty());

    let (_bench, other, agent) = drafted().await;
    assert_eq!(agent.drafts().refuse(DraftId(1)).await.unwrap().state, DraftState::Refused);
    assert!(agent.drafts().approve(DraftId(1), None).await.is_err());
    assert_eq!((tools.mail.runs(), other.mail.runs()), (0, 0));
}

// KAI-097 SEC-011
#[tokio::test]
async fn an_edit_is_checked_and_voids_what_was_looked_at() {
    let (_bench, tools, agent) = drafted().await;
    let seen = agent.drafts().get(DraftId(1)).await.unwrap().0.new.hash;
    for wrong in ["{", r#"{"to":7}"#] {
        agent.drafts().edit(DraftId(1), wrong).await.unwrap_err();
    }
    assert_eq!(agent.drafts().get(DraftId(1)).await.unwrap().0.new.hash, seen, "a wrong edit changes nothing");
    let edited = agent.drafts().edit(DraftId(1), r#"{"to":"ada@example.com","text":"no secret"}"#).await.unwrap();
    assert_eq!(edited.new.destination.as_deref(), Some("ada@example.com"));
    assert_ne!(edited.new.hash, seen);
    let stale = agent.drafts().approve(DraftId(1), Some(&seen)).await.unwrap_err();
    assert!(stale.to_string().contains("not what was looked at"), "{stale}");
    assert_eq!(tools.mail.runs(), 0);
    let sent = agent.drafts().approve(DraftId(1), Some(&edited.new.hash[..32])).await.unwrap();
    assert_eq!((sent.state, tools.mail.runs()), (DraftState::Sent, 1));
    assert_eq!(tools.mail.runs.lock().unwrap()[0]["text"], "no secret");
    assert!(agent.drafts().edit(DraftId(1), "{}").await.is_err(), "it was sent");
}

/// Whoever has a chat begin many turns gets no more places in it: an agent that comes back begins one, too.
// SEC-102
#[tokio::test]
async fn a_chat_that_read_a_page_has_the_places_of_one_turn_in_all_its_turns() {
    let call = |n| format!("{{ id = \"m{n}\", name = \"send_mail\", arguments = {{ to = \"eve{n}@example.com\" }} }}");
    let calls = |from: u32| (from..from + 6).map(call).collect::<Vec<_>>().join(", ");
    let turn = |from| format!("[[reply]]\ncalls = [{}]\n[[reply]]\ntext = \"Done.\"\n", calls(from));
    let read = "[[reply]]\ncalls = [{ id = \"r\", name = \"read_page\" }]\n";
    let bench = Bench::new(&format!("{read}{}{}", turn(0), turn(6))).await;
    let agent = PageAndMail::new().agent(&bench);
    for waiting in [6, 10] {
        all(agent.chat(last("go on")).await.unwrap()).await;
        assert_eq!(agent.drafts().list(false).await.unwrap().rows.len(), waiting);
    }
}

/// Whatever pages had kept in however many chats, the owner's clean turns have all of their places.
// KAI-097 SEC-102
#[tokio::test]
async fn no_more_than_twenty_drafts_wait() {
    let calls = |from: u32, to: u32| {
        let call =
            |n| format!("{{ id = \"m{n}\", name = \"send_mail\", arguments = {{ to = \"eve{n}@example.com\" }} }}");
        let calls: Vec<String> = (from..to).map(call).collect();
        format!("[[reply]]\ncalls = [{}]\n[[reply]]\ntext = \"Done.\"\n", calls.join(", "))
    };
    let read = "[[reply]]\ncalls = [{ id = \"r\", name = \"read_page\" }]\n";
    let pages: String = (0..3).map(|page| format!("{read}{}", calls(page * 11, page * 11 + 11))).collect();
    let script = format!("{pages}{}", calls(33, 55));
    let bench = Bench::new(&script).await;
    let tools = PageAndMail::new();
    let agent = tools.agent(&bench);
    let waiting = async || agent.drafts().list(false).await.unwrap().rows.len();
    let refused = || {
        let told = bench.server.calls().last().unwrap().text();
        told.matches("too many drafts wait for the owner already").count()
    };
    // What one page led to leaves room to the next.
    for expected in [(10, 1), (15, 6), (15, 11)] {
        all(agent.chat(new_chat("read the page")).await.unwrap()).await;
        assert_eq!((waiting().await, refused()), expected);
    }
    // Where nothing was read there are places of its own, and no more.
    all(agent.chat(new_chat("write to all")).await.unwrap()).await;
    assert_eq!((waiting().await, refused()), (35, 2));
    assert_eq!(tools.mail.runs(), 0);
}

/// Two from a run that nobody asked for and that read a page, five from one that read nothing; the owner is told where reports go.
// KAI-097 SEC-093
#[tokio::test]
async fn a_run_in_the_background_makes_five_drafts_at_most_and_two_after_a_strangers_text() {
    let calls: Vec<String> = (0..6)
        .map(|n| format!("{{ id = \"m{n}\", name = \"send_mail\", arguments = {{ to = \"eve{n}@example.com\" }} }}"))
        .collect();
    let sends = format!("[[reply]]\ncalls = [{}]\n[[reply]]\ntext = \"Done.\"\n", calls.join(", "));
    for (read, kept) in [("[[reply]]\ncalls = [{ id = \"r\", name = \"read_page\" }]\n", 2), ("", 5)] {
        let mut bench = Bench::new(&format!("{read}{sends}")).await;
        let config =
            "model = \"openai/scripted\"\n[tools]\ndefer = false\n[policy]\nask = [{ tool = \"send_mail\" }]\n";
        bench.config = Config::parse(config, "limpid.toml").unwrap();
        let tools = PageAndMail::new();
        let agent = tools.agent(&bench);
        let run = ChatRequest { path: Some("task".to_owned()), ..last("write to six") };
        all(agent.chat(run).await.unwrap()).await;
        assert_eq!(agent.drafts().list(false).await.unwrap().rows.len(), kept);
        let said = bench.server.calls().last().unwrap().text();
        assert_eq!(said.matches("Say in your answer what was not done").count(), 6 - kept, "{said}");
        agent.conversations().deliver_waiting().await.unwrap();
        let told = agent.deliveries().unread().await.unwrap().rows;
        assert_eq!(told.len(), kept);
        assert!(told[0].new.text.starts_with("Draft 1 waits for you"), "{told:?}");
        assert_eq!(told[0].new.title, "send_mail to eve0@example.com");
    }
}

/// The next request of the chat that a draft came from says in one line what the owner has made of it, with the draft's label.
// SEC-010
#[tokio::test]
async fn the_chat_learns_what_the_owner_made_of_a_draft() {
    for (is_yes, line) in [
        (true, "Draft 1 was sent (send_mail to eve@example.com): send_mail done"),
        (false, "Draft 1 was refused (send_mail to eve@example.com)"),
    ] {
        let (bench, tools, agent) = drafted().await;
        let ended = match is_yes {
            true => agent.drafts().approve(DraftId(1), None).await,
            false => agent.drafts().refuse(DraftId(1)).await,
        };
        let chat = ended.unwrap().new.conversation;
        drop(agent);
        let agent = tools.agent(&bench);
        all(agent.chat(last("And now?")).await.unwrap()).await;
        let request = bench.server.calls().last().unwrap().text();
        assert_eq!(request.matches(line).count(), 1, "{request}");
        let told = agent.store().messages(&chat, None).await.unwrap().rows;
        let told: Vec<_> = told.iter().filter(|row| row.message.text == line).map(|row| row.message.trust).collect();
        assert_eq!(told, [Trust::Outside]);
    }
}

/// The run of a private chat's task tells of its draft where reports go, which others may read: they learn that there is one.
// SEC-010 SEC-065 PICO-029
#[tokio::test]
async fn others_who_read_the_reports_learn_neither_why_a_draft_waits_nor_what_it_came_to() {
    for audience in [Audience::Owner, Audience::Group] {
        let bench = Bench::new(&format!("[[reply]]\ntext = \"Hello.\"\n{SCRIPT}")).await;
        let agent = PageAndMail::new().agent(&bench);
        all(agent.chat(new_chat("hi")).await.unwrap()).await;
        let chat = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
        let reports = agent.directory().reports().await.unwrap();
        agent.conversations().set_audience(&reports, audience).await.unwrap();
        let look = reminder("Look at the page", When::In(60));
        let task = TaskRequest { kind: TaskKind::Agent, conversation: Some(chat), ..look };
        agent.tasks().add(task).await.unwrap();
        agent.jobs().run_task("1").await.unwrap();
        agent.drafts().approve(DraftId(1), None).await.unwrap();
        agent.conversations().deliver_waiting().await.unwrap();
        let told = transcript(&agent, reports.as_str()).await;
        let (waits, sent) = match audience {
            Audience::Owner => (
                "It calls send_mail to eve@example.com. It waits: text from outside was read",
                "Draft 1 was sent (send_mail to eve@example.com): send_mail done",
            ),
            _ => ("It calls send_mail.", "Draft 1 was sent (send_mail)"),
        };
        assert!(told.contains(waits) && told.contains(sent), "{told}");
        let is_private = audience == Audience::Owner;
        for private in ["eve@example.com", "send_mail done", "text from outside"] {
            assert_eq!(told.contains(private), is_private, "{private}: {told}");
        }
        let rows = agent.store().deliveries(10).await.unwrap().rows;
        let mut titles = rows.iter().filter(|row| row.new.conversation == reports).map(|row| row.new.title.as_str());
        assert!(titles.all(|title| title.contains("eve@example.com") == is_private), "{rows:?}");
    }
}

/// What nobody answered in time is told in the chat that it came from.
// SEC-010
#[tokio::test]
async fn the_chat_learns_that_a_draft_is_too_old() {
    let (bench, _tools, agent) = drafted().await;
    bench.clock.forward(200.hours());
    for _ in 0..2 {
        assert!(agent.drafts().list(false).await.unwrap().rows.is_empty());
        agent.conversations().deliver_waiting().await.unwrap();
    }
    let told = agent.deliveries().unread().await.unwrap().rows;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].new.text, "Draft 1 expired: nobody answered in time (send_mail to eve@example.com).");
    assert_eq!(told[0].new.conversation, agent.drafts().get(DraftId(1)).await.unwrap().0.new.conversation);
}

/// An agent that serves expires drafts by itself.
// SEC-010
#[tokio::test]
async fn a_draft_expires_by_its_timer() {
    let (bench, _tools, agent) = drafted().await;
    let timers = agent.store().timers().await.unwrap().rows;
    let expires_ms = agent.drafts().get(DraftId(1)).await.unwrap().0.new.expires_ms;
    assert_eq!((timers[0].kind.as_str(), timers[0].due_ms), ("expiry", expires_ms));
    bench.clock.forward(168.hours());
    let (done, is_done) = tokio::sync::oneshot::channel();
    let done = std::sync::Mutex::new(Some(done));
    let log = move |event: &ServeEvent| {
        if matches!(event, ServeEvent::Done { .. }) {
            let _ = done.lock().unwrap().take().map(|done| done.send(()));
        }
    };
    agent.jobs().serve(log, async { is_done.await.unwrap() }).await.unwrap();
    let draft = agent.store().draft(DraftId(1)).await.unwrap().unwrap();
    assert_eq!(draft.state, DraftState::Expired);
    assert!(agent.store().timers().await.unwrap().rows.iter().all(|timer| timer.kind != "expiry"));
}

// SEC-002 SEC-040
#[tokio::test]
async fn a_question_that_a_crash_cut_off_becomes_one_draft() {
    let bench = Bench::new(SCRIPT).await;
    let tools = PageAndMail::new();
    let agent = tools.agent(&bench);
    let mut handle = agent.chat(ChatRequest { can_answer: true, ..last("read the page") }).await.unwrap();
    while !matches!(handle.next().await, Some(TurnEvent::ApprovalRequested { .. })) {}
    let conversation = handle.conversation().clone();
    // Whoever could have answered is gone, and with them the question: the turn goes on without its answer.
    drop(handle);
    for _ in 0..500 {
        if agent.store().messages(&conversation, None).await.unwrap().rows.len() >= 6 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let rows = agent.drafts().list(false).await.unwrap().rows;
    assert_eq!((rows.len(), tools.mail.runs()), (1, 0));
    let messages = agent.store().messages(&conversation, None).await.unwrap().rows;
    // A notice of the draft follows the answer, since nobody listened.
    assert_eq!(messages[5].message.text, "Done.");
}

// SEC-002 SEC-078 LES-073
#[tokio::test]
async fn a_lasting_yes_holds_for_its_pattern_in_its_conversation_over_a_restart() {
    let again = |to: &str| {
        format!(
            "[[reply]]\ncalls = [{{ name = \"send_mail\", arguments = {{ to = \"{to}\" }} }}]\n[[reply]]\ntext = \"ok\"\n"
        )
    };
    let script =
        format!("{SCRIPT}{}{}{}", again("eve@example.com"), again("bob@example.com"), again("eve@example.com"));
    let bench = Bench::new(&script).await;
    let tools = PageAndMail::new();
    let asked = async |agent: &Agent, request: ChatRequest| {
        let mut handle = agent.chat(ChatRequest { can_answer: true, ..request }).await.unwrap();
        let mut asked = 0;
        while let Some(event) = handle.next().await {
            if let TurnEvent::ApprovalRequested { parts, .. } = &event {
                handle.answer(&parts[0].id, if asked == 0 { ApprovalAnswer::Always } else { ApprovalAnswer::No });
                asked += 1;
            }
            if event.is_last() {
                break;
            }
        }
        asked
    };
    let agent = tools.agent(&bench);
    assert_eq!(asked(&agent, last("read the page")).await, 1);
    drop(agent);
    let agent = tools.agent(&bench);
    assert_eq!(asked(&agent, last("and again")).await, 0, "the same person");
    assert_eq!(asked(&agent, last("and Bob")).await, 1, "another one");
    let new = ChatRequest { conversation: ConversationChoice::New, ..last("to Eve") };
    assert_eq!(asked(&agent, new).await, 1, "sending is asked about in another conversation");
}

/// However many messages of strangers come, runs that read none of them find all of their places for what they would do; and whatever
/// one of them led to, the next one finds some too.
// SEC-093 SEC-102
#[tokio::test]
async fn drafts_that_strangers_led_to_leave_the_places_of_a_run_to_a_clean_one() {
    let sends = |run: u32| {
        let call =
            |n| format!("{{ id = \"m{n}\", name = \"send_mail\", arguments = {{ to = \"{run}-{n}@example.com\" }} }}");
        let calls: Vec<String> = (0..5).map(call).collect();
        format!("[[reply]]\ncalls = [{}]\n[[reply]]\ntext = \"Done.\"\n", calls.join(", "))
    };
    let read = "[[reply]]\ncalls = [{ id = \"r\", name = \"read_page\" }]\n";
    let foreign: String = (1..=4).map(|run| format!("{read}{}", sends(run))).collect();
    let mut bench = Bench::new(&format!("{foreign}{}{}", sends(5), sends(6))).await;
    let config = "model = \"openai/scripted\"\n[tools]\ndefer = false\n[policy]\nask = [{ tool = \"send_mail\" }]\n";
    bench.config = Config::parse(config, "limpid.toml").unwrap();
    let tools = PageAndMail::new();
    let agent = tools.agent(&bench);
    let mut waiting = Vec::new();
    for _ in 0..6 {
        let task = TaskRequest { kind: TaskKind::Agent, ..reminder("Do what there is to do.", When::In(60)) };
        agent.tasks().add(task).await.unwrap();
        bench.clock.forward(2.minutes());
        agent.jobs().run_due().await.unwrap();
        waiting.push(agent.drafts().list(false).await.unwrap().rows.len());
    }
    assert_eq!((waiting, tools.mail.runs()), (vec![2, 4, 5, 5, 10, 15], 0));
}
