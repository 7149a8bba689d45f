//! The files that prompts are made from, edited at the page.

use std::path::PathBuf;

use reqwest::StatusCode;
use reqwest::header::COOKIE;
use serde_json::Value;

use crate::kit::PageBench;

const TWO: &str = "[[reply]]\ntext = \"One.\"\n[[reply]]\ntext = \"Two.\"\n";

/// The name of the file that a section of the next prompt is edited in.
async fn file_of(bench: &PageBench, section: &str) -> String {
    let next = bench.html("/prompt/next").await;
    let part = next.split(&format!(" id=\"s-{section}\"")).nth(1).unwrap();
    part.split("data-edit=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

/// The text of a file, and the mark by which it is known.
async fn begun(bench: &PageBench, file: &str) -> (String, String) {
    let form: Value = serde_json::from_str(&bench.html(&format!("/prompt/file/{file}/form")).await).unwrap();
    (form["text"].as_str().unwrap().to_owned(), base_in(form["html"].as_str().unwrap()))
}

fn base_in(html: &str) -> String {
    html.split("name=\"base\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

/// A refusal: its status, and the form or the words that come with it.
async fn refused(bench: &PageBench, file: &str, text: &str, base: &str) -> (StatusCode, String) {
    let response = bench.post(&format!("/prompt/file/{file}"), &[("text", text), ("base", base)]).send().await.unwrap();
    (response.status(), response.text().await.unwrap())
}

/// Sends a message in a new conversation; what the model server got.
async fn asked(bench: &PageBench) -> String {
    let told = bench.sent("/c/new/send", &[("text", "hi")]).await;
    bench.pieces(told["conversation"].as_str().unwrap(), "", |piece| piece["of"] == "reload").await;
    String::from_utf8_lossy(&bench.recorder.calls().last().unwrap().body).into_owned()
}

fn own(bench: &PageBench, name: &str) -> PathBuf {
    bench.home.path().join("profiles/limpid/sections").join(name)
}

// SUR-022 PRO-056
#[tokio::test]
async fn a_sentence_that_is_edited_stands_in_the_next_request_until_it_is_taken_back() {
    let bench = PageBench::new(TWO, "").await;
    let file = file_of(&bench, "acting").await;
    let (text, base) = begun(&bench, &file).await;
    let edited = text.replace("only if blocked.", "only if blocked. Say <moin> first.");
    assert_ne!(edited, text);
    let trial = bench.sent(&format!("/prompt/file/{file}/try"), &[("text", &edited)]).await;
    assert_eq!(trial["refused"], false, "{trial}");
    assert!(trial["shown"].as_str().unwrap().contains("Say <moin> first."), "{trial}");
    assert!(trial["bytes"].as_u64().unwrap() > 100 && trial["tokens"].as_u64().unwrap() > 20, "{trial}");
    assert!(!own(&bench, "acting.md").exists(), "what is tried is not written");

    let saved = bench.sent(&format!("/prompt/file/{file}"), &[("text", &edited), ("base", &base)]).await;
    assert_eq!(std::fs::read_to_string(own(&bench, "acting.md")).unwrap(), edited);
    assert_eq!(std::fs::read_to_string(own(&bench, ".acting.md.shipped")).unwrap(), text, "it is known what it was");
    assert!(asked(&bench).await.contains("Say <moin> first."));

    let change = saved["saved"].to_string();
    bench.sent(&format!("/prompt/file/{file}/undo"), &[("change", &change)]).await;
    assert_eq!(std::fs::read_to_string(own(&bench, "acting.md")).unwrap(), text);
    assert!(!asked(&bench).await.contains("moin"));
    let screen = bench.html(&format!("/prompt/file/{file}")).await;
    assert!(screen.contains(">Undone<") && screen.contains("Say &#60;moin&#62; first."), "{screen}");
    assert!(screen.contains(&format!("change {change} taken back at the page")), "{screen}");
    assert_eq!(bench.agent.file_history().versions(None).await.unwrap().rows.len(), 2);
    assert!(bench.html("/prompt/files").await.contains(&format!("/prompt/file/{file}")));
}

// SUR-022
#[tokio::test]
async fn the_soul_is_edited_as_a_file_of_the_home() {
    let bench = PageBench::new(TWO, "").await;
    let file = file_of(&bench, "soul").await;
    let (text, base) = begun(&bench, &file).await;
    assert!(text.contains("Be plain, calm and brief") && !text.contains("---"), "{text}");
    let edited = format!("{text}Use metric units.\n");
    let trial = bench.sent(&format!("/prompt/file/{file}/try"), &[("text", &edited)]).await;
    assert!(trial["shown"].as_str().unwrap().contains("metric"), "{trial}");
    // A form that is sent without a script ends its lines otherwise.
    bench.sent(&format!("/prompt/file/{file}"), &[("text", &edited.replace('\n', "\r\n")), ("base", &base)]).await;
    assert_eq!(std::fs::read_to_string(bench.home.path().join("soul.md")).unwrap(), edited);
    assert!(asked(&bench).await.contains("Use metric units."));
    let next = bench.html("/prompt/next").await;
    assert!(next.contains("home:soul.md") && next.contains("Use metric units."), "{next}");
}

// SUR-022 SUR-011
#[tokio::test]
async fn a_text_that_no_prompt_can_be_made_with_is_refused_with_the_place_of_its_fault() {
    let bench = PageBench::new(TWO, "").await;
    let file = file_of(&bench, "acting").await;
    let (text, base) = begun(&bench, &file).await;
    let broken = text.replace("End with", "{{ agent_nam }} ends with");
    let trial = bench.sent(&format!("/prompt/file/{file}/try"), &[("text", &broken)]).await;
    let problem = &trial["problems"][0];
    assert_eq!((trial["refused"].as_bool(), problem["line"].as_u64()), (Some(true), Some(10)), "{trial}");
    let (status, html) = refused(&bench, &file, &broken, &base).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html.contains("sections/acting.md:10:") && html.contains("agent_name"), "{html}");
    let (status, _) = refused(&bench, &file, &"x".repeat(300_000), &base).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(!own(&bench, "acting.md").exists());
}

// SUR-022 PRO-023
#[tokio::test]
async fn while_a_text_is_typed_its_budget_is_said_and_what_it_cuts() {
    let bench = PageBench::new(TWO, "[agent]\nprofile = \"ollm\"\n").await;
    let file = file_of(&bench, "mode").await;
    let (text, _) = begun(&bench, &file).await;
    let trial = bench.sent(&format!("/prompt/file/{file}/try"), &[("text", &text)]).await;
    let (used, limit) = (trial["budget"]["used"].as_u64().unwrap(), trial["budget"]["limit"].as_u64().unwrap());
    assert!(used > 0 && used <= limit && trial["problems"].as_array().unwrap().is_empty(), "{trial}");
    let long = format!("{text}{}", "\n\nMore words that nobody needs here.".repeat(500));
    let trial = bench.sent(&format!("/prompt/file/{file}/try"), &[("text", &long)]).await;
    assert!(trial["problems"].to_string().contains("mode is trimmed: "), "{trial}");
}

// SUR-022
#[tokio::test]
async fn a_save_over_a_newer_text_is_refused_with_both_and_the_newer_one_is_never_lost() {
    let bench = PageBench::new(TWO, "").await;
    let file = file_of(&bench, "acting").await;
    let (text, base) = begun(&bench, &file).await;
    let (mine, theirs) = (format!("{text}Mine.\n"), format!("{text}Theirs <b>.\n"));
    std::fs::create_dir_all(own(&bench, "")).unwrap();
    std::fs::write(own(&bench, "acting.md"), &theirs).unwrap();
    let (status, answer) = refused(&bench, &file, &mine, &base).await;
    assert_eq!(status, StatusCode::CONFLICT);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let html = answer["html"].as_str().unwrap();
    assert!(html.contains("<del>Theirs &#60;b&#62;.</del>") && html.contains("<ins>Mine.</ins>"), "{html}");
    assert_eq!(std::fs::read_to_string(own(&bench, "acting.md")).unwrap(), theirs);
    // Who has seen both may write theirs, and what was there is kept.
    bench.sent(&format!("/prompt/file/{file}"), &[("text", &mine), ("base", &base_in(html))]).await;
    assert_eq!(std::fs::read_to_string(own(&bench, "acting.md")).unwrap(), mine);
    let versions = bench.agent.file_history().versions(None).await.unwrap().rows;
    assert_eq!(versions[0].said_before(), Some(theirs.as_str()));
    // Of two that are sent at once one is written, and the other one is told of it.
    let (_, base) = begun(&bench, &file).await;
    let (one, other) = (format!("{text}One.\n"), format!("{text}Other.\n"));
    let both = tokio::join!(refused(&bench, &file, &one, &base), refused(&bench, &file, &other, &base));
    let mut statuses = [both.0.0, both.1.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [StatusCode::OK, StatusCode::CONFLICT]);
}

// SUR-022 SEC-030
#[cfg(unix)]
#[tokio::test]
async fn no_other_file_can_be_reached_and_nobody_else_can_write_one() {
    let bench = PageBench::new(TWO, "").await;
    std::fs::write(bench.home.path().join("limpid.toml"), "").unwrap();
    for name in ["limpid.toml", "..%2Flimpid.toml", "soul.md", "profiles%2Flimpid%2Fsections%2Facting.md", "0"] {
        for way in ["", "/form"] {
            let answer = bench.get(&format!("/prompt/file/{name}{way}")).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{name}{way}");
        }
        let answer = bench.post(&format!("/prompt/file/{name}"), &[("text", "x"), ("base", "")]).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{name}");
    }
    let file = file_of(&bench, "acting").await;
    let (text, base) = begun(&bench, &file).await;
    let edited = format!("{text}More.\n");
    let body = format!("text=x&base={base}");
    let cookie = bench.get("/").build().unwrap().headers()[COOKIE].clone();
    let address = format!("{}/prompt/file/{file}", bench.url);
    let kind = "application/x-www-form-urlencoded";
    for (origin, status) in
        [(None, StatusCode::FORBIDDEN), (Some("http://evil.example"), StatusCode::MISDIRECTED_REQUEST)]
    {
        let request = bench.client.post(&address).header(COOKIE, &cookie).header("content-type", kind);
        let request = origin.into_iter().fold(request, |request, origin| request.header("origin", origin));
        assert_eq!(request.body(body.clone()).send().await.unwrap().status(), status, "{origin:?}");
    }
    // A link that leads out of the home is not followed.
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("acting.md"), &text).unwrap();
    std::fs::create_dir_all(bench.home.path().join("profiles/limpid")).unwrap();
    std::os::unix::fs::symlink(outside.path(), bench.home.path().join("profiles/limpid/sections")).unwrap();
    let (status, why) = refused(&bench, &file, &edited, &base).await;
    assert!(status.is_client_error(), "{status}: {why}");
    assert_eq!(std::fs::read_to_string(outside.path().join("acting.md")).unwrap(), text);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

// SUR-022 PRO-056
#[tokio::test]
async fn any_two_requests_stand_side_by_side() {
    let bench = PageBench::new(TWO, "").await;
    asked(&bench).await;
    let told = bench.sent("/c/new/send", &[("text", "<b>Something else</b>")]).await;
    let id = told["conversation"].as_str().unwrap();
    bench.pieces(id, "", |piece| piece["of"] == "reload").await;
    let sent = bench.agent.store().requests(limpid_store::RequestFilter::default()).await.unwrap().rows;
    let mut ids = [String::new(), String::new()];
    for row in &sent {
        let request = bench.agent.store().request(&row.id).await.unwrap().unwrap();
        let is_second = request.messages.last().unwrap().text.contains("Something");
        ids[usize::from(is_second)] = row.id.to_string();
    }
    let screen = bench.html(&format!("/prompt/diff?a={}&b={}", ids[0], ids[1])).await;
    assert!(screen.contains("<del>hi</del>") && screen.contains("<ins>&#60;b&#62;Something else&#60;/b&#62;</ins>"));
    assert!(screen.contains("user-message changed (2 to 21 bytes)"), "{screen}");
    let next = bench.html(&format!("/prompt/diff?a={}&b=next&c={id}", ids[1])).await;
    assert!(next.contains("<ins>Two.</ins>") && next.contains("The next turn"), "{next}");
    for wrong in ["", "?a=r0&b=next", "?a=next&b=r0"] {
        let answer = bench.get(&format!("/prompt/diff{wrong}")).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{wrong}");
    }
}
