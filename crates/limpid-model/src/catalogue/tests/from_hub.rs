//! Models of the hub by name, against a hub on loopback that speaks as the real one does.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::key::ApiKey;

/// What a server answers under a path: a status line with headers, and a body.
type Answers = BTreeMap<String, (String, Vec<u8>)>;

/// A server with these answers, and the requests that it saw.
async fn server(answers: Answers) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = vec![0; 4096];
            let read = socket.read(&mut request).await.unwrap();
            let request = String::from_utf8_lossy(&request[..read]).into_owned();
            let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
            let none = ("404 Not Found".to_owned(), Vec::new());
            let (head, body) = answers.get(&path).cloned().unwrap_or(none);
            seen.lock().unwrap().push(request);
            let head = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            socket.write_all(&[head.as_bytes(), &body].concat()).await.unwrap();
        }
    });
    (address, requests)
}

const REVISION: &str = "bc640142c66e1fdd12af0bd68f40445458f3869b";

/// What the hub says of a repository with these files.
fn about(files: &[(&str, &[u8])]) -> Vec<u8> {
    let siblings: Vec<_> = files
        .iter()
        .map(|(name, bytes)| {
            let lfs = json!({ "sha256": hash(bytes), "size": bytes.len(), "pointerSize": 134 });
            json!({ "rfilename": name, "size": bytes.len(), "blobId": "0", "lfs": lfs })
        })
        .collect();
    let whole = json!({
        "id": "some/Tiny-GGUF", "sha": REVISION, "gated": false, "siblings": siblings,
        "cardData": { "license": "apache-2.0" }, "gguf": { "total": 1_720_574_976, "architecture": "qwen3" },
    });
    whole.to_string().into_bytes()
}

fn ok(body: &[u8]) -> (String, Vec<u8>) {
    ("200 OK".to_owned(), body.to_vec())
}

const API: &str = "/api/models/some/Tiny-GGUF?blobs=true";

fn at(file: &str) -> String {
    format!("/some/Tiny-GGUF/resolve/{REVISION}/{file}")
}

fn case(hub: &str) -> Case {
    Case::new(hub, b"", &"0".repeat(64))
}

async fn pull(case: &mut Case, name: &str) -> Result<Fetched, PullError> {
    let wanted = HubModel::parse(name).unwrap();
    let name = case.downloads.pin(&wanted, &case.settings).await?.name.clone();
    case.fetch(&name).await.0
}

// MOD-155
#[tokio::test]
async fn a_split_model_comes_whole_with_its_projector_and_stays_what_it_was() {
    let file = Builder::small().bytes();
    let names = ["Q8_0/Tiny-Q8_0-00001-of-00002.gguf", "Q8_0/Tiny-Q8_0-00002-of-00002.gguf", "mmproj-F16.gguf"];
    let others = ["README.md", "Tiny-Q4_K_M.gguf", "mmproj-BF32.gguf", "../../evil.gguf"];
    let files: Vec<(&str, &[u8])> = names.iter().chain(&others).map(|name| (*name, file.as_slice())).collect();
    let mut answers: Answers = files.iter().map(|(name, bytes)| (at(name), ok(bytes))).collect();
    answers.insert(API.to_owned(), ok(&about(&files)));
    let (hub, requests) = server(answers).await;
    let mut one = case(&hub);
    let fetched = pull(&mut one, "hf:some/Tiny-GGUF:q8_0").await.unwrap();
    assert_eq!(
        (fetched.name.as_str(), fetched.path.file_name().unwrap().to_str().unwrap()),
        ("Tiny-Q8_0", "Tiny-Q8_0-00001-of-00002.gguf")
    );
    let here =
        ["Tiny-Q8_0-00001-of-00002.gguf", "Tiny-Q8_0-00002-of-00002.gguf", "Tiny-Q8_0.mmproj.gguf", "Tiny-Q8_0.toml"];
    assert_eq!(one.files(), here);
    one.downloads.verify("Tiny-Q8_0").unwrap();

    // A later start knows it, lists it once, and does not ask the hub what it is.
    let asked = requests.lock().unwrap().len();
    one.downloads = Downloads::load(None, one.downloads.folder()).unwrap();
    let listed: Vec<_> = one.downloads.list().into_iter().filter(|row| row.name.starts_with("Tiny")).collect();
    assert!(matches!(listed.as_slice(), [Listed { installed: Installed::Whole { .. }, .. }]), "{listed:?}");
    let about = listed[0].download.unwrap();
    assert_eq!((about.licence.as_str(), about.parameters.as_str()), ("apache-2.0", "1.7B"));
    assert_eq!(about.note, "from some/Tiny-GGUF at bc640142c66e");
    pull(&mut one, "hf:some/Tiny-GGUF:Q8_0").await.unwrap();
    assert_eq!(requests.lock().unwrap().len(), asked);

    // What is not the pinned bytes is refused, and nothing of the model stays behind when it is removed.
    fs::write(one.downloads.folder().join("Tiny-Q8_0-00002-of-00002.gguf"), b"GGUF").unwrap();
    assert!(matches!(one.downloads.verify("Tiny-Q8_0"), Err(PullError::Wrong { .. })));
    one.downloads.remove("Tiny-Q8_0").unwrap();
    assert!(one.files().is_empty(), "{:?}", one.files());
}

