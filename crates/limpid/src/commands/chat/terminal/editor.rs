//! The editor of lines.

use std::sync::Arc;

use reedline::{
    ColumnarMenu, EditCommand, Emacs, ExampleHighlighter, ExternalPrinter, FileBackedHistory, Highlighter, KeyCode,
    KeyModifiers, MenuBuilder, Reedline, ReedlineEvent, ReedlineMenu, StyledText, default_emacs_keybindings,
};

use super::super::completer::SlashCompleter;
use super::super::pastes::Pastes;
use super::line_feeds::LineFeeds;
use crate::commands::context::Context;

/// Lines that are remembered for the arrow keys.
const HISTORY: usize = 1000;

/// The name of the menu of commands.
const MENU: &str = "commands";

/// What the editor calls Ctrl-C, so that it leaves the line as it is.
pub(super) const INTERRUPT: &str = "interrupt";

/// Sees each line that is drawn, whichever key made it so.
struct Watched {
    pastes: Pastes,
    drawn: ExampleHighlighter,
}

impl Highlighter for Watched {
    fn highlight(&self, line: &str, cursor: usize) -> StyledText {
        self.pastes.see(line);
        self.drawn.highlight(line, cursor)
    }
}

/// Makes one with history, pastes of several lines and a menu of commands that opens with a tab.
pub(super) fn editor(
    context: &Context,
    completer: SlashCompleter,
    above: ExternalPrinter<String>,
    pastes: Pastes,
) -> Reedline {
    let mut keys = default_emacs_keybindings();
    let menu = || ReedlineEvent::Menu(MENU.to_owned());
    let tab = ReedlineEvent::UntilFound(vec![menu(), ReedlineEvent::MenuNext]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, tab);
    let newline = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline);
    let interrupt = ReedlineEvent::ExecuteHostCommand(INTERRUPT.to_owned());
    keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('c'), interrupt);
    let watched = Watched { pastes: pastes.clone(), drawn: ExampleHighlighter::default() };
    let keys = LineFeeds { keys: Emacs::new(keys), is_last: Arc::default(), pastes, above: above.sender() };
    let shown = ColumnarMenu::default().with_name(MENU).with_columns(1);
    let editor = Reedline::create()
        .use_bracketed_paste(true)
        .with_external_printer(above)
        .with_highlighter(Box::new(watched))
        .with_completer(Box::new(completer))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(shown)))
        .with_break_signal(Arc::clone(&keys.is_last))
        .with_edit_mode(Box::new(keys));
    let file = context.home.path().join("data").join("terminal-history.txt");
    match FileBackedHistory::with_file(HISTORY, file) {
        Ok(history) => editor.with_history(Box::new(history)),
        Err(_) => editor,
    }
}
