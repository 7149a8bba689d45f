//! A page on the owner's screen, and where this machine is.

use std::sync::{Arc, Mutex};

use crate::kit::{Server, context, page, told};
use async_trait::async_trait;
use limpid_core::{Sentence, ToolClass, Trust};
use limpid_tools::{Addresses, GetLocationFromIp, OpenUrl, Screen, Tool, Web};
use serde_json::json;

/// A screen that only notes what it is to show.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

#[async_trait]
impl Screen for Notes {
    async fn open(&self, url: &str) -> Result<(), Sentence> {
        self.0.lock().unwrap().push(url.to_owned());
        Ok(())
    }
}

#[tokio::test]
async fn only_web_addresses_are_opened_and_the_host_is_named() {
    let screen = Arc::new(Notes::default());
    let tool = OpenUrl::new(Arc::clone(&screen) as Arc<dyn Screen>, Web::new(Addresses::Public));
    assert_eq!(tool.class(), ToolClass::Send);
    let open = async |url: &str| told(tool.run(&context(Trust::Owner), json!({ "url": url })).await);
    assert_eq!(open("https://maps.test/?q=tea shop").await.unwrap().text, "opened maps.test");
    for wrong in ["file:///etc/passwd", "--help", "javascript:alert(1)", "mailto:a@b.test", "tea"] {
        assert!(open(wrong).await.is_err(), "{wrong}");
    }
    assert_eq!(*screen.0.lock().unwrap(), ["https://maps.test/?q=tea%20shop"]);
    assert_eq!(tool.destination(&json!({ "url": "https://maps.test/x" })).unwrap().to_string(), "maps.test");
    assert_eq!(tool.destination(&json!({ "url": "http://maps.test/x" })).unwrap().to_string(), "http://maps.test");
}

// SEC-100
#[tokio::test]
async fn a_page_of_the_owners_own_network_is_known_as_one_on_the_screen_too() {
    let web = Web::new(Addresses::Public).with_own(vec!["192.0.2.7".parse().unwrap()]);
    let tool = OpenUrl::new(Arc::new(Notes::default()), web);
    let leads = async |url: &str| tool.leads_to_own_network(&json!({ "url": url })).await;
    assert!(leads("http://192.0.2.7/reboot").await && !leads("http://192.0.2.8/reboot").await);
}

#[tokio::test]
async fn a_place_is_what_the_owners_service_says() {
    let server = Server::start("127.0.0.1", 0, |path| match path {
        "/json" => {
            let body =
                r#"{"ip":"198.51.100.7","city":"Oslo","country":"NO","lat":59.9,"org":"x","timezone":"Europe/Oslo"}"#;
            page("200 OK", "application/json", body)
        }
        "/empty" => page("200 OK", "application/json", "{}"),
        _ => page("500 Internal Server Error", "text/plain", "no"),
    })
    .await;
    let ask = async |path: &str| {
        let tool = GetLocationFromIp::new(&server.url(path));
        told(tool.run(&context(Trust::Owner), json!({})).await)
    };
    let place = ask("/json").await.unwrap();
    assert_eq!(place.text, "city: Oslo\ncountry: NO\nlat: 59.9\ntimezone: Europe/Oslo");
    assert_eq!(place.trust, Trust::Outside);
    assert!(ask("/empty").await.unwrap_err().ends_with("did not say where"));
    assert!(ask("/broken").await.unwrap_err().ends_with("answered 500 Internal Server Error"));
}
