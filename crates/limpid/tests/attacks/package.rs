//! A package that a program of the owner's loads, in a home whose prompts quote files.

use serde_json::json;

use crate::attacks::obedient::{Attack, Planned, page};

/// The call that has the package loaded.
pub(crate) fn build() -> Planned {
    ("exec", json!({ "command": "python3 build.py" }))
}

/// A home with these files in its workspace, of which `build.py` loads the package; none where programs cannot be confined.
pub(crate) async fn home(files: &[(&str, &str)]) -> Option<Attack> {
    if crate::programs::no_sandbox() {
        return None;
    }
    let mut attack = Attack::new(|_| vec![build()], |_| Vec::new(), |_| page("tea")).await;
    attack.world = attack.world.without_rights();
    attack.world.write("limpid.toml", "[agent]\nprofile = \"picoclaw\"\n");
    for (name, text) in files {
        attack.world.write(&format!("workspace/{name}"), text);
    }
    Some(attack)
}

/// The owner has the package loaded.
pub(crate) async fn load(attack: &Attack) {
    attack.world.done(&["chat", "build it"]).await;
    assert!(attack.newest().contains("it was built"), "{}", attack.newest());
}
