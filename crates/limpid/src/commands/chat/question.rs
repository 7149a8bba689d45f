//! The question whether calls may run, asked at a terminal: a frame that no text of a call can enter, and its answer. One
//! call is shown whole; several are numbered parts of one question, and each can be opened.

mod difference;
pub(super) mod form;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod long;
mod several;
mod single;

use std::time::Duration;

use limpid_runtime::question::Screen;
use limpid_runtime::{Agent, ApprovalAnswer, QuestionPart, question};
use reedline::{DefaultPrompt, DefaultPromptSegment, Reedline, Signal};

use self::difference::{LINES, difference};
use self::several::Several;
use self::single::{Offered, Single};
use super::typing::let_settle;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// How long nothing may have been typed before an answer counts: what comes sooner was not typed to the question.
const QUIET: Duration = Duration::from_millis(700);

/// Shows a question and waits for its answers, one for each part; none when the person would rather stop the turn.
///
/// # Errors
/// When the terminal cannot be read.
pub(super) async fn answers(
    agent: &Agent,
    parts: &[QuestionPart],
    can_clean: bool,
) -> Result<Option<Vec<ApprovalAnswer>>, Failure> {
    let mut answers: Vec<Option<ApprovalAnswer>> = vec![None; parts.len()];
    loop {
        let open: Vec<(usize, &QuestionPart)> =
            (1..).zip(parts).filter(|(number, _)| answers[number - 1].is_none()).collect();
        let [(number, part), ..] = open[..] else { return Ok(Some(answers.into_iter().flatten().collect())) };
        if let [_] = open[..] {
            let Some(answer) = about_one(agent, part, can_clean).await? else { return Ok(None) };
            answers[number - 1] = Some(answer);
            continue;
        }
        // What is seen is so on the screen that it was drawn for, however large the window is at the answer.
        let drawn = several::frame(&open, screen());
        output::tell_as_laid_out(&drawn.text);
        let numbers: Vec<usize> = open.iter().map(|(number, _)| *number).collect();
        let asked = numbers.clone();
        let meaning = move |line: &str| Some(several::meaning(line, &asked, can_clean));
        let no = Some(Several::Take(Vec::new(), ApprovalAnswer::No));
        match read(several::words(can_clean), no, meaning).await? {
            None => return Ok(None),
            // The question is drawn again below, for its last lines have to stand above the prompt.
            Some(None) => output::tell(several::help(can_clean)),
            Some(Some(Several::Open(number))) => {
                let Some(answer) = about_one(agent, &parts[number - 1], can_clean).await? else { return Ok(None) };
                answers[number - 1] = Some(answer);
            }
            Some(Some(Several::Take(taken, yes))) => {
                for number in numbers {
                    let answer = match drawn.answer(number, &taken, yes) {
                        Some(answer) => answer,
                        None => {
                            let part = &parts[number - 1];
                            let Some(answer) = about_one(agent, part, can_clean).await? else { return Ok(None) };
                            answer
                        }
                    };
                    answers[number - 1] = Some(answer);
                }
            }
        }
    }
}

/// Asks about one call by itself. Where the screen has no room for all that a yes rests on, that is shown before there is one.
async fn about_one(agent: &Agent, part: &QuestionPart, can_clean: bool) -> Result<Option<ApprovalAnswer>, Failure> {
    let mut is_open = false;
    loop {
        let screen = screen();
        let most = if is_open { usize::MAX } else { LINES };
        difference(agent, part, screen.width, most).iter().for_each(|changes| output::tell_as_laid_out(changes));
        output::tell_as_laid_out(&match is_open {
            true => question::whole_frame(part, screen.width),
            false => question::frame(part, screen),
        });
        let is_seen = is_open || question::is_seen(part, screen);
        let offered = Offered { lasts: part.pattern.is_some(), can_clean, is_seen };
        let meaning = move |line: &str| Some(offered.meaning(line));
        match read(offered.words(), Some(Single::Answer(ApprovalAnswer::No)), meaning).await? {
            None => return Ok(None),
            // The question is drawn again, for its last lines have to stand above the prompt.
            Some(None) => output::tell(&offered.help()),
            Some(Some(Single::Answer(answer))) => return Ok(Some(answer)),
            Some(Some(Single::Open)) => is_open = true,
        }
    }
}

fn screen() -> Screen {
    Screen { width: output::width(), height: output::height() }
}

/// Reads lines until one is an answer; none when the person would rather stop the turn. The end of the input is `no`. A paste is in no
/// line by itself, and what comes before the question stands still is thrown away.
async fn read<T: Send + 'static>(
    words: &'static str,
    no: T,
    meaning: impl Fn(&str) -> Option<T> + Send + 'static,
) -> Result<Option<T>, Failure> {
    read_after(QUIET, words, no, meaning).await
}

/// The same, once nothing was typed for so long.
async fn read_after<T: Send + 'static>(
    quiet: Duration,
    words: &'static str,
    no: T,
    meaning: impl Fn(&str) -> Option<T> + Send + 'static,
) -> Result<Option<T>, Failure> {
    // On a thread of its own, so that nothing else stands still.
    let read = tokio::task::spawn_blocking(move || {
        let words = DefaultPromptSegment::Basic(words.to_owned());
        let prompt = DefaultPrompt::new(words, DefaultPromptSegment::Empty);
        let mut editor = Reedline::create().use_bracketed_paste(true);
        loop {
            if !quiet.is_zero() && let_settle(quiet)? {
                return Ok(None);
            }
            match editor.read_line(&prompt)? {
                Signal::Success(line) => match meaning(&line) {
                    Some(answer) => return Ok(Some(answer)),
                    None => continue,
                },
                Signal::CtrlD => return Ok(Some(no)),
                _ => return Ok(None),
            }
        }
    });
    let read: std::io::Result<_> = read.await.map_err(|error| Failure::new(ExitStatus::Failed, error))?;
    Ok(read?)
}
