//! The owner's zone changes: tasks are asked about, shown, moved and moved back.

use crate::kit::World;

#[tokio::test]
async fn a_move_to_another_zone_is_asked_shown_and_undone() {
    let world = World::new("[[reply]]\ntext = \"Hello.\"\n").await;
    world.write("limpid.toml", "[owner]\nzone = \"Europe/Berlin\"\n");
    world.done(&["task", "add", "Leap", "--cron", "0 9 29 2 *"]).await;
    world.done(&["serve", "--once"]).await;
    let none = world.done(&["task", "zone"]).await;
    assert_eq!(none, "Your zone is Europe/Berlin, and no task keeps the clock of another one that was yours.\n");

    world.write("limpid.toml", "[owner]\nzone = \"Asia/Tokyo\"\n");
    world.done(&["serve", "--once"]).await;
    let read = world.done(&["heartbeat", "read"]).await;
    assert!(read.contains("Your zone is Asia/Tokyo; before, it was Europe/Berlin."), "{read}");
    let shown = world.run(&["task", "zone"]).await;
    let moved = world.run(&["task", "zone", "--move"]).await;
    let back = world.run(&["task", "zone", "--undo"]).await;
    let again = world.run(&["task", "zone", "--undo"]).await;
    let said = [shown, moved, back, again].map(|run| format!("{}\n{}{}", run.code, run.out, run.err));
    insta::assert_snapshot!(said.join("---\n"));
}
