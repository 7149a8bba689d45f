//! The list of conversations at the page and for programs: what is found, archived and deleted.

use limpid_core::{ConversationId, Trust};
use limpid_server::ApiRole;
use limpid_store::{Audience, ConversationKind, NewConversation};
use reqwest::StatusCode;
use reqwest::header::AUTHORIZATION;
use serde_json::{Value, json};

use crate::api_kit::{ApiBench, answer};
use crate::kit::PageBench;

const ANSWER: &str = "[[reply]]\ntext = \"The train <b>to</b> Bern leaves at ten.\"\n";

fn is_reload(piece: &Value) -> bool {
    piece["of"] == "reload"
}

impl PageBench {
    /// Says something, and waits for the answer; the conversation.
    async fn talk(&self, fields: &[(&str, &str)]) -> String {
        let told = self.sent("/c/new/send", fields).await;
        let id = told["conversation"].as_str().unwrap().to_owned();
        self.pieces(&id, "", is_reload).await;
        id
    }

    async fn rows(&self, query: &str) -> String {
        let response = self.get(&format!("/talks?{query}")).send().await.unwrap();
        let told: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        told["html"].as_str().unwrap().to_owned()
    }
}

// SUR-020 SEC-053
#[tokio::test]
async fn what_was_said_is_found_escaped_and_a_strangers_words_are_marked() {
    let script = format!("{ANSWER}[[reply]]\ntext = \"About a zebra.\"\n{ANSWER}");
    let bench = PageBench::new(&script, "").await;
    let id = bench.talk(&[("text", "when does it go?")]).await;
    let found = bench.rows("words=bern+TRAIN").await;
    assert!(found.contains("The <mark>train</mark> &#60;b&#62;to&#60;/b&#62; <mark>Bern</mark> leaves"), "{found}");
    assert!(found.contains(&format!("href=\"/c/{id}?all=true#m")) && !found.contains("foreign"), "{found}");
    // What is put around a message for the model was not said.
    assert!(bench.rows("words=context").await.contains("Nothing has these words."));
    let files = r#"[{"name":"page.txt","text":"The <i>zebra</i> pays well."}]"#;
    bench.talk(&[("text", "what is it about?"), ("files", files)]).await;
    for (words, who) in [("zebra+pays", "Someone else:"), ("about+a+zebra", "Limpid, after outside text:")] {
        let found = bench.rows(&format!("words={words}")).await;
        assert!(found.contains(who) && found.contains("<bdi class=\"foreign\">"), "{words}: {found}");
    }
    assert!(bench.rows("words=%22+%27+*").await.contains("what is it about?"), "no word is no search");
    bench.talk(&[("text", ""), ("pasted", "Backup: done\ntwo\nthree\nfour\nfive")]).await;
    let listed = bench.rows("").await;
    let heard = "<span class=\"vh\">someone else’s: </span><bdi class=\"foreign\">Backup: done";
    assert!(listed.contains(heard), "a title that a stranger wrote: {listed}");
    assert!(listed.contains("aria-label=\"Archive someone else’s: Backup: done"), "{listed}");
    assert!(!listed.contains("<bdi class=\"foreign\">what is it") && !listed.contains("s: what is it"), "{listed}");
}

/// A guest's conversation is the owner's to see, as a guest's.
// SUR-020 SEC-030
#[tokio::test]
async fn the_door_keeps_the_list_and_guests_words_are_theirs() {
    let bench = PageBench::new(ANSWER, "").await;
    for request in [
        bench.client.get(format!("{}/talks?words=a", bench.url)),
        bench.client.get(format!("{}/events", bench.url)),
        bench.client.post(format!("{}/c/x/delete", bench.url)),
    ] {
        let status = request.send().await.unwrap().status();
        assert!(status.is_client_error() || status.is_redirection(), "{status}");
    }
    let new = NewConversation {
        id: ConversationId::new("guests"),
        kind: ConversationKind::Chat,
        title: "a guest asks".to_owned(),
        profile: "limpid".to_owned(),
        mode: None,
        model: None,
        audience: Audience::Strangers,
        now_ms: 1,
    };
    bench.agent.store().create_conversation(new).await.unwrap();
    let found = bench.rows("words=guest").await;
    assert!(found.contains("a guest asks") && found.contains("<span class=\"tag\">Program</span>"), "{found}");
}

// SUR-020 SEC-065
#[tokio::test]
async fn a_conversation_that_others_read_says_so_in_the_list_and_above_its_messages() {
    let bench = PageBench::new(ANSWER, "").await;
    let id = bench.talk(&[("text", "first")]).await;
    let says = "Others can read this conversation too; `/group off` ends that.";
    let notice = |hidden: &str| format!("id=\"others-read\"{hidden}>{says}<");
    let path = format!("/c/{id}");
    assert!(bench.html(&path).await.contains(&notice(" hidden")));
    bench.sent(&format!("{path}/send"), &[("text", "/group on")]).await;
    let screen = bench.html(&path).await;
    assert!(screen.contains(&notice("")), "{screen}");
    let thread: Value = serde_json::from_str(&bench.html(&format!("{path}/thread")).await).unwrap();
    assert_eq!(thread["others_read"], true, "a screen that is open learns it too");
    let rows = bench.rows("").await;
    assert!(rows.contains("<span class=\"tag\">Group</span>"), "{rows}");
}

