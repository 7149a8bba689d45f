//! Parts that are wired to the machine: I2C and SPI.
//!
//! What goes over the wires stands behind one trait, [`Buses`]; the tools check every value before anything is opened.
//! The code of Linux behind it is there with the feature `hardware`.

mod i2c;
#[cfg(all(feature = "hardware", target_os = "linux"))]
mod linux;
mod spi;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use limpid_core::{Sentence, sentence};

use crate::echoed;

pub use i2c::I2c;
#[cfg(all(feature = "hardware", target_os = "linux"))]
pub use linux::LinuxBuses;
pub use spi::Spi;

/// The buses of a machine.
pub trait Buses: Send + Sync {
    /// The I2C buses by their numbers.
    fn i2c_buses(&self) -> io::Result<Vec<String>>;

    /// Looks whether something answers at an address.
    fn i2c_probe(&self, bus: &str, address: u8, probe: Probe) -> io::Result<Presence>;

    /// Reads bytes of a device, from a register when one is named.
    fn i2c_read(&self, bus: &str, address: u8, register: Option<u8>, length: usize) -> io::Result<Vec<u8>>;

    /// Writes bytes to a device, a register's number first when one is named.
    fn i2c_write(&self, bus: &str, address: u8, data: &[u8]) -> io::Result<()>;

    /// The SPI devices as `bus.chip`.
    fn spi_devices(&self) -> io::Result<Vec<String>>;

    /// Sends bytes and returns those that came back meanwhile.
    fn spi_transfer(&self, device: &str, clock: SpiClock, data: &[u8]) -> io::Result<Vec<u8>>;
}

/// How an address is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// By a write of nothing, to which most devices answer.
    Quick,
    /// By reading a byte, where a write could change what a memory holds.
    Read,
}

/// What is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Nothing that answers.
    Nothing,
    /// A device.
    Device,
    /// A device that the system itself uses.
    Busy,
}

/// How an SPI device is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpiClock {
    /// Hertz.
    pub speed: u32,
    /// Mode, 0 to 3.
    pub mode: u8,
    /// Bits of a word.
    pub bits: u8,
}

/// Does something that waits for the wires, beside the others that run.
async fn apart<T: Send + 'static>(
    buses: &Arc<dyn Buses>,
    work: impl FnOnce(&dyn Buses) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let buses = Arc::clone(buses);
    tokio::task::spawn_blocking(move || work(&*buses)).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// What went wrong with a device file, and what to do about it.
fn trouble(file: &str, group: &'static str, switch: &'static str, error: &io::Error) -> Sentence {
    let file = echoed(file);
    match error.kind() {
        io::ErrorKind::NotFound => sentence!("there is no {}; switch the bus on ({})", file, switch),
        io::ErrorKind::PermissionDenied => sentence!(
            "{} may not be used; add the user to its group (sudo usermod -aG {} USER) and log in again",
            file,
            group
        ),
        _ => sentence!("{}: {}", file, echoed(error)),
    }
}

/// Bytes as people write them: `0x0a 0xff`.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("0x{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// A number within bounds, or what is wrong with it.
fn within<T>(name: &'static str, value: u64, least: u64, most: u64) -> Result<T, Sentence>
where
    T: TryFrom<u64>,
{
    let wrong = || sentence!("`{}` is {} to {}", name, least, most);
    if (least..=most).contains(&value) { T::try_from(value).map_err(|_| wrong()) } else { Err(wrong()) }
}

/// Bytes to send.
fn bytes(data: Option<Vec<u64>>, most: usize) -> Result<Vec<u8>, Sentence> {
    let data = data.unwrap_or_default();
    if data.is_empty() || data.len() > most {
        return Err(sentence!("`data` has 1 to {} bytes", most));
    }
    data.into_iter().map(|byte| within("data", byte, 0, 255)).collect()
}

/// Nothing is sent that was not confirmed.
fn confirmed(confirm: Option<bool>, action: &'static str) -> Result<(), Sentence> {
    if confirm == Some(true) { Ok(()) } else { Err(sentence!("`{}` needs `confirm: true`; nothing was sent", action)) }
}
