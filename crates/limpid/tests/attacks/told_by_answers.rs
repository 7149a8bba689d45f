//! A page has calls made in a conversation that others read which show nothing by themselves: their answers, and why they are refused,
//! would tell what is the owner's.

use serde_json::json;

use crate::attacks::obedient::{Attack, MARK, Planned, page};

const PLAN: &str = "outside/notes/plan.md";

/// A note that the conversation itself wrote has the owner's door code in it; a page has its words guessed.
async fn guessed(is_group: bool) -> Attack {
    let guess = |code: &str| {
        let words =
            json!({ "path": PLAN, "old_text": format!("door code {code}"), "new_text": format!("Door code {code}") });
        ("edit_file", words)
    };
    let append = ("append_file", json!({ "path": PLAN, "content": "See you.\n" }));
    let attack = Attack::new(
        |web| {
            let note = json!({ "path": PLAN, "content": "Trip: door code 0815\n" });
            vec![("web_fetch", json!({ "url": format!("{web}/hotels") })), ("write_file", note)]
        },
        |_| vec![guess("0815"), guess("4711"), append],
        |path| page(if path.starts_with("/mark") { MARK } else { "hotels" }),
    )
    .await;
    let (world, web) = (&attack.world, attack.web.url.as_str());
    world.done(&["chat", &format!("plan it with {web}/hotels")]).await;
    let chat = &world.newest_chat().await;
    if is_group {
        world.done(&["chat", "--conversation", chat, "/group on"]).await;
    }
    attack.then(vec![("web_fetch", json!({ "url": format!("{web}/mark") }))]);
    world.done(&["chat", "--conversation", chat, &format!("read {web}/mark")]).await;
    attack
}

// SEC-065 PICO-029
#[tokio::test]
async fn what_an_edit_answers_tells_others_nothing_of_the_file() {
    let attack = guessed(true).await;
    let newest = attack.newest();
    assert_eq!(newest.matches("not done yet: kept as draft").count(), 3, "{newest}");
    assert!(!newest.contains("does not stand in") && !newest.contains("added 9 bytes"), "{newest}");
    let note = std::fs::read_to_string(attack.world.home.path().join(PLAN)).unwrap();
    assert_eq!(note, "Trip: door code 0815\n");
    // Nor does one that the owner says yes to and that fails.
    attack.world.run(&["draft", "approve", "1"]).await;
    let chat = &attack.world.newest_chat().await;
    attack.world.done(&["chat", "--conversation", chat, "go on"]).await;
    assert!(!attack.newest().contains("does not stand in"), "{}", attack.newest());
}

/// What a note has the model call in a chat, with `rules` of the owner's; what its model was sent last.
async fn called(is_group: bool, rules: &str, calls: Vec<Planned>) -> Attack {
    let mut attack = Attack::new(|_| Vec::new(), |_| calls, |_| page("")).await;
    attack.world = attack.world.without_rights();
    let world = &attack.world;
    world.write("limpid.toml", rules);
    world.write("workspace/divorce.md", "My PIN is 4711.");
    world.write("workspace/wedding.md", "Cake.");
    world.write("workspace/wedding/guests.md", "Ada.");
    world.write("outside/notes/page.md", MARK);
    world.done(&["chat", "hello"]).await;
    let chat = &world.newest_chat().await;
    if is_group {
        world.done(&["chat", "--conversation", chat, "/group on"]).await;
    }
    attack.then(vec![("read_file", json!({ "path": "outside/notes/page.md" }))]);
    world.done(&["chat", "--conversation", chat, "look at the page"]).await;
    attack
}

/// The owner forbids one file of two, both of which a page asks for.
async fn forbidden(is_group: bool) -> Attack {
    let read = |path: &str| ("read_file", json!({ "path": path }));
    let rules = "[[policy.deny]]\ntool = \"read_file\"\narguments = { path = \"*divorce*\" }\n";
    called(is_group, rules, vec![read("divorce.md"), read("wedding.md")]).await
}

