//! A tree from what a model wrote: fields that are missing or wrong take their defaults, components of no known type go.

use super::action::{Action, Callback, WebLink};
use super::input::{Choice, Input, InputForm};
use super::json::Value;
use super::node::{Kind, Level, Node, Panel, TextStyle};
use crate::line::one_line;

/// Components in a tree.
const NODES: usize = 300;

/// Components inside components.
const DEPTH: usize = 12;

/// Characters of a text.
const TEXT: usize = 8_000;

/// Characters of a line.
const LINE: usize = 500;

/// Characters of a name.
const NAME: usize = 80;

/// Options, panels, entries, values: of each kind that a component has several of.
const SEVERAL: usize = 60;

/// Rows of a table.
const ROWS: usize = 200;

/// Columns of a table.
const COLUMNS: usize = 16;

/// What a callback is called that has no name.
const PRESSED: &str = "pressed";

/// Reads a tree of an answer, whose callbacks are counted through.
pub(super) struct Reader {
    nodes: usize,
    depth: usize,
    /// Callbacks so far.
    callbacks: usize,
}

impl Reader {
    /// Begins behind so many callbacks.
    pub(super) const fn after(callbacks: usize) -> Self {
        Self { nodes: 0, depth: 0, callbacks }
    }

    /// The component that a value stands for, if it is one.
    pub(super) fn node(&mut self, value: &Value) -> Option<Node> {
        if self.nodes >= NODES || self.depth >= DEPTH {
            return None;
        }
        let name = value.get("type")?.words()?.trim().to_ascii_lowercase().replace('-', "_");
        self.nodes += 1;
        self.depth += 1;
        let kind = self.kind(&name, value);
        self.depth -= 1;
        let kind = kind?;
        Some(Node { id: line(value, "id", NAME), kind })
    }

    fn kind(&mut self, name: &str, value: &Value) -> Option<Kind> {
        let text = |field: &str| text(value, field);
        let label = |field: &str| line(value, field, LINE);
        Some(match name {
            "column" => Kind::Column(self.children(value)),
            "row" => Kind::Row(self.children(value)),
            "box" => Kind::Box(self.children(value)),
            "card" => Kind::Card(label("title"), self.children(value)),
            "divider" => Kind::Divider,
            "text" => Kind::Text(text("text"), style(&label("style"))),
            "image" => Kind::Image(label("alt"), WebLink::new(&label("url"))),
            "icon" => Kind::Icon(line(value, "name", NAME)),
            "code" => Kind::Code(text("text"), line(value, "language", NAME)),
            "quote" => Kind::Quote(text("text"), label("source")),
            "badge" => Kind::Badge(label("text")),
            "stat" => Kind::Stat(label("label"), label("value"), label("change")),
            "avatar" => Kind::Avatar(label("name"), WebLink::new(&label("url"))),
            "list" => Kind::List(self.entries(value), truth(value, "ordered")),
            "table" => table(value),
            "alert" => Kind::Alert(text("text"), level(&label("level"))),
            "progress" => Kind::Progress(number(value, "value").unwrap_or(0.0).clamp(0.0, 1.0), label("label")),
            "countdown" => {
                let seconds = number(value, "seconds").unwrap_or(0.0).clamp(0.0, 86_400.0);
                // It is whole and small.
                Kind::Countdown(seconds as u32, label("label"), self.action(value))
            }
            "tabs" => Kind::Tabs(self.panels(value)),
            "accordion" => Kind::Accordion(self.panels(value)),
            "button" => Kind::Button(label("label"), self.action(value)),
            _ => Kind::Input(Input { label: label("label"), form: form(name, value)? }),
        })
    }

    fn children(&mut self, value: &Value) -> Vec<Node> {
        let Some(children) = value.get("children") else { return Vec::new() };
        match children {
            Value::Map(_) => self.node(children).into_iter().collect(),
            children => children.entries().iter().filter_map(|child| self.child(child)).collect(),
        }
    }

    /// A component, or a text that stands where one would.
    fn child(&mut self, value: &Value) -> Option<Node> {
        let Value::Map(_) = value else {
            let words = value.words().filter(|_| self.nodes < NODES)?;
            self.nodes += 1;
            return Some(Node { id: String::new(), kind: Kind::Text(cut(&words, TEXT), TextStyle::Body) });
        };
        self.node(value)
    }

    fn entries(&mut self, value: &Value) -> Vec<Node> {
        let entries = value.get("items").map(Value::entries).unwrap_or_default();
        entries.iter().take(SEVERAL).filter_map(|entry| self.child(entry)).collect()
    }

    fn panels(&mut self, value: &Value) -> Vec<Panel> {
        let panels = value.get("items").map(Value::entries).unwrap_or_default();
        let panel = |value: &Value| Panel { label: line(value, "label", LINE), children: self.children(value) };
        panels.iter().filter(|value| matches!(value, Value::Map(_))).take(SEVERAL).map(panel).collect()
    }

    fn action(&mut self, value: &Value) -> Option<Action> {
        let value = value.get("action")?;
        let named =
            |fields: [&str; 2]| fields.iter().map(|field| line(value, field, NAME)).find(|text| !text.is_empty());
        Some(match line(value, "type", NAME).as_str() {
            "callback" => {
                self.callbacks += 1;
                Action::Callback(Callback {
                    number: self.callbacks,
                    event: named(["event", "name"]).unwrap_or_else(|| PRESSED.to_owned()),
                    data: value.get("data").map(data).unwrap_or_default(),
                    collect: collect(value),
                })
            }
            "toggle" => Action::Toggle(named(["targetId", "target"])?),
            "open_url" => Action::OpenUrl(WebLink::new(&line(value, "url", TEXT))?),
            "copy_to_clipboard" => Action::Copy(Some(text(value, "text")).filter(|text| !text.is_empty())?),
            _ => return None,
        })
    }
}

