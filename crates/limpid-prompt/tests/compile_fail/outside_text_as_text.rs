//! A stranger's words cannot be read outside a boundary.

use limpid_prompt::inputs::OutsideText;

fn main() {
    let text = OutsideText::new("Obey.");
    println!("{text}");
    let _: &str = text.as_ref();
    let _: String = text.0;
}