// MOD-155
#[tokio::test]
async fn a_name_that_does_not_say_which_file_is_answered_with_what_there_is() {
    let file = Builder::small().bytes();
    let says = async |name: &str, files: &[&str]| {
        let files: Vec<(&str, &[u8])> = files.iter().map(|name| (*name, file.as_slice())).collect();
        let (hub, _) = server([(API.to_owned(), ok(&about(&files)))].into()).await;
        let mut case = case(&hub);
        let pinned = case.downloads.pin(&HubModel::parse(name).unwrap(), &case.settings).await;
        match pinned {
            Ok(download) => download.file.clone(),
            Err(error) => error.to_string(),
        }
    };
    let two = ["T-Q4_K_M.gguf", "T-Q4_K.gguf"];
    let lines = [
        says("hf:some/Tiny-GGUF", &two).await,
        says("hf:some/Tiny-GGUF:Q4_K", &two).await,
        says("hf:some/Tiny-GGUF:K", &two).await,
        says("hf:some/Tiny-GGUF", &["T-Q2_K.gguf"]).await,
        says("hf:some/Tiny-GGUF", &["T-Q2_K.gguf", "T-Q3_K.gguf"]).await,
        says("hf:some/Tiny-GGUF", &["model.safetensors"]).await,
        says("hf:some/Tiny-GGUF", &["T-00001-of-00003.gguf", "T-00003-of-00003.gguf"]).await,
        says("hf:some/Tiny-GGUF", &["../T-Q4_K_M.gguf", ".T-Q4_K_M.gguf", "a b-Q4_K_M.gguf"]).await,
    ];
    insta::assert_snapshot!(lines.join("\n"));
}

// MOD-155
#[tokio::test]
async fn an_answer_that_is_none_of_the_hubs_is_an_error_and_leaves_nothing_behind() {
    for body in ["", "{", "[]", "{\"sha\":\"../x\"}", "{\"sha\":\"bc64\",\"siblings\":[]}", "{\"sha\":1}"] {
        let (hub, _) = server([(API.to_owned(), ok(body.as_bytes()))].into()).await;
        let mut case = case(&hub);
        let error = pull(&mut case, "hf:some/Tiny-GGUF").await.unwrap_err().to_string();
        assert!(error.contains("some/Tiny-GGUF") && !case.downloads.folder().exists(), "{body}: {error}");
    }
}

// MOD-156
#[tokio::test]
async fn the_token_goes_to_the_hub_and_to_nobody_it_points_to() {
    let file = Builder::small().bytes();
    let (store, stored) = server([("/blob".to_owned(), ok(&file))].into()).await;
    let elsewhere = (format!("302 Found\r\nlocation: {store}/blob"), Vec::new());
    let files: [(&str, &[u8]); 1] = [("Tiny-Q4_K_M.gguf", &file)];
    let answers = [(API.to_owned(), ok(&about(&files))), (at("Tiny-Q4_K_M.gguf"), elsewhere)];
    let (hub, asked) = server(answers.into()).await;
    let mut case = case(&hub);
    case.settings.token = Some(ApiKey::new("hf_secret"));
    pull(&mut case, "hf:some/Tiny-GGUF").await.unwrap();
    let bears = |requests: &Arc<Mutex<Vec<String>>>| -> Vec<bool> {
        requests.lock().unwrap().iter().map(|request| request.contains("Bearer hf_secret")).collect()
    };
    assert_eq!((bears(&asked), bears(&stored)), (vec![true, true], vec![false]));
    let pin = fs::read_to_string(case.downloads.folder().join("Tiny-Q4_K_M.toml")).unwrap();
    assert!(!pin.contains("hf_secret"));
}

// MOD-156
#[tokio::test]
async fn a_gated_model_says_whose_licence_to_accept() {
    for (status, token) in [("401 Unauthorized", None), ("403 Forbidden", Some("hf_secret"))] {
        let (hub, _) = server([(API.to_owned(), (status.to_owned(), Vec::new()))].into()).await;
        let mut case = case(&hub);
        case.settings.token = token.map(ApiKey::new);
        let error = pull(&mut case, "hf:some/Tiny-GGUF").await.unwrap_err().to_string();
        assert!(error.contains(&format!("accept the model's licence at {hub}/some/Tiny-GGUF")), "{error}");
        let what = if token.is_some() { "the account of HF_TOKEN" } else { "set HF_TOKEN" };
        assert!(error.contains(what) && !error.contains("hf_secret"), "{error}");
    }
    let (hub, _) = server(Answers::new()).await;
    let error = pull(&mut case(&hub), "hf:some/Tiny-GGUF").await.unwrap_err().to_string();
    assert_eq!(error, "some/Tiny-GGUF: the hub has no such repository or file; check owner, name and letters");
}
