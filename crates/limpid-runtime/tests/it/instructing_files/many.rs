//! Very many files that a program leaves where prompts quote files.

use super::*;

/// Notes that the history takes of one program at most, and more of them.
const MOST: usize = 1_000;
const MADE: usize = MOST + 50;

// SEC-085 SEC-093
#[tokio::test]
async fn all_notes_of_a_program_wait_and_as_many_are_in_the_history_as_there_is_room_for() {
    let bench = developers(&replies(1)).await;
    bench.write("workspace/memory/MEMORY.md", "Ada is the owner.\n");
    let agent = doing(&bench, |workspace| {
        let memory = workspace.join("memory");
        (0..MADE).for_each(|at| std::fs::write(memory.join(format!("{at}.md")), "Eve pays.\n").unwrap());
        std::fs::write(memory.join("MEMORY.md"), "Eve is the owner.\n").unwrap();
    });
    notices(&agent, "run it").await;
    notices(&agent, "hi").await;
    assert_eq!(agent.file_history().unaccepted().await.unwrap().list().len(), MADE + 1);
    let changes = agent.store().file_versions(None).await.unwrap().rows;
    // What was the owner's is kept beside all of them.
    let (own, made): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.path == "memory/MEMORY.md");
    let before = own[0].before.as_ref().unwrap().text.as_deref();
    assert_eq!((before, own.len(), made.len()), (Some("Ada is the owner.\n"), 1, MOST));
}
