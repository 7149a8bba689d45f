//! `load_skill`: which text a name means, and which texts it never gives.

use crate::kit::{Bench, say};

fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}\n---\n{body}\n")
}

/// What the model reads when it asks for skills of these names, one after the other.
async fn loaded(bench: &Bench, agent: &limpid_runtime::Agent, names: usize) -> Vec<String> {
    say(agent, "read them").await;
    let request = bench.server.calls().last().unwrap().json();
    let messages = request["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    let told: Vec<String> = results.map(|result| result["content"].as_str().unwrap().trim_end().to_owned()).collect();
    told[told.len() - names..].to_vec()
}

/// Has the model ask for these names in one turn, so often.
async fn asking(names: &[&str], times: usize) -> Bench {
    let call = |name: &&str| format!("{{ name = \"load_skill\", arguments = {{ name = {name:?} }} }}");
    let calls = names.iter().map(call).collect::<Vec<_>>().join(", ");
    Bench::new(&format!("[[reply]]\ncalls = [{calls}]\n[[reply]]\ntext = \"ok\"\n").repeat(times)).await
}

// KOSHI-031 PICO-032
#[tokio::test]
async fn a_name_means_the_first_skill_of_that_name_in_any_case_and_whatever_its_folder_is_called() {
    let bench = asking(&["tea", "TEA", " /Tea ", "a-folder", "rain"], 1).await;
    bench.write("workspace/skills/a-folder/SKILL.md", &skill("tea", "The workspace's."));
    bench.write("skills/tea/SKILL.md", &skill("tea", "The global one."));
    // By its place in the list it stands before the one that wins over it.
    bench.write("prompts/Rain.md", &skill("Rain", "The file's."));
    bench.write("skills/rain/SKILL.md", &skill("rain", "The folder's."));
    let told = loaded(&bench, &bench.agent(), 5).await;
    assert_eq!(told[..3], ["The workspace's."; 3]);
    assert!(told[3].contains("there is no skill `a-folder`; there are: tea, rain, write-skill"), "{}", told[3]);
    assert_eq!(told[4], "The folder's.");
}

// KOSHI-031
#[tokio::test]
async fn what_the_owner_put_aside_is_not_given_under_any_spelling_and_the_next_of_its_name_is() {
    let bench = asking(&["house", "/House", "tea"], 2).await;
    bench.write("skills/house/SKILL.md", &skill("house", "Metric units."));
    bench.write("workspace/skills/tea/SKILL.md", &skill("tea", "The workspace's."));
    bench.write("skills/tea/SKILL.md", &skill("tea", "The global one."));
    let agent = bench.agent();
    assert_eq!(loaded(&bench, &agent, 3).await, ["Metric units.", "Metric units.", "The workspace's."]);
    for name in ["HOUSE", "tea"] {
        agent.skills().enable(name, false, None, "test").await.unwrap();
    }
    let told = loaded(&bench, &agent, 3).await;
    for (told, name) in told[..2].iter().zip(["house", "House"]) {
        assert!(told.contains(&format!("the skill `{name}` is not used: it is disabled")), "{told}");
    }
    assert_eq!(told[2], "The global one.", "what was put aside shadows nothing");
    let text = bench.server.calls().last().unwrap().text();
    assert_eq!(text.matches("Metric units.").count(), 2, "only what was read before it was put aside: {text}");
}

// KOSHI-031 PICO-035
#[tokio::test]
async fn a_skill_that_is_none_or_is_not_there_is_an_error_that_names_those_that_are_used() {
    let bench = asking(&["broken", "gone", "house"], 1).await;
    bench.write("skills/broken/SKILL.md", "---\nname: bro ken\ndescription: x\n---\nBroken text.\n");
    bench.write("skills/house/SKILL.md", &skill("house", "Metric units."));
    let agent = bench.agent();
    agent.skills().enable("house", false, None, "test").await.unwrap();
    let told = loaded(&bench, &agent, 3).await;
    for (told, name) in told[..2].iter().zip(["broken", "gone"]) {
        assert!(told.contains(&format!("there is no skill `{name}`; there are: write-skill\"")), "{told}");
    }
    assert!(!bench.server.calls().last().unwrap().text().contains("Broken text."));
}
