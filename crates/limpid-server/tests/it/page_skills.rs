//! Skills at the page.

use limpid_runtime::SkillStatus;
use reqwest::StatusCode;

use crate::kit::{PageBench, QUIET};

async fn status(bench: &PageBench) -> Option<SkillStatus> {
    let skills = bench.agent.skills().list().await.unwrap();
    skills.into_iter().find(|skill| skill.name == "invoices").map(|skill| skill.status)
}

// SUR-024 SEC-056
#[tokio::test]
async fn a_skill_is_installed_read_whole_allowed_removed_and_brought_back() {
    let bench = PageBench::new(QUIET, "").await;
    let from = tempfile::tempdir().unwrap();
    let folder = from.path().join("invoices");
    std::fs::create_dir(&folder).unwrap();
    let text = "---\nname: invoices\ndescription: Files <i>invoices</i>.\n---\nPut them </pre><b>there</b>.\n";
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
    assert!(!bench.html("/skills").await.contains("invoices</bdi>"));
    let to = bench.leads("/skills", &[("path", folder.to_str().unwrap())]).await;
    assert_eq!(to, "/skills/invoices");
    let screen = bench.html(&to).await;
    assert!(
        screen.contains("waits for your review") && screen.contains("Put them &#60;/pre&#62;&#60;b&#62;there"),
        "{screen}"
    );
    assert_eq!(status(&bench).await, Some(SkillStatus::Awaiting));

    let hash = screen.split("name=\"hash\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    for other in ["", "0000000000000000"] {
        let refused = bench.post("/skills/invoices/enable", &[("hash", other)]).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{other}");
    }
    assert_eq!(status(&bench).await, Some(SkillStatus::Awaiting), "nothing was allowed but what was shown");
    bench.leads("/skills/invoices/enable", &[("hash", hash)]).await;
    assert_eq!(status(&bench).await, Some(SkillStatus::Ready));
    bench.leads("/skills/invoices/disable", &[]).await;
    assert_eq!(status(&bench).await, Some(SkillStatus::Disabled));
    bench.leads("/skills/invoices/enable", &[("hash", hash)]).await;

    let screen = bench.html(&bench.leads("/skills/invoices/remove", &[]).await).await;
    assert!(screen.contains("Removed “<bdi>invoices</bdi>”"), "{screen}");
    assert_eq!(status(&bench).await, None);
    bench.leads("/skills/invoices/undo", &[]).await;
    assert_eq!(status(&bench).await, Some(SkillStatus::Ready));
    assert!(!bench.html("/skills?gone=invoices").await.contains("Removed “"));

    let nowhere = bench.post("/skills", &[("path", "/nowhere/at/all")]).send().await.unwrap();
    assert_ne!(nowhere.status(), StatusCode::SEE_OTHER);
    assert_eq!(bench.get("/skills/..%2F..%2Fetc").send().await.unwrap().status(), StatusCode::NOT_FOUND);
}

// SUR-024 SEC-024
#[tokio::test]
async fn a_skill_with_other_files_is_said_to_run_unasked_whatever_their_modes() {
    let bench = PageBench::new(QUIET, "").await;
    let from = tempfile::tempdir().unwrap();
    let folder = from.path().join("invoices");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), "---\nname: invoices\ndescription: Files invoices.\n---\nRun it.\n")
        .unwrap();
    let told = "can run as programs without asking";
    let screen = bench.html(&bench.leads("/skills", &[("path", folder.to_str().unwrap())]).await).await;
    assert!(!screen.contains(told), "{screen}");
    bench.leads("/skills/invoices/remove", &[]).await;
    // An interpreter runs it without the mode bit too.
    std::fs::write(folder.join("tidy.py"), "print('tidy')\n").unwrap();
    let screen = bench.html(&bench.leads("/skills", &[("path", folder.to_str().unwrap())]).await).await;
    assert!(screen.contains(told) && !screen.contains("needs your approval"), "{screen}");
}
