//! Tools of parts that are wired to the machine: on Linux, with the feature `hardware`.

use std::sync::Arc;

use crate::tools::Tool;

/// The tools of this machine's buses.
#[cfg(all(feature = "hardware", target_os = "linux"))]
pub fn tools() -> Vec<Arc<dyn Tool>> {
    use limpid_tools::hardware::{Buses, I2c, LinuxBuses, Spi};
    let buses: Arc<dyn Buses> = Arc::new(LinuxBuses);
    vec![Arc::new(I2c::new(Arc::clone(&buses))), Arc::new(Spi::new(buses))]
}

/// None: this program was built without them.
#[cfg(not(all(feature = "hardware", target_os = "linux")))]
pub fn tools() -> Vec<Arc<dyn Tool>> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    // PICO-098
    #[test]
    fn the_tools_are_there_with_the_feature_on_linux_only() {
        let tools = tools();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
        let there = cfg!(all(feature = "hardware", target_os = "linux"));
        assert_eq!(names, if there { vec!["i2c", "spi"] } else { Vec::new() });
    }
}
