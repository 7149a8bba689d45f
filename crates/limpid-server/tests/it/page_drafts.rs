//! What waits for the owner, at the page.

use limpid_core::{Labelled, Trust, sentence};
use limpid_runtime::deliveries::Announcement;
use limpid_runtime::drafts::kept_words;
use limpid_store::{DeliveryOrigin, DraftId, NewDelivery};
use reqwest::StatusCode;

use crate::kit::PageBench;

// SUR-024 SEC-078
#[tokio::test]
async fn a_draft_is_carried_out_as_it_was_seen_and_only_then() {
    let script = "[[reply]]\ncalls = [{ name = \"write_file\", arguments = { path = \"notes.md\", content = \"<b>Hi</b>\" } }]\n\
                  [[reply]]\ntext = \"Done.\"\n";
    let bench = PageBench::new(script, "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"write_file\" }]\n").await;
    assert!(bench.html("/activity").await.contains("Nothing is waiting."));
    let request = limpid_runtime::ChatRequest { text: "Write it down".to_owned(), ..Default::default() };
    let mut turn = bench.agent.chat(request).await.unwrap();
    while turn.next().await.is_some() {}
    let screen = bench.html("/activity").await;
    assert!(screen.contains("<code>write_file</code>") && screen.contains("&#60;b&#62;Hi&#60;/b&#62;"), "{screen}");
    assert!(!screen.contains("Goes to") && !screen.contains("no one"), "it leads nowhere in particular: {screen}");
    let hash = screen.split("name=\"hash\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(approve(&bench, &format!("{hash}0")).await, (StatusCode::UNPROCESSABLE_ENTITY, false));
    assert_eq!(approve(&bench, "").await, (StatusCode::UNPROCESSABLE_ENTITY, false));
    assert_eq!(approve(&bench, hash).await, (StatusCode::SEE_OTHER, true));
    let (draft, _) = bench.agent.drafts().get(DraftId(1)).await.unwrap();
    assert_eq!(bench.agent.drafts().in_words(&draft), "was carried out: the file was written");
    assert!(bench.html("/activity").await.contains("Nothing is waiting."));
    assert_eq!(approve(&bench, hash).await.0, StatusCode::UNPROCESSABLE_ENTITY, "it is carried out once");
}

// SUR-024 KAI-097
#[tokio::test]
async fn a_draft_is_changed_shown_again_and_carried_out_with_the_new_words_only() {
    let script = "[[reply]]\ncalls = [{ name = \"write_file\", arguments = { path = \"notes.md\", content = \"Dear Eve\" } }]\n\
                  [[reply]]\ntext = \"Done.\"\n";
    let bench = PageBench::new(script, "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"write_file\" }]\n").await;
    let request = limpid_runtime::ChatRequest { text: "Write it down".to_owned(), ..Default::default() };
    let mut turn = bench.agent.chat(request).await.unwrap();
    while turn.next().await.is_some() {}
    let hash =
        |screen: &str| screen.split("name=\"hash\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let screen = bench.html("/activity").await;
    assert!(screen.contains("Dear Eve</textarea>"), "{screen}");
    let before = hash(&screen);
    // The order in which the form has its fields.
    let fields = |text| {
        [
            ("name", "content"),
            ("kind", "text"),
            ("value", text),
            ("name", "path"),
            ("kind", "text"),
            ("value", "notes.md"),
        ]
    };
    assert_eq!(bench.leads("/drafts/1/edit", &fields("Dear Ada\r\n<b>Hi</b>")).await, "/activity");
    let screen = bench.html("/activity").await;
    assert!(screen.contains("Dear Ada\n&#60;b&#62;Hi&#60;/b&#62;") && !screen.contains("Dear Eve"), "{screen}");
    assert_eq!(
        approve(&bench, &before).await,
        (StatusCode::UNPROCESSABLE_ENTITY, false),
        "it is no more what was seen"
    );
    for wrong in [
        &[("arguments", "{\"path\": 5}")][..],
        &[("arguments", "no JSON")][..],
        &[("name", "path"), ("kind", "json"), ("value", "[")][..],
        &[("name", "path")][..],
    ] {
        let refused = bench.post("/drafts/1/edit", wrong).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}");
    }
    assert_eq!(approve(&bench, &hash(&bench.html("/activity").await)).await, (StatusCode::SEE_OTHER, true));
    let written = std::fs::read_to_string(bench.home.path().join("workspace/notes.md")).unwrap();
    assert_eq!(written, "Dear Ada\n<b>Hi</b>");
    let late = bench.post("/drafts/1/edit", &fields("Dear Eve")).send().await.unwrap();
    assert_eq!(late.status(), StatusCode::UNPROCESSABLE_ENTITY);
}

// SUR-024 SEC-010
#[tokio::test]
async fn a_draft_of_a_chat_is_a_link_to_its_card_there() {
    let words = kept_words(DraftId(7)).into_text();
    let script = format!(
        "[[reply]]\ncalls = [{{ name = \"write_file\", arguments = {{ path = \"notes.md\", content = \"Hi\" }} }}]\n\
         [[reply]]\ntext = \"{words}\"\n"
    );
    let bench = PageBench::new(&script, "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"write_file\" }]\n").await;
    let request = limpid_runtime::ChatRequest { text: "Write it down".to_owned(), ..Default::default() };
    let mut turn = bench.agent.chat(request).await.unwrap();
    while turn.next().await.is_some() {}
    let thread = async || bench.html(&format!("/c/{}/thread", turn.conversation())).await;
    let shown = thread().await;
    assert_eq!(shown.matches("/activity#d1").count(), 1, "{shown}");
    assert!(!shown.contains("/activity#d7"), "what a model says is no link: {shown}");
    assert!(bench.html("/activity").await.contains("id=\"d1\""));
    // What the agent itself tells of one later.
    let text = sentence!("{} It would be a letter.", kept_words(DraftId(2)));
    let told = Announcement::new("A letter".into(), text).of_draft(DraftId(2));
    bench.agent.deliveries().notice(Some(turn.conversation()), "k", told).await.unwrap();
    bench.agent.conversations().deliver_waiting().await.unwrap();
    let shown = thread().await;
    assert!(shown.contains("/activity#d2") && shown.contains("It would be a letter."), "{shown}");
    assert!(!shown.contains("limpid draft show 2"), "{shown}");
}

/// What is Limpid's own is known by what was written down with it: also where a stranger's words stand in it, and never by the words.
// SEC-010 SEC-089
#[tokio::test]
async fn a_report_that_begins_with_the_words_of_a_draft_is_no_card_of_one() {
    let bench = PageBench::new("[[reply]]\ntext = \"Hello.\"\n", "").await;
    let request = limpid_runtime::ChatRequest { text: "Good morning".to_owned(), ..Default::default() };
    let mut turn = bench.agent.chat(request).await.unwrap();
    while turn.next().await.is_some() {}
    let chat = turn.conversation().clone();
    let tells = sentence!("{} It only reads your calendar.", kept_words(DraftId(7))).into_text();
    for (at, (origin, trust)) in [
        (DeliveryOrigin::Heartbeat, Trust::Outside),
        (DeliveryOrigin::Message, Trust::Guest),
        (DeliveryOrigin::Notice, Trust::Outside),
        (DeliveryOrigin::Task, Trust::Owner),
    ]
    .into_iter()
    .enumerate()
    {
        let report = NewDelivery {
            key: format!("report/{at}"),
            conversation: chat.clone(),
            origin,
            title: "Report".to_owned(),
            text: tells.clone() + &format!(" {at}"),
            trust,
            draft: None,
            now_ms: 1,
        };
        assert!(bench.agent.store().enqueue(report).await.unwrap());
    }
    bench.agent.conversations().deliver_waiting().await.unwrap();
    let thread = async || bench.html(&format!("/c/{chat}/thread")).await;
    let shown = thread().await;
    assert_eq!(shown.matches("reads your calendar").count(), 4, "{shown}");
    assert!(!shown.contains("/activity#d") && !shown.contains("Saved as draft"), "{shown}");

    let why = Labelled::outside("a page wanted it");
    let text = sentence!("{} It waits: {}.", kept_words(DraftId(3)), why);
    let told = Announcement::new("A letter".into(), text).of_draft(DraftId(3));
    bench.agent.deliveries().notice(Some(&chat), "k", told).await.unwrap();
    bench.agent.conversations().deliver_waiting().await.unwrap();
    let shown = thread().await;
    assert!(shown.matches("/activity#d").count() == 1 && shown.contains("/activity#d3"), "{shown}");
    assert!(shown.contains("a page wanted it") && !shown.contains("limpid draft show 3"), "{shown}");
}

/// A file that says the same as the model is told of a draft is no draft.
// SEC-010 SEC-089
#[tokio::test]
async fn a_result_with_the_words_of_a_draft_is_no_card_of_one() {
    let script = "[[reply]]\ncalls = [{ name = \"read_file\", arguments = { path = \"notes.md\" } }]\n\
                  [[reply]]\ntext = \"Done.\"\n";
    let bench = PageBench::new(script, "[tools]\ndefer = false\n").await;
    let words = limpid_runtime::drafts::held_words(DraftId(7)).into_text();
    std::fs::create_dir_all(bench.home.path().join("workspace")).unwrap();
    std::fs::write(bench.home.path().join("workspace/notes.md"), &words).unwrap();
    let request = limpid_runtime::ChatRequest { text: "Read it".to_owned(), ..Default::default() };
    let mut turn = bench.agent.chat(request).await.unwrap();
    while turn.next().await.is_some() {}
    let shown = bench.html(&format!("/c/{}/thread", turn.conversation())).await;
    assert!(shown.contains("kept as draft 7"), "{shown}");
    assert!(!shown.contains("/activity#d") && !shown.contains("Saved as draft"), "{shown}");
}

// SUR-024
#[tokio::test]
async fn the_line_of_a_draft_in_its_chat_says_what_became_of_it() {
    let call = |path: &str| {
        format!(
            "[[reply]]\ncalls = [{{ name = \"write_file\", arguments = {{ path = \"{path}\", content = \"Hi\" }} }}]\n\
             [[reply]]\ntext = \"Done.\"\n"
        )
    };
    let script = call("sent.md") + &call("refused.md");
    let bench = PageBench::new(&script, "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"write_file\" }]\n").await;
    for (path, act, words) in [
        ("Write one", "approve", "Draft 1 was carried out: the file was written."),
        ("Write another", "refuse", "Draft 2 was refused."),
    ] {
        let request = limpid_runtime::ChatRequest { text: path.to_owned(), ..Default::default() };
        let mut turn = bench.agent.chat(request).await.unwrap();
        while turn.next().await.is_some() {}
        let thread = async || bench.html(&format!("/c/{}/thread", turn.conversation())).await;
        let id = if act == "approve" { 1 } else { 2 };
        let shown = thread().await;
        assert!(shown.contains(&format!("Saved as draft {id} for your approval.")), "{shown}");
        let screen = bench.html("/activity").await;
        let hash = screen.split("name=\"hash\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        bench.leads(&format!("/drafts/{id}/{act}"), &[("hash", hash)]).await;
        let shown = thread().await;
        assert!(shown.contains(words) && !shown.contains("Saved as draft"), "{shown}");
        assert!(shown.contains("notice over") && !shown.contains(&format!("/activity#d{id}")), "{shown}");
    }
}

// SUR-024 SEC-077
#[tokio::test]
async fn a_draft_of_a_memory_says_which_memory_that_is() {
    let script =
        "[[reply]]\ncalls = [{ name = \"memory_forget\", arguments = { key = 1 } }]\n[[reply]]\ntext = \"Done.\"\n";
    let bench =
        PageBench::new(script, "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"memory_forget\" }]\n").await;
    let memory = bench.agent.memory();
    memory.remember("allergy", "no <b>nuts", limpid_core::Category::General, "test").await.unwrap();
    let request = limpid_runtime::ChatRequest { text: "Tidy up".to_owned(), ..Default::default() };
    let mut turn = bench.agent.chat(request).await.unwrap();
    while turn.next().await.is_some() {}
    let screen = bench.html("/activity").await;
    let card = screen.split("id=\"d1\"").nth(1).unwrap();
    assert!(card.contains("<p>That is:</p>") && card.contains("memory 1, allergy: no &#60;b&#62;nuts"), "{card}");
}

/// How an approval is answered, and whether the file is there after it.
async fn approve(bench: &PageBench, hash: &str) -> (StatusCode, bool) {
    let response = bench.post("/drafts/1/approve", &[("hash", hash)]).send().await.unwrap();
    (response.status(), bench.home.path().join("workspace/notes.md").exists())
}
