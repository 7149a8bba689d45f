//! SUR-029: what the screens of the page weigh, and how soon they show something.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use super::Table;
use super::program::{Program, block_on};

/// Where Playwright and the browser are (`scripts/parts-real`).
const PARTS: [&str; 2] = ["LIMPID_TEST_MCP_BROWSER", "LIMPID_TEST_CHROMIUM"];

/// What begins a line with numbers: `weight | NAME | FILES | BYTES | MS | WORST MS | NEXT MS | WORST NEXT MS`.
const ROW: &str = "weight | ";

/// What a home has to show.
const SCRIPT: &str = "[[reply]]\ntext = \"Hello.\"\nusage = { input = 900, output = 2 }\n";

// SUR-029
pub(crate) fn measure(root: &Path) -> Result<Table, String> {
    if PARTS.iter().any(|name| std::env::var_os(name).is_none()) {
        return Err(format!("{PARTS:?} are not set; run `. scripts/parts-real` before"));
    }
    Ok(Table {
        title: "SUR-029 What a screen weighs, and how soon it shows something",
        how: "The release binary serves a home with one conversation on the loopback; Chromium opens each screen eleven times \
              with an empty cache and a new process, and once more in the same window, as one does who comes from another \
              screen. Bytes are those of the screen and of all that it loads, uncompressed; the times are those of the \
              browser's own first contentful paint. A screen that asked anybody else would end the measure."
            .to_owned(),
        target: "first content within 100 ms, below 150,000 bytes without what is said, no request to anybody else",
        head: vec!["screen", "files", "bytes", "first visit: median ms", "worst ms", "from another screen: median ms", "worst ms"],
        rows: block_on(run(root))?,
    })
}

async fn run(root: &Path) -> Result<Vec<Vec<String>>, String> {
    let program = Program::new(root, SCRIPT).await?;
    let address = format!("127.0.0.1:{}", limpid_testkit::free_port());
    let config = format!("model = \"openai/scripted\"\n[page]\nlisten = \"{address}\"\n");
    fs::create_dir_all(program.home()).map_err(|error| error.to_string())?;
    fs::write(program.home().join("limpid.toml"), config).map_err(|error| error.to_string())?;
    program.run(&["chat", "hi"])?;
    let mut serving = program.start(&["serve"])?;
    let rows = visit(root, &program, &mut serving, &address).await;
    serving.kill().map_err(|error| error.to_string())?;
    serving.wait().map_err(|error| error.to_string())?;
    rows
}

async fn visit(root: &Path, program: &Program, serving: &mut Child, address: &str) -> Result<Vec<Vec<String>>, String> {
    while tokio::net::TcpStream::connect(address).await.is_err() {
        if let Some(status) = serving.try_wait().map_err(|error| error.to_string())? {
            return Err(format!("`limpid serve` ended by itself: {status}"));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let link = program.output(&["serve", "--link"])?;
    let link = link.split_whitespace().find(|word| word.starts_with("http")).ok_or("no link was printed")?;
    let mut node = Command::new("node");
    node.arg(root.join("crates/limpid-server/tests/browser/measure.mjs"));
    let page = link.split("/login").next().unwrap_or(link);
    let done = node.env("LIMPID_URL", page).env("LIMPID_LINK", link).output();
    let done = done.map_err(|error| format!("node: {error}"))?;
    let said = String::from_utf8_lossy(&done.stdout);
    if !done.status.success() {
        return Err(said.into_owned());
    }
    let rows = said.lines().filter_map(|line| line.strip_prefix(ROW));
    Ok(rows.map(|row| row.split(" | ").map(str::to_owned).collect()).collect())
}
