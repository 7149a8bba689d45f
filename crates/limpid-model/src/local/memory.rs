//! What a model needs of the machine, and what the machine has.

use std::path::Path;

use crate::gguf::Gguf;
use limpid_config::{MAX_FILE, regular_file};

/// Tokens of the window when nobody chose one and the model could do more.
const USUAL_WINDOW: u32 = 16_384;
/// Tokens below which a window is of no use.
const LEAST_WINDOW: u32 = 2048;
/// Tokens of the window when the file does not name one.
const UNKNOWN_WINDOW: u32 = 4096;
/// What the engine takes beside weights and cache: working memory of one batch.
const WORKING_BYTES: u64 = 96 << 20;

/// What a model with a window takes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Tokens of the window.
    pub window: u32,
    /// Bytes of the weights.
    pub weights: u64,
    /// Bytes of the evaluated tokens, for a full window.
    pub cache: u64,
}

/// A model that does not fit into memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it does not fit into memory: {} of weights and {} for a window of {} tokens are needed, and {} are available; \
     take a smaller model or a smaller window",
    size(.need.weights + WORKING_BYTES), size(.need.cache), .need.window, size(*.available)
)]
pub struct TooLarge {
    /// What it needs.
    pub need: Footprint,
    /// Bytes that are available.
    pub available: u64,
}

impl Footprint {
    /// The footprint of a model with a window.
    pub fn of(gguf: &Gguf, window: u32) -> Self {
        let cache = gguf.cache_bytes_per_token().unwrap_or(0).saturating_mul(window.into());
        Self { window, weights: gguf.weight_bytes, cache }
    }

    /// Everything together, in bytes.
    pub fn bytes(&self) -> u64 {
        self.weights.saturating_add(self.cache).saturating_add(WORKING_BYTES)
    }

    /// Chooses a window: the one that was asked for, or else the model's own up to a usual size, halved until it fits.
    /// When the available memory is not known, everything fits.
    ///
    /// # Errors
    /// When the window that was asked for, or the least useful one, does not fit.
    pub fn choose(gguf: &Gguf, asked: Option<u32>, available: Option<u64>) -> Result<Self, TooLarge> {
        let available = available.unwrap_or(u64::MAX);
        let own = gguf.context_length().unwrap_or(UNKNOWN_WINDOW);
        let mut need = Self::of(gguf, asked.unwrap_or(own.min(USUAL_WINDOW)));
        while asked.is_none() && need.bytes() > available && need.window / 2 >= LEAST_WINDOW {
            need = Self::of(gguf, need.window / 2);
        }
        if need.bytes() > available { Err(TooLarge { need, available }) } else { Ok(need) }
    }
}

/// What the kernel says in a file.
fn kernel(path: &str) -> std::io::Result<String> {
    regular_file::read_text(Path::new(path), MAX_FILE)
}

/// Bytes of memory that can be had without swapping, within the limits of the control group; none where the system
/// does not say.
pub fn available() -> Option<u64> {
    let free = available_in(&kernel("/proc/meminfo").ok()?)?;
    let number = |name| kernel(&format!("/sys/fs/cgroup/memory.{name}")).ok()?.trim().parse::<u64>().ok();
    let group = number("max").map(|max| max.saturating_sub(number("current").unwrap_or(0)));
    Some(group.map_or(free, |group| group.min(free)))
}

/// The threads that a model uses when nobody chose: one less than the machine has cores, and never more than this
/// process may use. Threads that wait for a core make generation many times slower.
pub fn default_threads() -> u32 {
    let usable = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = kernel("/proc/cpuinfo").ok().and_then(|info| cores_in(&info)).unwrap_or(usable);
    u32::try_from(cores.min(usable).saturating_sub(1)).unwrap_or(1).max(1)
}

/// Bytes for people: `98.4 MB`.
pub(crate) fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    if bytes >= 1e9 { format!("{:.1} GB", bytes / 1e9) } else { format!("{:.1} MB", bytes / 1e6) }
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Physical cores: two threads of one core share what arithmetic needs.
fn cores_in(cpuinfo: &str) -> Option<usize> {
    let mut cores = std::collections::BTreeSet::new();
    for processor in cpuinfo.split("\n\n") {
        let field = |name: &str| {
            processor.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':')).map(str::trim)
        };
        if let (Some(package), Some(core)) = (field("physical id"), field("core id")) {
            cores.insert((package, core));
        }
    }
    (!cores.is_empty()).then_some(cores.len())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::gguf::MetaValue;

    /// Weights of 1 GB and 100 kB a token.
    fn model(context: u32) -> Gguf {
        let metadata = BTreeMap::from([
            ("general.architecture".to_owned(), MetaValue::Text("x".into())),
            ("x.context_length".to_owned(), MetaValue::Number(context.into())),
            ("x.block_count".to_owned(), MetaValue::Number(10)),
            ("x.attention.head_count_kv".to_owned(), MetaValue::Number(10)),
            ("x.attention.key_length".to_owned(), MetaValue::Number(250)),
            ("x.attention.value_length".to_owned(), MetaValue::Number(250)),
        ]);
        let (file_bytes, weight_bytes) = (1_000_000_000, 1_000_000_000);
        Gguf { version: 3, metadata, tensors: 1, file_bytes, weight_bytes, bos_token: None, eos_token: None }
    }

    #[test]
    fn a_window_is_chosen_that_fits() {
        let window = |context, asked, available| {
            Footprint::choose(&model(context), asked, available).map(|footprint| footprint.window).ok()
        };
        assert_eq!(window(8192, None, None), Some(8192));
        assert_eq!(window(131_072, None, None), Some(16_384));
        assert_eq!(window(131_072, None, Some(2_000_000_000)), Some(8192));
        assert_eq!(window(131_072, Some(131_072), None), Some(131_072));
        assert_eq!(window(131_072, None, Some(1_200_000_000)), None);
        assert_eq!(window(131_072, Some(16_384), Some(2_000_000_000)), None);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_sizes() {
        let refused = Footprint::choose(&model(8192), Some(8192), Some(1_500_000_000)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "it does not fit into memory: 1.1 GB of weights and 819.2 MB for a window of 8192 tokens are needed, and \
             1.5 GB are available; take a smaller model or a smaller window"
        );
    }

    #[test]
    fn cores_and_memory_are_read_from_the_system() {
        let two_threads_a_core = "processor : 0\nphysical id\t: 0\ncore id\t\t: 0\n\nprocessor : 1\nphysical id\t: 0\n\
            core id\t\t: 0\n\nprocessor : 2\nphysical id\t: 0\ncore id\t\t: 1\n";
        assert_eq!(cores_in(two_threads_a_core), Some(2));
        assert_eq!(cores_in("nothing"), None);
        assert_eq!(available_in("MemTotal: 10 kB\nMemAvailable:    2 kB\n"), Some(2048));
        assert_eq!(available_in(""), None);
        assert!(default_threads() >= 1);
    }
}
