//! A host that programs may reach has its name lead to a device in the owner's own network: what a program fetches there is asked of the
//! device, and what that says is told to whoever answers for the name.

use serde_json::json;

use crate::attacks::obedient::{Attack, page};

/// Fetches a page of a granted host.
const FETCH: &str = "\
import urllib.request
try:
    print('GOT', urllib.request.urlopen('http://HOST/reboot?now=1', timeout=10).read())
except OSError as error:
    print('KEPT', error)
";

/// A home in whose own network the site of the attack is, after the owner had a program of theirs fetch a page of a granted host by this
/// name. None where programs cannot be confined.
async fn fetched(name: &str) -> Option<Attack> {
    if crate::programs::no_sandbox() {
        return None;
    }
    let run = json!({ "command": "python3 fetch.py" });
    let mut attack = Attack::new(|_| vec![("exec", run)], |_| Vec::new(), |_| page("router-password-4711")).await;
    attack.world = attack.world.without_rights();
    let host = format!("{name}:{}", attack.web.url.rsplit(':').next().unwrap());
    let web = "[web]\nalso = [\"127.0.0.1\", \"::1\"]\n";
    attack.world.write("limpid.toml", &format!("{web}[exec]\nnetwork = [\"{host}\"]\n"));
    attack.world.write("workspace/fetch.py", &FETCH.replace("HOST", &host));
    attack.world.done(&["chat", "fetch it"]).await;
    Some(attack)
}

// SEC-022 SEC-087
#[tokio::test]
async fn no_name_leads_a_program_to_a_device_of_the_owners() {
    let Some(attack) = fetched("localhost").await else { return };
    assert!(attack.newest().contains("KEPT"), "it ran: {}", attack.newest());
    assert_eq!(attack.web.visited(), Vec::<String>::new());
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn a_device_that_is_granted_by_its_address_is_reached() {
        let Some(attack) = fetched("127.0.0.1").await else { return };
        assert!(attack.newest().contains("GOT"), "{}", attack.newest());
        assert_eq!(attack.web.visited(), ["/reboot?now=1"]);
    }
}
