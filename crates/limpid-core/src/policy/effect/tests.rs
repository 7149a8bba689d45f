use super::*;

/// The table of trust.md, section C: clean, tainted without anything private, the same in a research
/// worker, tainted. The new file of a tainted turn is made in a low place, so it is of the row `ChangeOwnLow`.
const TABLE: &str = "\
Look           runs  runs  runs  runs
LookForOthers  runs  waits waits waits
FetchNamed     runs  runs  runs  runs
Search         runs  runs  runs  runs
SearchTelling  runs  waits runs  waits
FetchLink      runs  runs  runs  waits
FetchComposed  runs  waits runs  waits
FetchPrivate   runs  waits waits waits
Research       runs  waits waits waits
ResearchTelling waits waits waits waits
Delegate       runs  runs  runs  runs
Show           runs  waits waits waits
NewFile        runs  waits waits waits
ChangeOwnLow   runs  runs  runs  runs
ChangeFile     runs  waits waits waits
Remember       runs  runs  runs  runs
Tell           runs  runs  runs  runs
ChangeOwned    runs  waits waits waits
Run            runs  waits waits waits
RunSending     waits waits waits waits
Mailbox        runs  waits waits waits
Plan           runs  waits waits waits
Send           waits waits waits waits
ChangeSelf     runs  waits waits waits
";

// SEC-065
#[test]
fn every_cell_is_as_the_table_says() {
    let word = |cell| if cell == Cell::Runs { "runs" } else { "waits" };
    let line = |row: Row| {
        let cells = Window::ALL.map(|window| format!("{:<5}", word(cell(row, window))));
        format!("{:<14} {}\n", format!("{row:?}"), cells.join(" ").trim_end())
    };
    assert_eq!(Row::ALL.map(line).concat(), TABLE);
}

// SEC-065 SEC-100
#[test]
fn of_a_private_place_only_what_the_owner_typed_is_named() {
    use AddressOrigin::{Composed, Private, Read, Reserved, Typed, TypedElsewhere, TypedPrivate};
    for place in [PrivatePlace::OwnNetwork, PrivatePlace::CapabilityUrl] {
        for origin in [Typed, TypedElsewhere, Read, Reserved, Composed, TypedPrivate(place), Private(place)] {
            let row = Row::of(&Effect::Fetch(None), origin.at(place), &[]);
            let is_typed = matches!(origin, Typed | TypedPrivate(_));
            assert_eq!(row, if is_typed { Row::FetchNamed } else { Row::FetchPrivate }, "{origin:?}");
            assert_eq!(origin.at(place).private_place(), Some(place));
        }
    }
}

// SEC-062 SEC-065
#[test]
fn a_call_is_the_widest_of_what_its_files_say() {
    use FileChange::{Drawn, FarReaching, Instructing, New, Other, OwnLow};
    let row = |files: &[FileChange]| Row::of(&Effect::Files, AddressOrigin::Composed, files);
    assert_eq!(row(&[New]), Row::NewFile);
    assert_eq!(row(&[New, OwnLow]), Row::ChangeOwnLow);
    assert_eq!(row(&[OwnLow, New, Other]), Row::ChangeFile);
    assert_eq!([row(&[OwnLow, FarReaching]), row(&[Drawn])], [Row::ChangeFile; 2]);
    assert_eq!(row(&[New, Instructing, Other]), Row::ChangeSelf);
    assert_eq!(row(&[]), Row::ChangeFile, "a call that names no file may change any");
    assert_eq!(Row::of(&Effect::Look, AddressOrigin::Composed, &[Instructing]), Row::ChangeSelf);
}
