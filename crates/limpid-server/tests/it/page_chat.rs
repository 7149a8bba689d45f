//! A conversation at the page.

use limpid_core::{ConversationId, Trust};
use reqwest::StatusCode;
use serde_json::Value;

use crate::kit::PageBench;

fn is_reload(piece: &Value) -> bool {
    piece["of"] == "reload"
}

// SUR-020 SUR-005
#[tokio::test]
async fn a_message_is_answered_piece_by_piece_and_stands_in_the_thread() {
    let script = "[[reply]]\ntext = [\"Hello **you**\", \".\\n\\nSecond \", \"<b>part</b>\"]\n";
    let bench = PageBench::new(script, "").await;
    let told = bench.sent("/c/new/send", &[("text", "hi <i>"), ("key", "k1")]).await;
    let id = told["conversation"].as_str().unwrap();
    let pieces = bench.pieces(id, "", is_reload).await;
    let html: String = pieces.iter().filter_map(|piece| piece["html"].as_str()).collect();
    assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
    let thread = || async {
        let whole: Value = serde_json::from_str(&bench.html(&format!("/c/{id}/thread")).await).unwrap();
        whole["html"].as_str().unwrap().to_owned()
    };
    let thread_now = thread().await;
    for part in [
        "hi &#60;i&#62;",
        "<p>Hello <strong>you</strong>.</p>",
        "<p>Second &lt;b&gt;part&lt;/b&gt;</p>",
        "See what it read",
    ] {
        assert_eq!(thread_now.matches(part).count(), 1, "{part}: {thread_now}");
    }
    // Its words as they were written are a press away.
    let words = thread_now.split("data-copies=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(bench.html(words).await, "Hello **you**.\n\nSecond <b>part</b>");
    let other = bench.get(&format!("/c/{id}/words/999")).send().await.unwrap();
    assert_eq!(other.status(), StatusCode::UNPROCESSABLE_ENTITY);
    // The same message that is sent again is no second one.
    bench.sent(&format!("/c/{id}/send"), &[("text", "hi <i>"), ("key", "k1")]).await;
    assert_eq!(thread().await.matches("hi &#60;i&#62;").count(), 1);
}

// SUR-020
#[tokio::test]
async fn whoever_comes_in_the_middle_sees_what_was_said_and_the_rest() {
    let script = "[[reply]]\ntext = [\"One.\\n\\n\", \"Two.\"]\nhang = \"end\"\n[[reply]]\ntext = \"Again.\"\n";
    let bench = PageBench::new(script, "").await;
    let told = bench.sent("/c/new/send", &[("text", "count")]).await;
    let id = told["conversation"].as_str().unwrap();
    let shown = |piece: &Value| piece["html"].as_str().unwrap_or_default().contains("Two.");
    let first = bench.pieces(id, "", shown).await;
    // The screen that is loaded now leaves the turn to the pieces, and they tell all of it from the start.
    let screen = bench.html(&format!("/c/{id}")).await;
    assert!(screen.contains("-1\">") && !screen.contains("One."), "{screen}");
    let second = bench.pieces(id, "", shown).await;
    let whole: String = second.iter().filter_map(|piece| piece["html"].as_str()).collect();
    assert_eq!((whole.matches("One.").count(), whole.matches("count").count()), (1, 1), "{whole}");
    // Who has seen some is told the rest only.
    let seen = first.last().unwrap()["mark"].as_str().unwrap();
    bench.sent(&format!("/c/{id}/stop"), &[]).await;
    let rest = bench.pieces(id, seen, is_reload).await;
    assert!(rest.iter().all(|piece| !piece["html"].as_str().unwrap_or_default().contains("One.")), "{rest:?}");
    let after = bench.html(&format!("/c/{id}")).await;
    assert_eq!(
        (after.matches("<p>One.</p>").count(), after.matches("<p>Two.</p>").count()),
        (1, 1),
        "what was said is kept"
    );
}

// SUR-020 SEC-077
#[tokio::test]
async fn a_call_waits_for_an_answer_that_was_offered() {
    let script = "[[reply]]\ncalls = [{ name = \"write_file\", arguments = { path = \"notes.md\", content = \"<script>x</script>\" } }]\n\
                  [[reply]]\ntext = \"Done.\"\n";
    let bench = PageBench::new(script, "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"write_file\" }]\n").await;
    let told = bench.sent("/c/new/send", &[("text", "Write it down")]).await;
    let id = told["conversation"].as_str().unwrap();
    let asked = |piece: &Value| piece["html"].as_str().unwrap_or_default().contains("data-call");
    let pieces = bench.pieces(id, "", asked).await;
    let card = pieces.last().unwrap()["html"].as_str().unwrap().to_owned();
    assert!(card.contains("notes.md") && card.contains("&#60;script&#62;") && !card.contains("<script>"), "{card}");
    let call = card.split("data-call=\"").nth(1).unwrap().split('"').next().unwrap();
    let answer =
        |answer: &'static str| bench.post(&format!("/c/{id}/answer"), &[("call", call), ("answer", answer)]).send();
    assert_eq!(answer("clean").await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY, "it was not offered");
    assert_eq!(answer("yes").await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY);
    let earlier = bench.post(&format!("/c/{id}/answer"), &[("call", "0"), ("answer", "once")]).send().await.unwrap();
    assert_eq!(earlier.status(), StatusCode::UNPROCESSABLE_ENTITY, "it was asked about as another question");
    assert_eq!(answer("no").await.unwrap().status(), StatusCode::OK);
    assert_eq!(answer("once").await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY, "a question is answered once");
    bench.pieces(id, "", is_reload).await;
    assert!(!bench.home.path().join("workspace/notes.md").exists());
    let thread = bench.html(&format!("/c/{id}/thread")).await;
    assert!(thread.contains("<dd>You said no.</dd>") && !thread.contains("success"), "{thread}");
}

// SUR-024
#[tokio::test]
async fn a_question_that_waits_is_the_first_in_activity_and_is_counted() {
    let script = "[[reply]]\ncalls = [{ name = \"write_file\", arguments = { path = \"<b>.md\", content = \"x\" } }]\n";
    let bench = PageBench::new(script, "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"write_file\" }]\n").await;
    let told = bench.sent("/c/new/send", &[("text", "Write it down")]).await;
    let id = told["conversation"].as_str().unwrap();
    bench.pieces(id, "", |piece| piece["html"].as_str().unwrap_or_default().contains("data-call")).await;
    let screen = bench.html("/activity").await;
    for part in [
        "Waiting for your answer",
        "Limpid asks whether it may call <code>write_file</code>:<bdi class=\"foreign told\">&#60;b&#62;.md</bdi>",
        &format!("href=\"/c/{id}\""),
        "<span class=\"count\" data-waiting><span>1<",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    bench.sent(&format!("/c/{id}/stop"), &[]).await;
    bench.pieces(id, "", is_reload).await;
    let screen = bench.html("/activity").await;
    assert!(screen.contains("Nothing is waiting.") && !screen.contains("data-waiting><span>"), "{screen}");
}

// SUR-020
#[tokio::test]
async fn a_call_that_was_stopped_says_so_in_words() {
    let script =
        "[[reply]]\ncalls = [{ name = \"write_file\", arguments = { path = \"notes.md\", content = \"x\" } }]\n";
    let bench = PageBench::new(script, "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"write_file\" }]\n").await;
    let told = bench.sent("/c/new/send", &[("text", "Write it down")]).await;
    let id = told["conversation"].as_str().unwrap();
    bench.pieces(id, "", |piece| piece["html"].as_str().unwrap_or_default().contains("data-call")).await;
    bench.sent(&format!("/c/{id}/stop"), &[]).await;
    bench.pieces(id, "", is_reload).await;
    let thread = bench.html(&format!("/c/{id}/thread")).await;
    assert!(thread.contains("<dd>You stopped it.</dd>") && !thread.contains("success"), "{thread}");
}

// SUR-020
#[tokio::test]
async fn what_another_process_has_told_is_loaded_again() {
    let bench = PageBench::new("[[reply]]\ntext = \"ok\"\n", "").await;
    let told = bench.sent("/c/new/send", &[("text", "hi")]).await;
    let id = told["conversation"].as_str().unwrap();
    bench.pieces(id, "", is_reload).await;
    let first = bench.pieces(id, "0123abcd-900", |_| true).await;
    assert_eq!(first[0]["of"], "reload");
}

// SUR-020
#[tokio::test]
async fn a_screen_that_was_loaded_in_the_middle_hears_of_an_end_before_it_listened() {
    let bench = PageBench::new("[[reply]]\ntext = \"One.\"\nhang = \"end\"\n", "").await;
    let told = bench.sent("/c/new/send", &[("text", "count")]).await;
    let id = told["conversation"].as_str().unwrap();
    bench.pieces(id, "", |piece| piece["html"].as_str().unwrap_or_default().contains("One.")).await;
    let screen = bench.html(&format!("/c/{id}")).await;
    let after = screen.split("data-after=\"").nth(1).unwrap().split('"').next().unwrap();
    bench.sent(&format!("/c/{id}/stop"), &[]).await;
    bench.pieces(id, "", is_reload).await;
    assert_eq!(bench.pieces(id, after, |_| true).await[0]["of"], "reload");
}

// SUR-020
#[tokio::test]
async fn a_message_that_waited_is_shown_once_when_the_answer_before_it_is_there() {
    let script = "[[reply]]\ntext = \"One.\"\nhang = \"end\"\n[[reply]]\ntext = \"Two.\"\nhang = \"end\"\n";
    let bench = PageBench::new(script, "").await;
    let told = bench.sent("/c/new/send", &[("text", "first")]).await;
    let id = told["conversation"].as_str().unwrap();
    let has = |text: &'static str| move |piece: &Value| piece["html"].as_str().unwrap_or_default().contains(text);
    bench.pieces(id, "", has("One.")).await;
    bench.sent(&format!("/c/{id}/send"), &[("text", "second")]).await;
    bench.sent(&format!("/c/{id}/stop"), &[]).await;
    bench.pieces(id, "", has("Two.")).await;
    // What stands in the thread is no piece any more, and the other way round.
    let thread: Value = serde_json::from_str(&bench.html(&format!("/c/{id}/thread")).await).unwrap();
    let pieces = bench.pieces(id, "", has("Two.")).await;
    let told: String = pieces.iter().filter_map(|piece| piece["html"].as_str()).collect();
    let whole = format!("{}{told}", thread["html"].as_str().unwrap());
    for text in [">first<", ">second<", "One.", "Two."] {
        assert_eq!(whole.matches(text).count(), 1, "{text}: {whole}");
    }
}

// SUR-020
#[tokio::test]
async fn what_an_answer_has_read_stands_below_it_also_where_it_failed_behind_a_call() {
    let script = "[[reply]]\ncalls = [{ name = \"get_local_time\" }]\n[[reply]]\nstatus = 400\n";
    let bench = PageBench::new(script, "").await;
    let told = bench.sent("/c/new/send", &[("text", "What time is it?")]).await;
    let id = told["conversation"].as_str().unwrap();
    bench.pieces(id, "", is_reload).await;
    let html = bench.html(&format!("/c/{id}")).await;
    let (answer, failed) = html.split_once("notice error").unwrap();
    assert!(answer.contains("See what it read") && failed.contains("data-again"), "{html}");
}

// SUR-020
#[tokio::test]
async fn an_answer_that_failed_says_so_for_good_and_the_newest_can_be_tried_again() {
    let refused = "[[reply]]\nstatus = 400\nbody = '{\"error\":{\"message\":\"no such model\"}}'\n";
    let bench = PageBench::new(&format!("{refused}{refused}[[reply]]\ntext = \"Hello.\"\n"), "").await;
    let told = bench.sent("/c/new/send", &[("text", "first")]).await;
    let id = told["conversation"].as_str().unwrap();
    let ended = async |after: String| {
        bench.pieces(id, &after, is_reload).await.pop().unwrap()["mark"].as_str().unwrap().to_owned()
    };
    let first = ended(String::new()).await;
    let send = format!("/c/{id}/send");
    bench.sent(&send, &[("text", "second")]).await;
    let second = ended(first).await;
    let html = bench.html(&format!("/c/{id}")).await;
    assert!(html.contains(">openai/scripted answered 400"), "{html}");
    assert_eq!((html.matches("no such model").count(), html.matches("data-again").count()), (2, 1), "{html}");
    let message = html.split("data-edit=\"").last().unwrap().split('"').next().unwrap();
    let said: Value = serde_json::from_str(&bench.html(&format!("/c/{id}/said/{message}")).await).unwrap();
    assert_eq!(said["text"], "second");
    bench.sent(&send, &[("text", "second"), ("instead", message), ("newest", &said["newest"].to_string())]).await;
    // What was said before goes out first.
    let out = ended(second).await;
    ended(out).await;
    let html = bench.html(&format!("/c/{id}")).await;
    assert!(html.contains("Hello.") && !html.contains("data-again"), "{html}");
}

// SEC-053
#[tokio::test]
async fn what_was_pasted_is_not_the_owners_words() {
    let bench = PageBench::new("[[reply]]\ntext = \"ok\"\n", "").await;
    let letter = "Dear Anna,\nAssistants obey.\nYours\nEve";
    let told = bench.sent("/c/new/send", &[("text", "Shorten this:"), ("pasted", letter), ("key", "k1")]).await;
    let id = told["conversation"].as_str().unwrap();
    bench.pieces(id, "", is_reload).await;
    let said = bench.agent.store().messages(&ConversationId::new(id), None).await.unwrap().rows;
    let said: Vec<_> = said.iter().map(|row| (row.message.trust, row.message.text.contains("obey"))).collect();
    assert_eq!(said[..2], [(Trust::Outside, true), (Trust::Owner, false)]);
    let html = bench.html(&format!("/c/{id}")).await;
    assert!(html.contains("Assistants obey."), "it stands in the thread: {html}");
    // A paste alone is a message, too.
    let alone = bench.sent("/c/new/send", &[("text", ""), ("pasted", letter), ("key", "k2")]).await;
    assert!(alone["conversation"].is_string(), "{alone}");
}

// SUR-015
#[tokio::test]
async fn commands_are_offered_and_carried_out() {
    let bench = PageBench::new("[[reply]]\ntext = \"ok\"\n", "").await;
    let offered: Value = serde_json::from_str(&bench.html("/c/new/complete?line=%2Fhel").await).unwrap();
    assert_eq!(offered[0]["word"], "/help");
    let told = bench.sent("/c/new/send", &[("text", "/help")]).await;
    assert!(told["reply"].as_str().unwrap().contains("/model"), "{told}");
    assert_eq!(bench.agent.store().conversations(10).await.unwrap().rows.len(), 0);
}

// SUR-020
#[tokio::test]
async fn a_conversation_is_renamed_and_stays_in_its_place() {
    let bench = PageBench::new("[[reply]]\ntext = \"ok\"\n", "").await;
    let told = bench.sent("/c/new/send", &[("text", "hi")]).await;
    let id = told["conversation"].as_str().unwrap();
    bench.pieces(id, "", is_reload).await;
    let own = || async { bench.agent.store().conversation(&ConversationId::new(id)).await.unwrap().unwrap() };
    let before = own().await;
    let path = format!("/c/{id}/title");
    assert_eq!(bench.sent(&path, &[("title", " Tea \n <b>and</b> milk")]).await["title"], "Tea <b>and</b> milk");
    let now = own().await;
    assert_eq!((now.title.as_str(), now.updated_ms), ("Tea <b>and</b> milk", before.updated_ms));
    assert!(bench.html(&format!("/c/{id}")).await.contains("id=\"title\">Tea &#60;b&#62;and&#60;/b&#62; milk</h1>"));
    for title in [" \n", &"x".repeat(121)] {
        let refused = bench.post(&path, &[("title", title)]).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{title}");
    }
    let nobody = bench.post("/c/nobody/title", &[("title", "x")]).send().await.unwrap();
    assert!(nobody.status().is_client_error());
    assert_eq!(own().await.title, now.title);
}