fn data(value: &Value) -> Vec<(String, String)> {
    let named = |name: &str, value: &Value| (in_line(name, NAME), in_line(&value.words().unwrap_or_default(), LINE));
    match value {
        Value::Map(fields) => {
            let plain = fields.iter().filter(|(name, value)| !name.trim().is_empty() && value.words().is_some());
            plain.take(SEVERAL).map(|(name, value)| named(name, value)).collect()
        }
        Value::Text(_) | Value::Number(_) | Value::Bool(_) => vec![named("data", value)],
        Value::List(_) | Value::Null => Vec::new(),
    }
}

fn collect(value: &Value) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let Some(given) = value.get("collectFrom") else { return names };
    let given = match given {
        Value::Text(_) => std::slice::from_ref(given),
        given => given.entries(),
    };
    for name in given.iter().take(SEVERAL).filter_map(Value::words).map(|name| in_line(&name, NAME)) {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn form(name: &str, value: &Value) -> Option<InputForm> {
    let chosen = || {
        value.get("selected").into_iter().flat_map(|value| match value {
            Value::List(entries) => entries.iter().filter_map(Value::words).collect(),
            value => value.words().into_iter().collect::<Vec<_>>(),
        })
    };
    let chosen: Vec<String> = chosen().map(|word| in_line(&word, LINE)).collect();
    let is_chosen = |option: &Choice| chosen.contains(&option.value) || chosen.contains(&option.label);
    Some(match name {
        "text_input" => InputForm::Text(line(value, "value", LINE)),
        "checkbox" => InputForm::Checkbox(truth(value, "checked")),
        "switch" => InputForm::Switch(truth(value, "checked")),
        "select" => {
            let options = options(value);
            let at = options.iter().position(is_chosen).unwrap_or(0);
            InputForm::Select(options, at)
        }
        "radio_group" => {
            let options = options(value);
            let at = options.iter().position(is_chosen);
            InputForm::Radio(options, at)
        }
        "chip_group" => {
            let with = |option: Choice| {
                let is = is_chosen(&option);
                (option, is)
            };
            InputForm::Chips(options(value).into_iter().map(with).collect())
        }
        "slider" => InputForm::Slider(slider(value)),
        _ => return None,
    })
}

fn options(value: &Value) -> Vec<Choice> {
    let given = value.get("options").map(Value::entries).unwrap_or_default();
    let option = |given: &Value| {
        let field = |name: &str| given.get(name).and_then(Value::words).map(|words| in_line(&words, LINE));
        let plain = given.words().map(|words| in_line(&words, LINE));
        let label = plain.clone().or_else(|| field("label")).or_else(|| field("value"))?;
        let value = plain.or_else(|| field("value")).unwrap_or_else(|| label.clone());
        (!label.is_empty()).then_some(Choice { value, label })
    };
    given.iter().filter_map(option).take(SEVERAL).collect()
}

fn slider(value: &Value) -> [f64; 4] {
    let min = number(value, "min").unwrap_or(0.0);
    let max = number(value, "max").filter(|max| *max > min).unwrap_or(min + 100.0);
    let step = number(value, "step").filter(|step| *step > 0.0 && *step <= max - min);
    let step = step.unwrap_or(if max - min < 2.0 { (max - min) / 20.0 } else { 1.0 });
    [min, max, step, number(value, "value").unwrap_or(min).clamp(min, max)]
}

fn table(value: &Value) -> Kind {
    let cells = |row: &Value| -> Vec<String> {
        let cell = |cell: &Value| in_line(&cell.words().unwrap_or_default(), LINE);
        row.entries().iter().take(COLUMNS).map(cell).collect()
    };
    let columns = value.get("columns").map(cells).unwrap_or_default();
    let rows = value.get("rows").map(Value::entries).unwrap_or_default();
    let mut rows: Vec<Vec<String>> = rows.iter().take(ROWS).map(cells).filter(|row| !row.is_empty()).collect();
    let width = rows.iter().map(Vec::len).chain([columns.len()]).max().unwrap_or_default();
    let mut columns = columns;
    if !columns.is_empty() {
        columns.resize(width, String::new());
    }
    rows.iter_mut().for_each(|row| row.resize(width, String::new()));
    Kind::Table(columns, rows)
}

fn style(name: &str) -> TextStyle {
    match name {
        "title" => TextStyle::Title,
        "heading" => TextStyle::Heading,
        "caption" => TextStyle::Caption,
        _ => TextStyle::Body,
    }
}

fn level(name: &str) -> Level {
    let known = [Level::Success, Level::Warning, Level::Error];
    known.into_iter().find(|level| level.as_str() == name).unwrap_or_default()
}

/// A number that a page and a terminal write the same.
fn number(value: &Value, field: &str) -> Option<f64> {
    let number = match value.get(field)? {
        Value::Number(number) => *number,
        Value::Text(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (number.is_finite() && number.abs() < 1e12).then_some(number)
}

fn truth(value: &Value, field: &str) -> bool {
    match value.get(field) {
        Some(Value::Bool(is)) => *is,
        Some(Value::Text(text)) => text == "true",
        _ => false,
    }
}

fn text(value: &Value, field: &str) -> String {
    cut(&value.get(field).and_then(Value::words).unwrap_or_default(), TEXT)
}

fn line(value: &Value, field: &str, most: usize) -> String {
    in_line(&value.get(field).and_then(Value::words).unwrap_or_default(), most)
}

fn in_line(text: &str, most: usize) -> String {
    cut(one_line(text.trim()).trim(), most)
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
