//! The process dies at any moment; the next one carries on (SEC-040, SEC-041).

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::kit::{Bench, Once, all, last, say};
use jiff::ToSpan;
use limpid_core::message::unpaired;
use limpid_core::{Message, Role};
use limpid_runtime::{Agent, Config, ConversationChoice, Tool, TurnEvent};
use limpid_store::StoredMessage;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

const SCRIPT: &str = r#"
[[reply]]
when = "do it"
text = "I begin."
calls = [
  { id = "o", name = "once" },
  { id = "m", name = "memory_store", arguments = { key = "tea", content = "Likes oolong" } },
]
usage = { input = 10, output = 5 }
[[reply]]
when = '"role":"tool"'            # a request that is repeated after a kill gets the calls again
text = ["Done", "."]
usage = { input = 20, output = 5 }
"#;

fn agent(bench: &Bench, once: &Arc<Once>) -> Agent {
    let mut options = bench.options();
    options.tools = vec![Arc::clone(once) as Arc<dyn Tool>];
    Agent::open(options).unwrap()
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Sends a message and dies after so many events and so many further steps of the runtime. Says whether the turn was
/// over by then.
fn die(bench: &Bench, once: &Arc<Once>, events: usize, steps: usize) -> bool {
    let runtime = one_thread();
    let over = runtime.block_on(async {
        let agent = agent(bench, once);
        let mut handle = agent.chat(last("do it")).await.unwrap();
        for _ in 0..events {
            // A tool that is held up ends this life as well.
            let event = tokio::time::timeout(Duration::from_millis(300), handle.next()).await;
            if event.ok().flatten().is_none_or(|event| event.is_last()) {
                return true;
            }
        }
        for _ in 0..steps {
            tokio::task::yield_now().await;
        }
        false
    });
    runtime.shutdown_background();
    over
}

/// Starts again and waits until nothing is left to do.
async fn start_again(bench: &Bench, once: &Arc<Once>) -> (Agent, Vec<StoredMessage>) {
    // The dead process's lease runs out.
    bench.clock.forward(1.minute());
    let agent = agent(bench, once);
    agent.conversations().resume().await.unwrap();
    let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
    let store = agent.store();
    let settled = async {
        loop {
            let waiting = store.waiting(&conversation.id).await.unwrap().rows;
            if waiting.is_empty() && store.unfinished_turns().await.unwrap().rows.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(crate::kit::PATIENCE, settled).await.unwrap();
    let rows = store.messages(&conversation.id, None).await.unwrap().rows;
    (agent, rows)
}

// SEC-040 SEC-041 ARC-004 ARC-012 LES-140
#[test]
fn killed_at_every_step_nothing_is_lost_or_done_twice() {
    let servers = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut unknown = 0;
    for (steps, held) in [(0, false), (5, false), (0, true)] {
        for events in 0.. {
            let bench = servers.block_on(Bench::new(SCRIPT));
            let once = Once::new();
            once.go_on.add_permits(if held { 0 } else { 10 });
            let over = die(&bench, &once, events, steps);
            once.go_on.add_permits(10);
            let at = format!("after {events} events and {steps} steps, held: {held}");

            let runtime = one_thread();
            runtime.block_on(async {
                let (agent, rows) = start_again(&bench, &once).await;
                let messages: Vec<Message> = rows.iter().map(|row| row.message.clone()).collect();
                assert_eq!(unpaired(&messages), None, "{at}");
                let shown: Vec<String> =
                    messages.iter().map(|message| format!("{} {}", message.role, message.text)).collect();
                assert_eq!(messages.len(), 5, "{at}: {shown:#?}");
                assert!(shown[0].starts_with("user do it\n\n[context]\n"), "{at}: {shown:#?}");
                assert_eq!(messages[4].text, "Done.", "{at}");
                let result = messages.iter().find(|message| message.role == Role::Tool).unwrap();
                let runs = once.runs.load(Ordering::SeqCst);
                assert!(runs <= 1, "{at}: ran {runs} times");
                if result.text != "done" {
                    assert!(result.text.contains("outcome unknown"), "{at}: {}", result.text);
                    unknown += 1;
                }
                assert_eq!(agent.memory().recall("oolong", 5).await.unwrap().len(), 1, "{at}");

                // The next turn is valid, and what it sends begins with what was sent before.
                say(&agent, "and?").await;
                let calls = bench.server.calls();
                let texts: Vec<String> = calls.last().unwrap().texts().into_iter().map(|sent| sent.text).collect();
                assert_eq!(texts[1], messages[0].text, "{at}");
            });
            runtime.shutdown_background();
            if over {
                break;
            }
        }
    }
    assert!(unknown > 0, "no kill fell between the start and the end of the call");
}

/// Pages of the web, and what was asked for. The first request for `/1` gets no answer.
async fn pages(asked: Arc<Mutex<Vec<String>>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut client, _)) = listener.accept().await {
            let mut head = [0; 4096];
            let read = client.read(&mut head).await.unwrap_or(0);
            let head = String::from_utf8_lossy(&head[..read]).into_owned();
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            asked.lock().unwrap().push(path.clone());
            if path == "/1" && held.is_empty() {
                held.push(client);
                continue;
            }
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close";
            let _ = client.write_all(format!("{head}\r\ncontent-length: 3\r\n\r\ntea").as_bytes()).await;
        }
    });
    url
}

