//! Screens in answers: trees drawn with native elements. Every text of a tree is escaped, no picture is loaded, and an address is
//! a link that shows its host.

use askama::Template;
use limpid_core::ui::{Action, Callback, Input, InputForm, Kind, Level, Node, Part, TextStyle, Tree, parts};
use limpid_prompt::shown::{shown, shown_line};

use super::markdown::{fenced, to_html};

/// Signs that the page has, and what else models call them.
const SIGNS: [(&str, &[&str]); 14] = [
    ("activity", &["clock", "time"]),
    ("chat", &["message"]),
    ("check", &["done", "success"]),
    ("cost", &["chart"]),
    ("edit", &["pencil"]),
    ("file", &["document"]),
    ("list", &[]),
    ("lock", &[]),
    ("pin", &[]),
    ("play", &["start"]),
    ("plus", &["add"]),
    ("search", &["find"]),
    ("settings", &[]),
    ("trash", &["delete"]),
];

/// How the screens of an answer stand.
#[derive(Clone, Copy, Default)]
pub(super) enum Standing<'a> {
    /// None is drawn: their fences are code.
    #[default]
    Code,
    /// They are being written, or were never answered.
    Still,
    /// They can be pressed, as those of this message.
    Live(i64),
    /// This was said next.
    Answered(&'a str),
}

#[derive(Template)]
#[template(path = "parts/node.html")]
struct NodePart<'a> {
    node: &'a Node,
    /// Names a group of elements that belong together, for the browser.
    scope: String,
    /// What is in it, one after the other.
    inner: String,
    /// What is in it, each by itself.
    parts: Vec<String>,
}

#[derive(Template)]
#[template(path = "parts/action.html")]
struct ActionPart<'a> {
    label: String,
    action: Option<&'a Action>,
    /// The callback that was pressed.
    sent: Option<usize>,
    /// Whether it can be pressed only when the time is up.
    waits: bool,
}

#[derive(Template)]
#[template(path = "parts/screen.html")]
struct ScreenPart {
    is_live: bool,
    message: i64,
    inner: String,
}

impl ActionPart<'_> {
    /// What is copied is what is seen.
    fn text(&self, text: &str) -> String {
        shown(text).into_owned()
    }

    fn was_sent(&self, callback: &Callback) -> bool {
        self.sent == Some(callback.number)
    }
}

impl NodePart<'_> {
    /// The page's own sign of a name.
    fn sign(&self, name: &str) -> Option<&'static str> {
        let name = name.to_ascii_lowercase();
        let is_it = |(sign, others): &&(&str, &[&str])| *sign == name || others.contains(&name.as_str());
        SIGNS.iter().find(is_it).map(|(sign, _)| *sign)
    }

    fn initial(&self, name: &str) -> String {
        shown_line(name).chars().next().into_iter().collect()
    }

    fn word(&self, level: &Level) -> &'static str {
        match level {
            Level::Info => "Note",
            Level::Success => "Done",
            Level::Warning => "Warning",
            Level::Error => "Error",
        }
    }

    fn is(&self, chosen: &Option<usize>, at: &usize) -> bool {
        *chosen == Some(*at)
    }

    fn line(&self, text: &str) -> String {
        shown_line(text)
    }

    fn text(&self, text: &str) -> String {
        shown(text).into_owned()
    }

    /// What an input asks for; it is never without a name.
    fn label(&self, input: &Input) -> String {
        shown_line(if input.label.is_empty() { &self.node.id } else { &input.label })
    }
}

/// What a model said, with its screens.
pub(super) fn said(text: &str, standing: Standing<'_>) -> String {
    if matches!(standing, Standing::Code) {
        return to_html(text);
    }
    let mut html = String::new();
    for (at, part) in parts(text).into_iter().enumerate() {
        html.push_str(&match part {
            Part::Text(text) => to_html(&text),
            Part::Tree(tree) => screen(&tree, standing, at),
            Part::Broken(inside, _) => to_html(&fenced(inside.trim_end())),
        });
    }
    html
}

fn screen(tree: &Tree, standing: Standing<'_>, at: usize) -> String {
    let (is_live, message) = match standing {
        Standing::Live(message) => (true, message),
        _ => (false, 0),
    };
    let sent = match standing {
        Standing::Answered(said) => tree.sent(said),
        _ => None,
    };
    let (tree, sent) = sent.as_ref().map_or((tree, None), |(tree, number)| (tree, Some(*number)));
    let mut drawing = Drawing { scope: format!("ui-{message}-{at}"), elements: 0, sent };
    let inner = drawing.node(tree.root());
    drawn(&ScreenPart { is_live, message, inner })
}

struct Drawing {
    scope: String,
    elements: usize,
    sent: Option<usize>,
}

