//! Servers that nobody here wrote.

use limpid_mcp::{Connection, Revision};
use limpid_testkit::real_mcp_server;
use serde_json::json;

use crate::servers::{how, program};

// SUR-034
#[tokio::test]
async fn real_servers_of_both_revisions_answer() {
    let folder = tempfile::tempdir().unwrap();
    if let Some(words) = real_mcp_server("time") {
        let connection = Connection::open(&program(&words, folder.path()), &how()).await.unwrap();
        assert_eq!(connection.revision(), Revision::Discovery);
        let noon = json!({ "source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "Asia/Kathmandu" });
        let answer = connection.call("convert_time", noon.as_object().unwrap().clone(), None).await.unwrap();
        assert!(answer.text.contains("08:45"), "{}", answer.text);
    }
    if let Some(words) = real_mcp_server("everything") {
        let connection = Connection::open(&program(&words, folder.path()), &how()).await.unwrap();
        assert_eq!(connection.revision(), Revision::Handshake);
        let sum = json!({ "a": 20, "b": 22 }).as_object().unwrap().clone();
        assert!(connection.call("get-sum", sum, None).await.unwrap().text.contains("42"));
        let image = connection.call("get-tiny-image", serde_json::Map::new(), None).await.unwrap().text;
        assert!(image.contains("[image of type image/png, "), "{image}");
        assert!(connection.prompt("simple-prompt").await.unwrap().contains("simple prompt"));
        let resources = connection.resources().await.unwrap().items;
        assert!(!connection.resource(&resources[0].uri).await.unwrap().is_empty());
    }
}
