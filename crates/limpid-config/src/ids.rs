//! Names nobody has yet.

/// A source of names and tags that nobody can guess.
pub trait Ids: Send + Sync {
    /// 64 bits that were never drawn before.
    fn draw(&self) -> u64;
}

/// Names drawn from the system's randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn draw(&self) -> u64 {
        // Without randomness nothing safe can be drawn, and no caller could go on.
        getrandom::u64().expect("the system has randomness")
    }
}

/// 16 hexadecimal digits: a tag or the tail of a name.
pub fn hex(ids: &dyn Ids) -> String {
    format!("{:016x}", ids.draw())
}