// SUR-020
#[tokio::test]
async fn a_conversation_is_archived_brought_back_and_deleted_at_the_page() {
    let bench = PageBench::new(&ANSWER.repeat(2), "").await;
    let first = bench.talk(&[("text", "first")]).await;
    let second = bench.talk(&[("text", "second")]).await;
    let put = async |archived: &'static str| {
        let path = format!("/c/{second}/archive");
        bench.sent(&path, &[("archived", archived)]).await
    };
    assert_eq!(put("true").await, json!({ "archived": true, "title": "second" }));
    let screen = bench.html(&format!("/c/{first}")).await;
    assert!(screen.contains("\">first<") && !screen.contains(&format!("/c/{second}\"")), "{screen}");
    assert!(bench.html(&format!("/c/{second}")).await.contains("id=\"archived\">"), "it says where it is");
    assert!(bench.rows("kind=archived").await.contains(&format!("/c/{second}\"")));
    let to = bench.get("/").send().await.unwrap().headers()["location"].to_str().unwrap().to_owned();
    assert_eq!(to, format!("/c/{first}"), "the page opens with one that is not archived");
    assert_eq!(put("false").await["archived"], false);
    assert!(bench.rows("").await.contains(&format!("/c/{second}\"")));

    bench
        .agent
        .store()
        .store_memory(limpid_store::NewMemory {
            key: Some("k".to_owned()),
            content: "a memory".to_owned(),
            category: limpid_core::Category::General,
            trust: Trust::Outside,
            author: limpid_store::Author::Said,
            source: None,
            now_ms: 1,
        })
        .await
        .unwrap();
    let before = bench.html("/cost").await;
    assert_eq!(bench.sent(&format!("/c/{second}/delete"), &[]).await["title"], "second");
    for path in [format!("/c/{second}"), format!("/c/{second}/thread")] {
        assert!(bench.get(&path).send().await.unwrap().status().is_client_error(), "{path}");
    }
    assert!(!bench.rows("words=second").await.contains(&second));
    assert_eq!(bench.agent.store().memories(None).await.unwrap().rows[0].trust, Trust::Outside);
    let figures =
        |screen: &str| screen.split("<dl class=\"figures").nth(1).unwrap().split("</dl>").next().unwrap().to_owned();
    assert_eq!(figures(&bench.html("/cost").await), figures(&before));
    let reports = bench.agent.directory().reports().await.unwrap();
    let refused = bench.post(&format!("/c/{reports}/delete"), &[]).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text().await.unwrap().contains("Archive it instead"));
}

// SUR-020 SUR-030 SEC-030
#[tokio::test]
async fn programs_of_the_owner_rename_archive_and_delete_and_others_do_not() {
    let bench = ApiBench::new(ANSWER, "").await;
    let (_, made) = bench.ask("/v1/conversations", &json!({})).await;
    let path = format!("/v1/conversations/{}", made["id"].as_str().unwrap());
    let url = format!("{}{path}", bench.page.url);
    let as_owner = |request: reqwest::RequestBuilder| request.header(AUTHORIZATION, format!("Bearer {}", bench.token));
    let change = |body: Value| answer(as_owner(bench.page.client.patch(&url)).json(&body));
    let (status, now) = change(json!({ "title": " Tea \n time", "archived": true })).await;
    assert_eq!((status, &now["title"], &now["archived"]), (StatusCode::OK, &json!("Tea time"), &json!(true)));
    assert_eq!(bench.look("/v1/conversations").await.1["conversations"], json!([]));
    assert_eq!(bench.look("/v1/conversations?archived=true").await.1["conversations"][0]["id"], made["id"]);
    for wrong in [json!({ "title": " " }), json!({ "archived": "no" }), json!({ "kind": "task" }), json!([])] {
        assert_eq!(change(wrong.clone()).await.0, StatusCode::BAD_REQUEST, "{wrong}");
    }
    assert_eq!(change(json!({ "archived": false })).await.1["title"], "Tea time");

    let program = crate::api_kit::token(&bench.page, "guests", ApiRole::Program);
    let as_program = |request: reqwest::RequestBuilder| request.header(AUTHORIZATION, format!("Bearer {program}"));
    for request in [bench.page.client.patch(&url).json(&json!({})), bench.page.client.delete(&url)] {
        assert_eq!(as_program(request).send().await.unwrap().status(), StatusCode::FORBIDDEN);
    }
    let delete = || as_owner(bench.page.client.delete(&url)).send();
    assert_eq!(delete().await.unwrap().status(), StatusCode::NO_CONTENT);
    assert_eq!(delete().await.unwrap().status(), StatusCode::NOT_FOUND);
    assert_eq!(bench.look(&path).await.0, StatusCode::NOT_FOUND);
}
