//! A program at a pseudo-terminal: what it prints goes to an emulated screen, and what is typed goes to the program.

use std::collections::VecDeque;
use std::io;
use std::num::NonZero;
use std::time::Duration;

use pty_process::{Command, Pty, Size};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Child;

/// Longer than anything takes that a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Lines above the screen that can be looked at.
const SCROLLBACK: usize = 1000;

/// What a program asks to learn where the cursor is.
const WHERE: &[u8] = b"\x1b[6n";

/// A terminal with a program in it, which ends when this is dropped.
pub struct Terminal {
    pty: Pty,
    child: Child,
    screen: vt100::Parser,
    /// The newest bytes of the output, as many as a question has.
    tail: VecDeque<u8>,
    /// Everything that was printed, as it came.
    raw: Vec<u8>,
}

/// What a person sees of a text that is printed on a screen of so many rows and columns, without the rows that are blank.
pub fn on_screen(text: &str, (rows, columns): (u16, u16)) -> String {
    let mut screen = vt100::Parser::new(cells(rows), cells(columns), 0);
    // As the terminal does with line breaks.
    screen.process(text.replace('\n', "\r\n").as_bytes());
    screen.screen().contents()
}

/// Rows or columns, of which a screen has one at least.
fn cells(number: u16) -> NonZero<u16> {
    NonZero::new(number).unwrap_or(NonZero::<u16>::MIN)
}

impl Terminal {
    /// Starts a program at a terminal of so many rows and columns; its environment holds these variables alone.
    ///
    /// # Errors
    /// When there is no pseudo-terminal, or the program cannot be started.
    pub fn start(
        program: &str,
        words: &[&str],
        environment: impl IntoIterator<Item = (String, String)>,
        (rows, columns): (u16, u16),
    ) -> io::Result<Self> {
        let (pty, pts) = pty_process::open().map_err(io::Error::other)?;
        pty.resize(Size::new(rows, columns)).map_err(io::Error::other)?;
        let command = Command::new(program).args(words).env_clear().envs(environment).kill_on_drop(true);
        let child = command.spawn(pts).map_err(io::Error::other)?;
        let screen = vt100::Parser::new(cells(rows), cells(columns), SCROLLBACK);
        Ok(Self { pty, child, screen, tail: VecDeque::new(), raw: Vec::new() })
    }

    /// Makes the window so many rows and columns large.
    ///
    /// # Errors
    /// When the program has closed its terminal.
    pub fn resize(&mut self, (rows, columns): (u16, u16)) -> io::Result<()> {
        self.pty.resize(Size::new(rows, columns)).map_err(io::Error::other)?;
        self.screen.screen_mut().set_size(cells(rows), cells(columns));
        Ok(())
    }

    /// Types these bytes.
    ///
    /// # Errors
    /// When the program has closed its terminal.
    pub async fn keys(&mut self, bytes: &str) -> io::Result<()> {
        self.pty.write_all(bytes.as_bytes()).await
    }

    /// What a person sees: the rows of the screen without what is blank at their ends.
    pub fn shown(&self) -> String {
        self.screen.screen().contents()
    }

    /// What was printed so far, with its escape codes.
    pub fn raw(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    /// Waits until the screen fits.
    ///
    /// # Errors
    /// With what is on the screen when the program ended or nothing like it came for a long time.
    pub async fn wait(&mut self, what: &str, fits: impl Fn(&str) -> bool) -> Result<(), String> {
        let waiting = async {
            while !fits(&self.shown()) {
                if !self.read().await {
                    return false;
                }
            }
            true
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("the program ended before {what}:\n{}", self.shown())),
            Err(_) => Err(format!("nothing showed {what}:\n{}", self.shown())),
        }
    }

    /// Waits until the screen holds a text.
    ///
    /// # Errors
    /// As [`Terminal::wait`].
    pub async fn wait_for(&mut self, text: &str) -> Result<(), String> {
        self.wait(text, |shown| shown.contains(text)).await
    }

    /// Waits until the program ends, and gives its exit code.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn ended(&mut self) -> Result<i32, String> {
        let ending = async {
            while self.read().await {}
            self.child.wait().await
        };
        let ended = tokio::time::timeout(PATIENCE, ending).await;
        match ended {
            Ok(Ok(status)) => Ok(status.code().unwrap_or(-1)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("the program does not end:\n{}", self.shown())),
        }
    }

    /// Reads what the program prints next and answers what it asks; false when it has ended.
    async fn read(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let read = match self.pty.read(&mut buffer).await {
            Ok(0) | Err(_) => return false,
            Ok(read) => read,
        };
        for byte in &buffer[..read] {
            self.screen.process(&[*byte]);
            self.raw.push(*byte);
            self.tail.push_back(*byte);
            if self.tail.len() > WHERE.len() {
                self.tail.pop_front();
            }
            if self.tail.iter().eq(WHERE) {
                let (row, column) = self.screen.screen().cursor_position();
                let answer = format!("\x1b[{};{}R", row + 1, column + 1);
                if self.pty.write_all(answer.as_bytes()).await.is_err() {
                    return false;
                }
            }
        }
        true
    }
}
