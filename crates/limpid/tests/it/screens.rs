//! Screens in answers at the terminal: they are printed with numbers, and a number says what a click would.

use crate::kit::World;
use limpid_testkit::Recorded;
use serde_json::json;

const CONFIG: &str = "[agent]\nprofile = \"kai\"\n[chat]\nui_mode = \"dynamic\"\n";

const FORM: &str = "Choose:\n```kai-ui\n{\"type\": \"column\", \"children\": [\n\
    {\"type\": \"select\", \"id\": \"day\", \"label\": \"Which day?\", \"options\": [\"Today\", \"Tomorrow\"]},\n\
    {\"type\": \"button\", \"label\": \"Choose\u{1b}[2J\", \"action\": {\"type\": \"callback\", \"event\": \"chosen\", \"collectFrom\": [\"day\"]}},\n\
    {\"type\": \"button\", \"label\": \"Leave\", \"action\": {\"type\": \"callback\", \"event\": \"left\"}}]}\n```\nThat is all.\n";

async fn world() -> World {
    let texts = [FORM, "Noted.", FORM, "Left.", "Two it is."].map(|text| json!(text).to_string());
    // In pieces, so that fences come cut.
    let reply = |text: &String| format!("[[reply]]\ntext = [{text}]\n");
    let world = World::new(&texts.iter().map(reply).collect::<String>()).await;
    world.write("limpid.toml", CONFIG);
    world
}

fn said(call: &Recorded) -> String {
    call.user()
}

// KAI-107 KAI-105
#[tokio::test]
async fn a_screen_is_printed_with_numbers_and_a_number_says_what_a_click_would() {
    let world = world().await;
    let run = world.run(&["chat", "remind me"]).await;
    insta::assert_snapshot!(run.out);
    world.done(&["chat", "-c", "last", "1 day: Tomorrow"]).await;
    world.done(&["chat", "-c", "last", "again"]).await;
    world.done(&["chat", "-c", "last", "2"]).await;
    // Where nothing can be pressed, a number is a number.
    world.done(&["chat", "-c", "last", "2"]).await;
    let all: Vec<String> = world.recorder.calls().iter().map(said).collect();
    assert_eq!(all, ["remind me", "Responded with: day: Tomorrow", "again", "Pressed: left", "2"]);
}

// KAI-107
#[cfg(unix)]
#[tokio::test]
async fn in_an_open_chat_a_number_is_typed() {
    let world = world().await;
    let mut terminal = world.terminal(&["chat"], (30, 80));
    terminal.wait_for("> ").await.unwrap();
    terminal.keys("remind me\r").await.unwrap();
    terminal.wait_for("That is all.").await.unwrap();
    terminal.wait_for("[2] Leave").await.unwrap();
    terminal.keys("2\r").await.unwrap();
    terminal.wait_for("Noted.").await.unwrap();
    assert!(terminal.raw().contains("Pressed: left"));
    assert_eq!(said(&world.recorder.calls()[1]), "Pressed: left");
}