impl Drawing {
    fn node(&mut self, node: &Node) -> String {
        self.elements += 1;
        let scope = format!("{}-{}", self.scope, self.elements);
        let parts: Vec<String> = match &node.kind {
            Kind::Column(children)
            | Kind::Row(children)
            | Kind::Box(children)
            | Kind::Card(_, children)
            | Kind::List(children, _) => children.iter().map(|child| self.node(child)).collect(),
            Kind::Tabs(panels) | Kind::Accordion(panels) => {
                let panel = |children: &[Node]| children.iter().map(|child| self.node(child)).collect();
                panels.iter().map(|panel| panel.children.as_slice()).map(panel).collect()
            }
            Kind::Button(label, action) => vec![self.action(label, action.as_ref(), false)],
            Kind::Countdown(_, _, action) => {
                action.iter().map(|action| self.action("Go on", Some(action), true)).collect()
            }
            _ => Vec::new(),
        };
        drawn(&NodePart { node, scope, inner: parts.concat(), parts })
    }

    fn action(&self, label: &str, action: Option<&Action>, waits: bool) -> String {
        let label = Some(shown_line(label)).filter(|label| !label.is_empty());
        let label = label.unwrap_or_else(|| "Press".to_owned());
        drawn(&ActionPart { label, action, sent: self.sent, waits })
    }
}

fn drawn(part: &impl Template) -> String {
    // Writing to memory does not fail.
    part.render().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIL: &str = "\\\"><img src=x onerror=alert(1)><script>x</script></fieldset>\u{202e}";

    // KAI-103 SEC-005
    #[test]
    fn nothing_of_a_tree_becomes_markup_or_is_loaded() {
        let types = "column row card box divider text image icon code button text_input checkbox switch select \
                     radio_group slider chip_group progress countdown alert tabs accordion quote badge stat avatar list \
                     table";
        let fields = "id title text alt url name language source label value change style level event items options \
                      columns rows children selected data action collectFrom targetId min max step";
        let fields: Vec<String> = fields.split_whitespace().map(|field| format!("\"{field}\": \"{EVIL}\"")).collect();
        let deep = format!(
            "\"options\": [\"{EVIL}\"], \"columns\": [\"{EVIL}\"], \"rows\": [[\"{EVIL}\"]], \
             \"items\": [\"{EVIL}\", {{\"label\": \"{EVIL}\", \"children\": [\"{EVIL}\"]}}], \"children\": [\"{EVIL}\"]"
        );
        for name in types.split_whitespace() {
            for action in ["callback", "toggle", "open_url", "copy_to_clipboard"] {
                let own = format!(
                    "\"action\": {{\"type\": \"{action}\", \"event\": \"{EVIL}\", \"text\": \"{EVIL}\", \
                     \"targetId\": \"{EVIL}\", \"url\": \"https://example.com/{EVIL}\", \"collectFrom\": [\"{EVIL}\"]}}"
                );
                let tree = format!("{{{}, {deep}, {own}, \"type\": \"{name}\"}}", fields.join(", "));
                for standing in [Standing::Still, Standing::Live(7), Standing::Answered("Pressed: x")] {
                    let html = said(&format!("```kai-ui\n{tree}\n```"), standing);
                    assert!(html.contains("<fieldset class=\"ui\""), "{name}: {html}");
                    for wrong in ["<img", "<script", "<iframe", "style=\"", "\"><img", "javascript:"] {
                        assert!(!html.contains(wrong), "{name} {wrong}: {html}");
                    }
                    // A quote stands around values of attributes only, and all else is read by people.
                    let seen: String = html.split('"').step_by(2).collect();
                    assert!(!seen.contains('\u{202e}') && !seen.contains("onerror=alert(1)>"), "{name}: {html}");
                    assert_eq!(html.matches("</fieldset>").count(), html.matches("<fieldset").count(), "{html}");
                }
            }
        }
    }

    // KAI-102
    #[test]
    fn the_hopeless_is_code_and_so_is_everything_where_nothing_is_drawn() {
        let text = "Before\n```kai-ui\n{\"type\": \"<b>\"}\n```\nafter";
        let html = said(text, Standing::Live(1));
        assert!(html.contains("<pre><code>{\"type\": \"&lt;b&gt;\"}\n</code></pre>"), "{html}");
        let tree = "```kai-ui\n{\"type\": \"divider\"}\n```";
        assert!(said(tree, Standing::Code).contains("<pre>"));
        assert!(said(tree, Standing::Still).contains("disabled"));
    }

    // SUR-027
    #[test]
    fn an_old_screen_shows_what_was_sent_and_can_do_nothing() {
        let text = "```kai-ui\n{\"type\": \"column\", \"children\": [{\"type\": \"text_input\", \"id\": \"n\", \"label\": \"Name\"},\
                    {\"type\": \"button\", \"label\": \"Go\", \"action\": {\"type\": \"callback\", \"event\": \"go\", \"collectFrom\": [\"n\"]}}]}\n```";
        let html = said(text, Standing::Answered("Responded with: n: Ada"));
        assert!(html.contains("disabled") && html.contains("value=\"Ada\"") && html.contains(">Sent<"), "{html}");
        assert!(!html.contains("data-message"), "{html}");
        let html = said(text, Standing::Live(5));
        assert!(
            html.contains("data-message=\"5\"") && !html.contains("disabled") && !html.contains(">Sent<"),
            "{html}"
        );
    }
}
