//! A tree in a terminal: a line for each component, and a number for each callback.

use super::action::Action;
use super::input::{Choice, Input, InputForm};
use super::node::{Kind, Level, Node, TextStyle};
use super::{Tree, WebLink};

/// Columns of one level.
const INDENT: usize = 2;

/// Columns up to which cells of a table stand below each other.
const WIDTH: usize = 40;

/// The tree as text. `is_live` says that its numbers can be typed.
pub fn plain(tree: &Tree, is_live: bool) -> String {
    let mut printed = Printed { lines: Vec::new(), is_live };
    printed.node(tree.root(), 0);
    let mut text = printed.lines.join("\n");
    text.push('\n');
    text
}

struct Printed {
    lines: Vec<String>,
    is_live: bool,
}

impl Printed {
    fn line(&mut self, depth: usize, text: &str) {
        let indent = " ".repeat(depth * INDENT);
        let lines = text.lines().map(|line| format!("{indent}{line}").trim_end().to_owned());
        self.lines.extend(lines);
    }

    fn all(&mut self, children: &[Node], depth: usize) {
        children.iter().for_each(|child| self.node(child, depth));
    }

    fn node(&mut self, node: &Node, depth: usize) {
        match &node.kind {
            Kind::Column(children) | Kind::Row(children) | Kind::Box(children) => self.all(children, depth),
            Kind::Card(title, children) => {
                let inner = if title.is_empty() { depth } else { depth + 1 };
                self.line(depth, title);
                self.all(children, inner);
            }
            Kind::Divider => self.line(depth, "---"),
            Kind::Text(text, TextStyle::Title | TextStyle::Heading) => self.line(depth, &format!("# {text}")),
            Kind::Text(text, _) => self.line(depth, text),
            Kind::Image(alt, link) => self.line(depth, &linked(&format!("[picture: {alt}]"), link.as_ref())),
            Kind::Icon(name) => self.line(depth, &format!("({name})")),
            Kind::Code(text, _) => self.line(depth + 1, text),
            Kind::Quote(text, source) => {
                text.lines().for_each(|line| self.line(depth, &format!("> {line}")));
                if !source.is_empty() {
                    self.line(depth, &format!("> - {source}"));
                }
            }
            Kind::Badge(text) => self.line(depth, &format!("[{text}]")),
            Kind::Stat(label, value, change) if change.is_empty() => self.line(depth, &format!("{label}: {value}")),
            Kind::Stat(label, value, change) => self.line(depth, &format!("{label}: {value} ({change})")),
            Kind::Avatar(name, link) => self.line(depth, &linked(name, link.as_ref())),
            Kind::List(entries, is_ordered) => {
                for (at, entry) in entries.iter().enumerate() {
                    let mark = if *is_ordered { format!("{}.", at + 1) } else { "-".to_owned() };
                    match &entry.kind {
                        Kind::Text(text, _) => self.line(depth, &format!("{mark} {text}")),
                        _ => {
                            self.line(depth, &mark);
                            self.node(entry, depth + 1);
                        }
                    }
                }
            }
            Kind::Table(columns, rows) => self.table(columns, rows, depth),
            Kind::Alert(text, Level::Info) => self.line(depth, text),
            Kind::Alert(text, level) => self.line(depth, &format!("{}: {text}", level.as_str())),
            Kind::Progress(value, label) => self.line(depth, &format!("{label} {:.0} %", value * 100.0)),
            Kind::Countdown(seconds, label, action) => {
                self.line(depth, &format!("{label} {seconds} s"));
                self.action("Go on", action.as_ref(), depth);
            }
            Kind::Tabs(panels) | Kind::Accordion(panels) => {
                for panel in panels {
                    self.line(depth, &format!("# {}", panel.label));
                    self.all(&panel.children, depth + 1);
                }
            }
            Kind::Button(label, action) => self.action(label, action.as_ref(), depth),
            Kind::Input(input) => self.input(&node.id, input, depth),
        }
    }

    fn table(&mut self, columns: &[String], rows: &[Vec<String>], depth: usize) {
        let head = Some(columns).filter(|columns| !columns.is_empty());
        let rows: Vec<&[String]> = head.into_iter().chain(rows.iter().map(Vec::as_slice)).collect();
        let widths: Vec<usize> = (0..rows.first().map_or(0, |row| row.len()))
            .map(|at| rows.iter().map(|row| row[at].chars().count().min(WIDTH)).max().unwrap_or_default())
            .collect();
        for row in &rows {
            let cell = |(cell, width): (&String, &usize)| format!("{cell:width$}");
            let cells: Vec<String> = row.iter().zip(&widths).map(cell).collect();
            self.line(depth, &cells.join("  "));
        }
    }

    fn action(&mut self, label: &str, action: Option<&Action>, depth: usize) {
        match action {
            Some(Action::Callback(callback)) => {
                let number = if self.is_live { format!("[{}] ", callback.number) } else { "- ".to_owned() };
                let with = match callback.collect.as_slice() {
                    [] => String::new(),
                    names => format!(" (with {})", names.join(", ")),
                };
                self.line(depth, &format!("{number}{label}{with}"));
            }
            Some(Action::OpenUrl(link)) => self.line(depth, &linked(label, Some(link))),
            Some(Action::Copy(text)) => {
                self.line(depth, &format!("{label}:"));
                self.line(depth + 1, text);
            }
            // Everything is shown, so nothing can be hidden.
            Some(Action::Toggle(_)) | None => {}
        }
    }

    fn input(&mut self, id: &str, input: &Input, depth: usize) {
        let label = if input.label.is_empty() { String::new() } else { format!("{} ", input.label) };
        let marked = |option: &Choice, is_chosen: bool| {
            let mark = if is_chosen { "*" } else { "" };
            format!("{}{mark}", option.label)
        };
        let several = |options: Vec<String>| options.join(" / ");
        let value = match &input.form {
            InputForm::Text(_) | InputForm::Checkbox(_) | InputForm::Switch(_) => input.words(),
            InputForm::Select(options, at) => {
                several(options.iter().enumerate().map(|(place, option)| marked(option, place == *at)).collect())
            }
            InputForm::Radio(options, at) => {
                several(options.iter().enumerate().map(|(place, option)| marked(option, Some(place) == *at)).collect())
            }
            InputForm::Chips(options) => {
                several(options.iter().map(|(option, is_chosen)| marked(option, *is_chosen)).collect())
            }
            InputForm::Slider([min, max, _, value]) => format!("{value} ({min} to {max})"),
        };
        self.line(depth, &format!("{label}[{id}: {value}]"));
    }
}

fn linked(text: &str, link: Option<&WebLink>) -> String {
    link.map_or_else(|| text.to_owned(), |link| format!("{text} {}", link.url()))
}
