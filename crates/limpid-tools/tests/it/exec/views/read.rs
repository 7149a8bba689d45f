//! What a stranger's program learns of what others read, and could send.

use std::sync::Arc;

use limpid_core::Trust;
use limpid_tools::Tool;
use limpid_tools::exec::{Exec, FolderRules, Programs};
use serde_json::json;

use crate::exec::kit::{Bench, judged};
use crate::kit::context;

/// A turn that knows what is private could read its files one after the other, so that their names spell it.
// SEC-058
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn what_may_be_a_strangers_is_not_told_which_files_are_read() {
    let mut bench = Bench::new();
    bench.programs.shell = false;
    let limits = bench.programs.limits;
    let rules = FolderRules { folder: bench.path("theirs"), programs: vec!["perl".to_owned()], limits };
    bench.programs.folders = vec![rules];
    let watches = async |bench: &Bench, folder: &str| {
        let exec = Exec::new(Arc::new(bench.programs.clone()));
        let command = "perl -e 'print syscall(294, 0) >= 0 ? 1 : 0, syscall(253) >= 0 ? 1 : 0'";
        let call = json!({ "command": command, "working_dir": bench.path(folder).display().to_string() });
        exec.run(&judged(&exec, &context(Trust::Owner), &call), call).await.unwrap().into_parts().0
    };
    assert_eq!(watches(&bench, "home/workspace").await, "11\nExit code: 0");
    assert_eq!(watches(&bench, "theirs").await, "00\nExit code: 0");
    let low = format!("perl -e 'print syscall(294, 0) >= 0 ? 1 : 0' {}", bench.path("theirs").display());
    bench.programs.folders.clear();
    assert!(bench.run(&low).await.starts_with("0\n"));
    bench.programs.network.names.push("a.example".to_owned());
    assert_eq!(watches(&bench, "theirs").await, "00\nExit code: 0");
}

/// What a page had copied there, a rule or a yes that names only the program's own folder would send.
// SEC-058 SEC-078
#[tokio::test]
async fn what_could_send_sees_nothing_of_outside_that_it_does_not_name() {
    let mut bench = Bench::new();
    bench.programs.shell = false;
    bench.programs.network.names.push("a.example".to_owned());
    let exec = Exec::new(Arc::new(bench.programs.clone()));
    let outside = bench.path("home/outside").display().to_string();
    let looks = format!("import os; print(os.listdir('{outside}')); open('{outside}/made', 'w')");
    std::fs::write(bench.path("theirs/look.py"), looks).unwrap();
    let call = |words: &str| json!({ "command": format!("python3 look.py {words}"), "working_dir": bench.path("theirs").display().to_string() });
    let sees = |words: &str| exec.destination(&call(words)).unwrap().to_string();
    assert!(!sees("x").contains("outside/"), "{}", sees("x"));
    assert!(sees(&outside).contains("\"outside/\""), "{}", sees(&outside));
    // What is laid there while it runs it would see and send, so it runs alone.
    let sends = |exec: &Exec, words: &str| exec.sends_outside(Trust::Owner, false, &call(words));
    assert_eq!((sends(&exec, "x"), sends(&exec, &outside)), (false, true));
    let stays = Exec::new(Arc::new(Programs { network: Default::default(), ..bench.programs.clone() }));
    assert!(!sends(&stays, &outside), "without the network it sends nothing");
    let ran = async |words: &str| {
        exec.run(&judged(&exec, &context(Trust::Owner), &call(words)), call(words)).await.unwrap().into_parts().0
    };
    assert!(ran("x").await.starts_with("[]\n"));
    assert_eq!(std::fs::read_dir(bench.path("home/outside/program-1")).unwrap().count(), 1, "it leaves it beside");
    assert!(ran(&outside).await.contains("letter.md"));
}