/// What one reply called ends call by call. Of those that had ended none is forgotten, although others ran on.
// SEC-041 SEC-067 SEC-069
#[test]
fn an_address_that_was_fetched_before_the_crash_is_not_fetched_anew_and_the_call_under_way_goes_on() {
    let servers = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let url = servers.block_on(pages(Arc::clone(&asked)));
    let fetch = |path: &str| format!("{{ name = \"web_fetch\", arguments = {{ url = \"{url}{path}\" }} }}");
    let diary = "{ name = \"read_file\", arguments = { path = \"diary.md\" } }".to_owned();
    let replies = [diary, fetch("/start"), format!("{}, {}", fetch("/0"), fetch("/1")), fetch("/0")];
    let script: String = replies.iter().map(|calls| format!("[[reply]]\ncalls = [{calls}]\n")).collect();
    let mut bench = servers.block_on(Bench::new(&format!("{script}[[reply]]\ntext = \"Done.\"\n")));
    bench.config.web = Config::parse("[web]\nmirrors = [\"127.0.0.1\"]\n", "limpid.toml").unwrap().web;
    bench.write("workspace/diary.md", "ward 4711");

    let runtime = one_thread();
    let conversation = runtime.block_on(async {
        let agent = bench.agent();
        let words = format!("Compare {url}/start, {url}/0, {url}/1, {url}/2.");
        let mut handle = agent.chat(last(&words)).await.unwrap();
        let conversation = handle.conversation().clone();
        let under_way = async {
            // The diary, the first page, and of the next reply the call that gets an answer.
            let mut ended = 0;
            while ended < 3 {
                ended += usize::from(matches!(handle.next().await.unwrap(), TurnEvent::ToolDone { .. }));
            }
            while !asked.lock().unwrap().iter().any(|path| path == "/1") {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(crate::kit::PATIENCE, under_way).await.unwrap();
        conversation
    });
    runtime.shutdown_background();

    bench.clock.forward(1.minute());
    let runtime = one_thread();
    runtime.block_on(async {
        let agent = bench.agent();
        agent.conversations().resume().await.unwrap();
        agent.conversations().wait_idle(&conversation).await;
        let mut asked = asked.lock().unwrap().clone();
        asked.sort();
        assert_eq!(asked, ["/0", "/1", "/1", "/start"]);
        let drafts = agent.drafts().list(false).await.unwrap().rows;
        let waiting: Vec<&str> = drafts.iter().map(|draft| draft.new.arguments.as_str()).collect();
        assert_eq!(waiting.len(), 1, "{waiting:?}");
        assert!(waiting[0].contains("/0"), "{waiting:?}");
    });
    runtime.shutdown_background();
}

/// An editor's session has folders of its own: what was meant for a file there must not be done to one of the workspace.
// SUR-034 SEC-041
#[test]
fn a_turn_that_began_in_other_folders_goes_on_where_they_are_and_nowhere_else() {
    let servers = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    for speaks in [false, true] {
        let mut bench = servers.block_on(Bench::new(SCRIPT));
        let once = Once::new();
        once.go_on.add_permits(10);
        let here = bench.config.clone();
        bench.config.files.base = Some(bench.home.path().join("project"));
        let there = bench.config.clone();
        // The model has begun to speak, and called nothing yet.
        assert!(!die(&bench, &once, 2, 0));
        assert_eq!(once.runs.load(Ordering::SeqCst), 0);
        bench.config = here;
        bench.clock.forward(1.minute());
        let runtime = one_thread();
        runtime.block_on(async {
            let agent = agent(&bench, &once);
            let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
            if speaks {
                say(&agent, "go on").await;
            } else {
                agent.conversations().resume().await.unwrap();
                agent.conversations().wait_idle(&conversation).await;
            }
            let left = agent.store().unfinished_turns().await.unwrap().rows.len();
            // Whoever speaks here has the model begin anew.
            let runs = once.runs.load(Ordering::SeqCst);
            assert_eq!((runs, left), (u64::from(speaks), usize::from(!speaks)), "speaks: {speaks}");
            let line = format!("start in: `{}`", bench.home.path().join("workspace").display());
            let says = bench.server.calls().pop().is_some_and(|newest| newest.text().contains(&line));
            assert_eq!(says, speaks, "the model is told where it works now");
        });
        runtime.shutdown_background();
        bench.config = there;
        let runtime = one_thread();
        runtime.block_on(async {
            start_again(&bench, &once).await;
            assert_eq!(once.runs.load(Ordering::SeqCst), 1, "it goes on where it began, and once");
        });
        runtime.shutdown_background();
    }
}

// LES-143
#[tokio::test]
async fn an_accepted_message_that_nobody_took_is_answered_by_the_next_start() {
    let bench = Bench::new("[[reply]]\ntext = \"Here.\"\n").await;
    let once = Once::new();
    let agent = agent(&bench, &once);
    let conversation = agent.chat(last("first")).await.unwrap().conversation().clone();
    let new = limpid_store::NewInbound {
        conversation,
        key: None,
        text: "left behind".to_owned(),
        trust: limpid_core::Trust::Owner,
        typed: true,
        base: limpid_store::Base::Workspace,
        now_ms: agent.now_ms(),
    };
    agent.store().accept(new).await.unwrap();
    drop(agent);
    let (_, rows) = start_again(&bench, &once).await;
    assert_eq!(rows.iter().filter(|row| row.message.text.starts_with("left behind")).count(), 1);
    assert_eq!(rows.last().unwrap().message.text, "Here.");
}

/// What is said in an editor's session means the files there, and what is said at a terminal those of the workspace.
// SUR-034 SEC-041
#[tokio::test]
async fn a_message_is_answered_where_it_was_said() {
    let mut bench = Bench::new("[[reply]]\ntext = \"Here.\"\n").await;
    let once = Once::new();
    let here = bench.config.clone();
    bench.config.files.base = Some(bench.home.path().join("project"));
    let there = std::mem::replace(&mut bench.config, here.clone());
    for (text, now, other) in [("empty notes.md", &here, &there), ("empty tea.md", &there, &here)] {
        bench.config = now.clone();
        let first = agent(&bench, &once);
        let handle = first.chat(last("first")).await.unwrap();
        let conversation = handle.conversation().clone();
        all(handle).await;
        let new = limpid_store::NewInbound {
            conversation: conversation.clone(),
            key: None,
            text: text.to_owned(),
            trust: limpid_core::Trust::Owner,
            typed: true,
            base: other.files.base_text().into(),
            now_ms: first.now_ms(),
        };
        first.store().accept(new).await.unwrap();
        first.conversations().resume().await.unwrap();
        first.conversations().wait_idle(&conversation).await;
        say(&first, "second").await;
        let asked = bench.server.calls();
        assert!(asked.iter().all(|asked| !asked.text().contains(text)), "it waits for the other folder");
        assert_eq!(first.store().waiting(&conversation).await.unwrap().rows.len(), 1);
        drop(first);
        bench.config = other.clone();
        start_again(&bench, &once).await;
        assert!(bench.server.calls().pop().unwrap().text().contains(text));
    }
}
