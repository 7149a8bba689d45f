//! Has the crate built again when a file of a shipped profile is added or removed; changed ones are seen without it.

fn main() {
    println!("cargo::rerun-if-changed=profiles");
}