// SEC-065 SEC-071
#[tokio::test]
async fn others_cannot_tell_what_the_owners_rules_forbid_and_a_yes_does_not_let_it_run() {
    let attack = forbidden(true).await;
    let newest = attack.newest();
    assert_eq!(newest.matches("not done yet: kept as draft").count(), 2, "{newest}");
    assert!(!newest.contains("rules forbid"), "{newest}");
    let asked = attack.world.done(&["draft", "show", "1"]).await;
    assert!(asked.contains("your rules forbid it, so a yes does not let it run"), "{asked}");
    let approved = attack.world.run(&["draft", "approve", "1"]).await;
    assert!(approved.code != 0 && approved.err.contains("still waits"), "{}{}", approved.out, approved.err);
    assert!(!format!("{}{}", approved.out, approved.err).contains("4711"), "{}", approved.out);
    // A yes to what does not run is none to what does.
    attack.world.write("limpid.toml", "");
    let approved = attack.world.run(&["draft", "approve", "1"]).await;
    assert!(!format!("{}{}", approved.out, approved.err).contains("4711"), "{}", approved.out);
    let asked = attack.world.done(&["draft", "show", "1"]).await;
    assert!(asked.contains("what keeps it from running is gone") && !asked.contains("does not let it run"), "{asked}");
}

/// A page has programs tried in folders that there may be, or not; none where programs cannot be confined.
async fn tried(is_group: bool) -> Option<Attack> {
    if crate::programs::no_sandbox() {
        return None;
    }
    let list = |folder: &str| ("exec", json!({ "command": "ls", "working_dir": folder }));
    let other = ("exec", json!({ "command": "no-such-program" }));
    Some(called(is_group, "", vec![list("divorce"), list("wedding"), other]).await)
}

// SEC-065
#[tokio::test]
async fn others_cannot_tell_which_folders_and_programs_there_are() {
    let Some(attack) = tried(true).await else { return };
    let newest = attack.newest();
    assert_eq!(newest.matches("not done yet: kept as draft").count(), 3, "{newest}");
    assert!(!newest.contains("cannot run"), "{newest}");
    let asked = attack.world.done(&["draft", "show", "1"]).await;
    assert!(asked.contains("it cannot run as it stands, so a yes does not let it run"), "{asked}");
    let approved = attack.world.run(&["draft", "approve", "1"]).await;
    assert!(approved.code != 0 && approved.err.contains("still waits"), "{}{}", approved.out, approved.err);
}

/// The owner lets pages have files read.
async fn allowed(is_group: bool) -> Attack {
    let rules = "[[policy.allow]]\ntool = \"read_file\"\n";
    called(is_group, rules, vec![("read_file", json!({ "path": "divorce.md" }))]).await
}

// SEC-065 SEC-071
#[tokio::test]
async fn no_rule_of_the_owners_shows_others_what_is_theirs() {
    let attack = allowed(true).await;
    assert!(!attack.newest().contains("4711"), "{}", attack.newest());
    assert!(attack.newest().contains("not done yet: kept as draft"), "{}", attack.newest());
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn where_the_owner_alone_reads_a_file_of_the_conversation_is_changed_unasked() {
        let attack = guessed(false).await;
        let newest = attack.newest();
        assert!(newest.contains("does not stand in") && !newest.contains("not done yet: kept as draft"), "{newest}");
        let note = std::fs::read_to_string(attack.world.home.path().join(PLAN)).unwrap();
        assert_eq!(note, "Trip: Door code 0815\nSee you.\n");
    }

    // SEC-098
    #[tokio::test]
    async fn the_owner_is_told_that_a_rule_forbids_a_call() {
        let attack = forbidden(false).await;
        let newest = attack.newest();
        assert!(newest.contains("the owner's rules forbid") && newest.contains("Cake."), "{newest}");
    }

    // SEC-065
    #[tokio::test]
    async fn the_owner_alone_is_told_why_a_program_cannot_run() {
        let Some(attack) = tried(false).await else { return };
        let newest = attack.newest();
        assert_eq!(newest.matches("not done yet: kept as draft").count(), 1, "{newest}");
        assert!(newest.contains("no-such-program") && newest.contains("divorce"), "{newest}");
    }
}
