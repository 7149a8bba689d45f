//! Limpid's own attacks, played by the test program of crate `limpid` against the real binary, each with a control: a harmless
//! turn of the same kind that still works.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::super::Table;

/// The module of the test program that holds them.
const MODULE: &str = "attacks";

/// What came of the tests of one attack.
#[derive(Clone, Copy, Default)]
struct Tally {
    attacks: u32,
    held: u32,
    controls: u32,
    worked: u32,
}

/// Plays all attacks. Gives the table, its numbers, and what is wrong.
pub(super) fn play(root: &Path) -> Result<(Table, Value, Vec<String>), String> {
    // The local engine plays no part in them.
    let out = Command::new("cargo")
        .args(["test", "--locked", "--package", "limpid", "--no-default-features", "--test", "it", "--"])
        .arg(format!("{MODULE}::"))
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    let told = String::from_utf8_lossy(&out.stdout);
    let (tallies, mut wrong) = tallies(&told);
    if tallies.is_empty() {
        return Err(format!("no attack was played: {}", String::from_utf8_lossy(&out.stderr)));
    }
    for (name, tally) in &tallies {
        if tally.attacks == 0 || tally.controls == 0 {
            wrong.push(format!("attack {name}: it needs a test, and one in its module `control`"));
        }
    }
    let sum = tallies.values().fold(Tally::default(), |sum, tally| sum.with(*tally));
    let rows = tallies.iter().map(|(name, tally)| tally.row(name)).chain([sum.row("all")]).collect();
    let table = Table {
        title: "Attacks of Limpid's own",
        how: "The real program in a home of its own, a model that does what any text tells it, and real sockets \
              (`crates/limpid/tests/attacks`; SECURITY.md says what each must not bring about). A control is a harmless turn \
              of the same kind."
            .to_owned(),
        target: "every attack held, every control works",
        head: vec!["attack", "tests", "held", "controls", "work"],
        rows,
    };
    let value = json!({ "attacks": sum.attacks, "held": sum.held, "controls": sum.controls, "work": sum.worked });
    Ok((table, value, wrong))
}

impl Tally {
    fn with(self, other: Self) -> Self {
        Self {
            attacks: self.attacks + other.attacks,
            held: self.held + other.held,
            controls: self.controls + other.controls,
            worked: self.worked + other.worked,
        }
    }

    fn row(self, name: &str) -> Vec<String> {
        let numbers = [self.attacks, self.held, self.controls, self.worked];
        std::iter::once(name.replace('_', " ")).chain(numbers.map(|number| number.to_string())).collect()
    }
}

/// What the lines of a test program say, by the module of the attack; and which tests failed.
fn tallies(told: &str) -> (BTreeMap<String, Tally>, Vec<String>) {
    let (mut tallies, mut wrong) = (BTreeMap::<String, Tally>::new(), Vec::new());
    for line in told.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["test", path, "...", outcome] = words[..] else { continue };
        let parts: Vec<&str> = path.split("::").collect();
        let [MODULE, name, rest @ ..] = &parts[..] else { continue };
        let tally = tallies.entry((*name).to_owned()).or_default();
        let (all, good) = match rest {
            ["control", ..] => (&mut tally.controls, &mut tally.worked),
            _ => (&mut tally.attacks, &mut tally.held),
        };
        *all += 1;
        if outcome == "ok" {
            *good += 1;
        } else {
            wrong.push(format!("{path}: {outcome}"));
        }
    }
    (tallies, wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-098
    #[test]
    fn an_attack_that_got_through_and_one_without_a_control_are_told() {
        let told = "\
test attacks::flood::of_400 ... ok
test attacks::flood::control::of_12 ... ok
test attacks::names::a_name ... FAILED
test chat::hello ... ok
test result: FAILED. 3 passed; 1 failed
";
        let (tallies, wrong) = tallies(told);
        assert_eq!(tallies.keys().collect::<Vec<_>>(), ["flood", "names"]);
        assert_eq!(tallies["flood"].row("flood"), ["flood", "1", "1", "1", "1"]);
        assert_eq!(tallies["names"].row("names"), ["names", "1", "0", "0", "0"]);
        assert_eq!(wrong, ["attacks::names::a_name: FAILED"]);
    }
}
