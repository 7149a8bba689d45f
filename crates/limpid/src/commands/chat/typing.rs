//! The keyboard while an answer streams: what is typed is read at once, shown below the answer, and lost by nobody.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyModifiers};
use crossterm::execute;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::output::Below;

/// How long a key is waited for before it is asked whether typing is over.
const LOOK: Duration = Duration::from_millis(50);

/// Keys that come closer together than this were not typed one by one.
const BURST: Duration = Duration::from_millis(10);

/// The keyboard, from its creation until it is dropped.
pub(super) struct Typing {
    keys: UnboundedReceiver<Vec<Event>>,
    stop: Arc<AtomicBool>,
    reading: Option<JoinHandle<()>>,
    /// Rows below the answer, where the screen has them.
    below: Option<Below>,
    _mode: Mode,
}

impl Typing {
    /// Begins to read. `is_shown` says whether rows can be drawn below the answer, `has_data` whether standard output is
    /// on the screen too.
    pub(super) fn start(is_shown: bool, has_data: bool) -> Self {
        let mode = Mode::enter(is_shown);
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, keys) = unbounded_channel();
        let asked = Arc::clone(&stop);
        let reading = std::thread::spawn(move || {
            while !asked.load(Ordering::Relaxed) {
                match burst(LOOK) {
                    Ok(keys) if keys.is_empty() => {}
                    Ok(keys) => drop(sender.send(keys)),
                    // A terminal that is gone types nothing.
                    Err(_) => return,
                }
            }
        });
        let below = is_shown.then(|| Below::begin(has_data));
        Self { keys, stop, reading: Some(reading), below, _mode: mode }
    }

    /// What is typed next; waits for ever when the terminal is gone.
    pub(super) async fn next(&mut self) -> Vec<Event> {
        match self.keys.recv().await {
            Some(keys) => keys,
            None => std::future::pending().await,
        }
    }

    /// Shows these rows below the answer.
    pub(super) fn show(&self, rows: Vec<String>) {
        if let Some(below) = &self.below {
            below.show(rows);
        }
    }

    /// Ends the reading and gives what was typed and nobody has taken.
    pub(super) fn end(mut self) -> Vec<Vec<Event>> {
        self.join();
        std::iter::from_fn(|| self.keys.try_recv().ok()).collect()
    }

    fn join(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(reading) = self.reading.take() {
            // A reader that broke off has nothing left to end.
            let _ = reading.join();
        }
    }
}

impl Drop for Typing {
    fn drop(&mut self) {
        self.join();
    }
}

/// What came right behind a line that was entered: a paste that the terminal did not mark as one.
pub(super) fn rest_of_paste() -> Vec<Event> {
    let _mode = Mode::enter(true);
    burst(BURST).unwrap_or_default()
}

/// Throws away what was typed before a question could be read, until nothing was typed for so long: a paste that came in between
/// answers nothing. Says whether Ctrl-C was among it, which counts at any time.
pub(super) fn let_settle(quiet: Duration) -> io::Result<bool> {
    // Here Ctrl-C comes as a key, as it does to the question itself.
    crossterm::terminal::enable_raw_mode()?;
    let settled = loop {
        match burst(quiet) {
            Ok(keys) if keys.iter().any(is_stop) => break Ok(true),
            Ok(keys) if keys.is_empty() => break Ok(false),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
    };
    crossterm::terminal::disable_raw_mode()?;
    settled
}

fn is_stop(event: &Event) -> bool {
    matches!(event, Event::Key(key) if key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL)
}

/// The keys that come together; none when none came in time.
fn burst(patience: Duration) -> io::Result<Vec<Event>> {
    let mut keys = Vec::new();
    let mut patience = patience;
    while event::poll(patience)? {
        keys.push(event::read()?);
        patience = BURST;
    }
    Ok(keys)
}

/// The terminal as it is while an answer streams: keys come one by one, unseen, and pastes are marked. Ctrl-C still is a
/// signal, which throws away nothing that was typed. Dropped, the terminal is as it was.
struct Mode {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
    marks: bool,
}

impl Mode {
    #[cfg(unix)]
    fn enter(is_shown: bool) -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(rustix::stdio::stdin()).ok();
        if let Some(before) = &before {
            let mut during = before.clone();
            during.local_modes -= LocalModes::ICANON;
            if is_shown {
                during.local_modes -= LocalModes::ECHO;
            }
            during.local_modes |= LocalModes::NOFLSH;
            // Where this fails, lines are read whole, as the terminal has them.
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &during);
        }
        Self { before, marks: marks(is_shown) }
    }

    #[cfg(not(unix))]
    fn enter(is_shown: bool) -> Self {
        let _ = crossterm::terminal::enable_raw_mode();
        Self { marks: marks(is_shown) }
    }
}

/// Asks the terminal to mark pastes.
fn marks(is_shown: bool) -> bool {
    is_shown && execute!(io::stderr(), event::EnableBracketedPaste).is_ok()
}

impl Drop for Mode {
    fn drop(&mut self) {
        if self.marks {
            let _ = execute!(io::stderr(), event::DisableBracketedPaste);
        }
        #[cfg(unix)]
        if let Some(before) = &self.before {
            use rustix::termios::{OptionalActions, tcsetattr};
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, before);
        }
        #[cfg(not(unix))]
        let _ = crossterm::terminal::disable_raw_mode();
    }
}
