//! libFuzzer with one target, the one that `LIMPID_FUZZ` names.
#![no_main]
#![allow(clippy::disallowed_methods, reason = "it reads its own repository")]

use std::sync::LazyLock;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("LIMPID_FUZZ").unwrap_or_default();
    fuzz::target(&name).unwrap_or_else(|| panic!("LIMPID_FUZZ names no target: {name:?}")).1
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (*TARGET)(data));
