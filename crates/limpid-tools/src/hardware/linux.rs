//! The buses of Linux, by its device files.

use std::io;

use i2cdev::core::{I2CDevice as _, I2CMessage as _, I2CTransfer as _};
use i2cdev::linux::{LinuxI2CBus, LinuxI2CDevice, LinuxI2CMessage};
use spidev::{SpiModeFlags, Spidev, SpidevOptions, SpidevTransfer};

use super::{Buses, Presence, Probe, SpiClock, i2c, spi};

/// A device that a driver of the system uses: `EBUSY`.
const BUSY: i32 = 16;

/// The buses of this machine.
#[derive(Clone, Copy, Debug)]
pub struct LinuxBuses;

impl Buses for LinuxBuses {
    fn i2c_buses(&self) -> io::Result<Vec<String>> {
        devices("i2c-")
    }

    fn i2c_probe(&self, bus: &str, address: u8, probe: Probe) -> io::Result<Presence> {
        // A bus that cannot be opened is no empty bus.
        drop(LinuxI2CBus::new(i2c::file(bus)).map_err(io::Error::from)?);
        let mut device = match LinuxI2CDevice::new(i2c::file(bus), u16::from(address)).map_err(io::Error::from) {
            Ok(device) => device,
            Err(error) if error.raw_os_error() == Some(BUSY) => return Ok(Presence::Busy),
            Err(error) => return Err(error),
        };
        let answered = match probe {
            Probe::Quick => device.smbus_write_quick(false),
            Probe::Read => device.smbus_read_byte().map(drop),
        };
        Ok(if answered.is_ok() { Presence::Device } else { Presence::Nothing })
    }

    fn i2c_read(&self, bus: &str, address: u8, register: Option<u8>, length: usize) -> io::Result<Vec<u8>> {
        let mut device = LinuxI2CDevice::new(i2c::file(bus), u16::from(address)).map_err(io::Error::from)?;
        let mut bytes = vec![0; length];
        match register {
            None => device.read(&mut bytes).map_err(io::Error::from)?,
            Some(register) => {
                let register = [register];
                let mut messages = [LinuxI2CMessage::write(&register), LinuxI2CMessage::read(&mut bytes)];
                device.transfer(&mut messages).map_err(io::Error::from)?;
            }
        }
        Ok(bytes)
    }

    fn i2c_write(&self, bus: &str, address: u8, data: &[u8]) -> io::Result<()> {
        LinuxI2CDevice::new(i2c::file(bus), u16::from(address))
            .and_then(|mut device| device.write(data))
            .map_err(io::Error::from)
    }

    fn spi_devices(&self) -> io::Result<Vec<String>> {
        devices("spidev")
    }

    fn spi_transfer(&self, device: &str, clock: SpiClock, data: &[u8]) -> io::Result<Vec<u8>> {
        let mut device = Spidev::open(spi::file(device))?;
        let mode = SpiModeFlags::from_bits_truncate(u32::from(clock.mode));
        let options = SpidevOptions::new().bits_per_word(clock.bits).max_speed_hz(clock.speed).mode(mode).build();
        device.configure(&options)?;
        let mut came = vec![0; data.len()];
        device.transfer(&mut SpidevTransfer::read_write(data, &mut came))?;
        Ok(came)
    }
}

/// What follows a prefix in the names of device files, in order.
fn devices(prefix: &str) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/dev")? {
        let name = entry?.file_name();
        found.extend(name.to_str().and_then(|name| name.strip_prefix(prefix)).map(str::to_owned));
    }
    found.sort();
    Ok(found)
}
