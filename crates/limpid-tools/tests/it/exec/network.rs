//! What a program with the network reaches, and what it does not.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::kit::Bench;

/// A web server on this machine, and how many have come to it.
fn server() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let came = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&came);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ntea\n");
        }
    });
    (port, came)
}

fn bench(names: Vec<String>) -> Bench {
    let mut bench = Bench::new();
    bench.programs.network.names = names;
    // What the name of this machine leads to, which is no address of the public web.
    bench.programs.network.mirrors = vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
    bench
}

// SEC-087
#[tokio::test]
async fn a_granted_name_is_reached_and_no_address_other_name_or_port() {
    let ((port, came), (other, others)) = (server(), server());
    let bench = bench(vec![format!("localhost:{port}")]);
    let granted = format!("curl -sS http://localhost:{port}/a; curl -sS --proxytunnel http://localhost:{port}/a");
    assert_eq!(bench.run(&granted).await, "tea\ntea\nExit code: 0");
    assert_eq!(came.load(Ordering::SeqCst), 2);
    for elsewhere in [
        format!("localhost:{other}"),
        format!("127.0.0.1:{port}"),
        format!("x.localhost:{port}"),
        "a.example".to_owned(),
    ] {
        let told = bench.run(&format!("curl -sS http://{elsewhere}/; curl -sSp http://{elsewhere}/")).await;
        assert!(told.contains("is not among the names of `network`"), "{elsewhere}: {told}");
        assert!(told.contains("403") && !told.contains("tea"), "{elsewhere}: {told}");
        let told = bench.run(&format!("curl -sS --noproxy '*' http://{elsewhere}/")).await;
        assert!(!told.contains("tea") && told.contains("curl: ("), "{elsewhere}: {told}");
    }
    assert_eq!((came.load(Ordering::SeqCst), others.load(Ordering::SeqCst)), (2, 0));
}

// SEC-087 SEC-022
#[tokio::test]
async fn a_granted_name_that_leads_to_this_machine_is_not_reached() {
    let (port, came) = server();
    let mut bench = bench(vec![format!("localhost:{port}")]);
    bench.programs.network.mirrors.clear();
    let told = bench.run(&format!("curl -sS http://localhost:{port}/")).await;
    assert!(told.contains("not an address of the public web"), "{told}");
    // It is the owner's own network, which no name leads to.
    bench.programs.network.also = vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
    let told = bench.run(&format!("curl -sS http://localhost:{port}/")).await;
    assert!(told.contains("not an address of the public web"), "{told}");
    assert_eq!(came.load(Ordering::SeqCst), 0);
    bench.programs.network.names.push(format!("127.0.0.1:{port}"));
    assert_eq!(bench.run(&format!("curl -sS http://127.0.0.1:{port}/")).await, "tea\nExit code: 0");
}

// SEC-087
#[tokio::test]
async fn there_is_no_way_out_but_the_proxy() {
    let (port, came) = server();
    let bench = bench(vec!["a.example".to_owned()]);
    let direct = format!(
        "perl -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 0) or die \"refused: $!\"; \
                          connect($s, sockaddr_in({port}, inet_aton(\"127.0.0.1\"))) or die \"no way: $!\"'"
    );
    assert!(bench.run(&direct).await.contains("no way: "));
    for kind in ["PF_INET, SOCK_DGRAM", "PF_INET, SOCK_RAW", "PF_INET6, SOCK_STREAM", "PF_UNIX, SOCK_STREAM"] {
        let told = bench.run(&format!("perl -MSocket -e 'socket(my $s, {kind}, 0) or die \"refused: $!\"'")).await;
        assert!(told.contains("refused: "), "{kind}: {told}");
    }
    // Questions to a name server would carry their names away: none is asked, neither by the program nor by the proxy.
    let told = bench.run("getent hosts secret.a.example; echo $?; curl -sS http://secret.a.example/").await;
    assert!(told.starts_with("2\n") && told.contains("`secret.a.example:80` is not among the names"), "{told}");
    assert!(bench.run("cat /proc/net/dev /proc/net/route").await.lines().count() < 8);
    assert_eq!(came.load(Ordering::SeqCst), 0);
}

// SEC-087
#[tokio::test]
async fn many_connections_keep_nobody_from_watching() {
    let (port, _) = server();
    let bench = bench(vec![format!("localhost:{port}")]);
    let many = "perl -MSocket -e 'for (1..500) { socket($s[$_], PF_INET, SOCK_STREAM, 0); \
                connect($s[$_], sockaddr_in(3128, inet_aton(\"127.0.0.1\"))) } print \"opened\\n\"; exit'";
    let told = bench.run(&format!("{many}; curl -sS --retry 5 --retry-all-errors http://localhost:{port}/")).await;
    assert!(told.contains("opened\ntea\n"), "{told}");
}

// SEC-087
#[tokio::test]
async fn without_namespaces_no_program_has_the_network() {
    let Some(bench) = Bench::without_namespaces() else { return };
    let mut bench = bench.flat();
    bench.programs.network.names = vec!["a.example".to_owned()];
    let told = bench.run("true").await;
    assert!(told.contains("without namespaces no program can be held to some names"), "{told}");
}

// SEC-087
#[tokio::test]
async fn a_program_that_missed_the_network_is_told_that_none_is_granted() {
    let bench = Bench::new();
    let hint = "It had no network: the owner granted none (`network` under [exec] in limpid.toml).";
    let told = bench.run("curl -sS http://a.example/").await;
    assert!(told.contains("Could not resolve host: a.example\nExit code: 6") && told.ends_with(hint), "{told}");
    let told = bench.run("echo could not resolve the question; false").await;
    assert!(told.ends_with(hint), "words are all there is to see: {told}");
    assert!(!bench.run("false").await.contains(hint));
}
