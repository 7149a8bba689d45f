//! What a server of the Model Context Protocol answers.

use std::collections::BTreeSet;

use limpid_mcp::answer::texts_in;
use limpid_mcp::offered::tools_in;

/// Tools of one server, and bytes of a name, a description and an answer.
const MOST: (usize, usize, usize, usize) = (500, 256, 16 * 1024, 1024 * 1024);

/// What a server answers is read within bounds: no two tools have one name, none has a text that its owner cannot see, and no
/// text is longer than what is kept.
pub(crate) fn mcp(bytes: &[u8]) {
    let (tools, name, description, answer) = MOST;
    if let Some(listed) = tools_in(bytes) {
        assert!(listed.items.len() <= tools);
        let names: BTreeSet<&str> = listed.items.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names.len(), listed.items.len(), "two tools have one name");
        for tool in &listed.items {
            assert!(!tool.name.is_empty() && tool.name.len() <= name && tool.description.len() <= description);
            let is_seen = |c: char| {
                matches!(c, '\n' | '\t')
                    || !(c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'))
            };
            assert!(tool.description.chars().all(is_seen), "{:?}", tool.description);
        }
    }
    for text in texts_in(bytes) {
        assert!(text.len() <= answer + 100, "{} bytes are kept", text.len());
    }
}
