//! Conversations are found, archived, brought back and deleted at the command line, and say who else reads them.

use crate::kit::World;

// SUR-020 SUR-010
#[tokio::test]
async fn a_conversation_is_found_archived_brought_back_and_deleted() {
    let world =
        World::new("[[reply]]\ntext = \"The train to Bern leaves at ten.\"\n[[reply]]\ntext = \"Yes.\"\n").await;
    world.done(&["chat", "when does it go?"]).await;
    world.done(&["chat", "is it late?"]).await;
    let listed = async |more: &[&str]| {
        let rows = world.json(&[&["conversation", "list", "--json"], more].concat()).await["conversations"].clone();
        rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let ids = listed(&[]).await;
    let [late, train] = ids.as_slice() else { panic!("{ids:?}") };

    let found = world.json(&["conversation", "find", "train", "BERN", "--json"]).await;
    let found = &found["conversations"];
    assert_eq!((found.as_array().unwrap().len(), found[0]["id"].as_str()), (1, Some(train.as_str())));
    assert_eq!(found[0]["message"]["snippet"], "The train to Bern leaves at ten.");
    let run = world.run(&["conversation", "find", "plums"]).await;
    assert!(run.code == 0 && run.err.contains("No conversation has these words."), "{run:?}");

    let run = world.run(&["conversation", "archive", train]).await;
    assert!(run.code == 0 && run.err.contains("Archived “when does it go?”."), "{run:?}");
    assert_eq!((listed(&[]).await, listed(&["--archived"]).await), (vec![late.clone()], vec![train.clone()]));
    assert!(world.done(&["conversation", "find", "bern"]).await.contains("archived"));
    world.run(&["conversation", "archive", train, "--undo"]).await;
    assert_eq!(listed(&[]).await, ids);

    let run = world.pipe(&["conversation", "delete", train], "\n").await;
    assert!(run.code == 0 && run.err.contains("Memories, files, tasks and what it cost stay."), "{run:?}");
    assert_eq!(listed(&[]).await, ids, "it was asked, and there was no yes");
    let run = world.run(&["conversation", "delete", train, "--yes"]).await;
    assert!(run.code == 0 && run.err.contains("Deleted “when does it go?”."), "{run:?}");
    assert_eq!(listed(&[]).await, std::slice::from_ref(late));
    let run = world.run(&["conversation", "delete", train, "--yes"]).await;
    assert!(run.code != 0 && run.err.contains("conversation list"), "{run:?}");
}

/// A title is the beginning of a message, and a paste is somebody else's text.
// SEC-055 SUR-020
#[tokio::test]
async fn a_title_that_is_a_strangers_is_marked_like_what_was_said() {
    let world = World::new("[[reply]]\ntext = \"Noted.\"\n[[reply]]\ntext = \"Noted.\"\n").await;
    world.done(&["chat", "my own zebra"]).await;
    let run = world.pipe(&["chat"], "zebra: backup done\ntwo\nthree\nfour\nfive\n").await;
    assert_eq!(run.code, 0, "{run:?}");
    let of = |table: &str, words: &str| {
        table.lines().find(|line| line.contains(words)).map_or_else(|| panic!("{words}: {table}"), str::to_owned)
    };
    for table in [&["conversation", "list"][..], &["conversation", "find", "zebra"]] {
        let table = world.done(table).await;
        assert!(of(&table, "backup").contains("[someone else’s] zebra: backup done two"), "{table}");
        assert!(!of(&table, "my own zebra").contains("someone else"), "{table}");
    }
    let theirs = world.newest_chat().await;
    let asked = world.pipe(&["conversation", "delete", &theirs], "\n").await.err;
    assert!(asked.contains("Deletes “[someone else’s] zebra: backup done two"), "{asked}");
    let mut terminal = world.terminal(&["chat", "-c", &theirs], (24, 80));
    terminal.wait_for("> ").await.unwrap();
    let greeted = terminal.shown();
    assert!(greeted.contains("Continuing\n│ [someone else’s] zebra: backup done two"), "{greeted}");
}

// SEC-065
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_others_read_says_so_and_takes_nothing_that_does_not_name_it() {
    const SAYS: &str = "Others can read this conversation too; `/group off` ends that.";
    const PROMPT: &str = "> ";
    const SIZE: (u16, u16) = (24, 80);
    let replies: String = (1..=5).map(|number| format!("[[reply]]\ntext = \"Answer {number}.\"\n")).collect();
    let world = World::new(&replies).await;
    world.done(&["chat", "mine"]).await;
    world.done(&["chat", "room"]).await;
    let listed = world.json(&["conversation", "list", "--json"]).await;
    let id = |at: usize| listed["conversations"][at]["id"].as_str().unwrap().to_owned();
    let (room, mine) = (id(0), id(1));
    world.done(&["chat", "-c", &room, "/group on"]).await;
    world.done(&["chat", "-c", &room, "to all"]).await;
    let listed = world.done(&["conversation", "list"]).await;
    assert!(listed.lines().any(|row| row.starts_with(&room) && row.contains("  Group  ")), "{listed}");

    world.done(&["chat", "-c", "last", "for me"]).await;
    world.done(&["goal", "create", "tidy up"]).await;
    let mut terminal = world.terminal(&["chat"], SIZE);
    terminal.wait_for(PROMPT).await.unwrap();
    assert!(!terminal.shown().contains("Others can read"), "{}", terminal.shown());
    terminal.keys("me again\r").await.unwrap();
    terminal.wait_for("Answer 5.").await.unwrap();
    let typed = async |id: &str| {
        let shown = world.json(&["conversation", "show", id, "--json"]).await;
        let messages = shown["messages"].as_array().unwrap();
        messages.iter().filter_map(|message| message["typed"].as_str()).collect::<Vec<_>>().join(", ")
    };
    assert_eq!((typed(&mine).await.as_str(), typed(&room).await.as_str()), ("mine, for me, me again", "room, to all"));
    for (id, goals) in [(&mine, 1), (&room, 0)] {
        let listed = world.json(&["goal", "list", "-c", id, "--json"]).await;
        assert_eq!(listed["goals"].as_array().unwrap().len(), goals, "{listed}");
    }
    let mut named = world.terminal(&["chat", "-c", &room], SIZE);
    named.wait_for(PROMPT).await.unwrap();
    assert!(named.shown().contains(SAYS), "{}", named.shown());
}
