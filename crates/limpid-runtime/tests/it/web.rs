//! The tools of the web as the owner's settings have them.

use crate::kit::{Bench, say};
use limpid_runtime::Config;

fn declared(bench: &Bench) -> Vec<String> {
    let request = bench.server.calls()[0].json();
    let tools = request["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

// SEC-022 PICO-094
#[tokio::test]
async fn unless_the_owner_says_otherwise_a_page_of_this_machine_is_not_fetched() {
    for (web, refused) in
        [("", true), ("[web]\nalso = [\"127.0.0.1\"]\n", false), ("[web]\nmirrors = [\"127.0.0.1\"]\n", false)]
    {
        let url = "http://127.0.0.1:PORT/page";
        let script = format!(
            "[[reply]]\ncalls = [{{ name = \"web_fetch\", arguments = {{ url = \"{url}\" }} }}]\n[[reply]]\ntext = \"ok\"\n"
        );
        let page = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = page.local_addr().unwrap().port();
        let answered = tokio::spawn(async move {
            use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
            let (mut client, _) = page.accept().await.unwrap();
            let _ = client.read(&mut [0; 1024]).await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10\r\nconnection: close\r\n\r\n";
            client.write_all(format!("{head}the secret").as_bytes()).await.unwrap();
        });
        let mut bench = Bench::new(&script.replace("PORT", &port.to_string())).await;
        bench.config.web = Config::parse(web, "limpid.toml").unwrap().web;
        say(&bench.agent(), "read the page").await;
        let request = bench.server.calls()[1].text();
        assert_eq!(request.contains("127.0.0.1 is not an address of the public web"), refused, "{request}");
        assert_eq!(request.contains("the secret"), !refused, "{request}");
        assert_eq!(request.contains("an address of the owner's own network"), web.contains("also"), "{request}");
        assert_eq!(answered.is_finished(), !refused, "nothing was sent");
        answered.abort();
    }
}

// PICO-093
#[tokio::test]
async fn without_an_engine_of_the_owners_no_search_is_offered() {
    for (search, offered) in
        [("", false), ("[search]\nengine = \"brave\"\n", false), ("[search]\nengine = \"duckduckgo\"\n", true)]
    {
        let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
        bench.config.search = Config::parse(search, "limpid.toml").unwrap().search;
        say(&bench.agent(), "hi").await;
        let names = declared(&bench);
        assert!(names.contains(&"web_fetch".to_owned()), "{names:?}");
        assert_eq!(names.contains(&"web_search".to_owned()), offered, "{search}: {names:?}");
    }
}
