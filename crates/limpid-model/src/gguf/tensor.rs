//! Checks that every tensor lies inside the file.

use std::io::{Read, Seek};

use super::error::GgufError;
use super::reader::Reader;

/// Reads the descriptions of `count` tensors and returns the bytes that their data takes.
pub(super) fn check<R: Read + Seek>(reader: &mut Reader<R>, count: u64, alignment: u64) -> Result<u64, GgufError> {
    let mut farthest: Option<(u64, String)> = None;
    for _ in 0..count {
        let name = reader.text("a tensor's name")?;
        let end = read_end(reader, &name, alignment)?;
        if farthest.as_ref().is_none_or(|(most, _)| end > *most) {
            farthest = Some((end, name));
        }
    }
    let Some((bytes, name)) = farthest else { return Ok(0) };
    let start = reader.position().next_multiple_of(alignment);
    let needs = start.saturating_add(bytes);
    if needs > reader.length() {
        return Err(reader.truncated(&format!("the tensor `{name}`"), needs));
    }
    Ok(bytes)
}

/// Where the data of one tensor ends, from the start of all data.
fn read_end<R: Read + Seek>(reader: &mut Reader<R>, name: &str, alignment: u64) -> Result<u64, GgufError> {
    let dimensions = reader.u32("a tensor's dimensions")?;
    if dimensions > 4 {
        return Err(GgufError::Malformed(format!("the tensor `{name}` has {dimensions} dimensions")));
    }
    let mut numbers: u64 = 1;
    for _ in 0..dimensions {
        let size = reader.u64("a tensor's size")?;
        numbers = numbers
            .checked_mul(size)
            .filter(|&n| n <= i64::MAX as u64)
            .ok_or_else(|| GgufError::Malformed(format!("the tensor `{name}` is impossibly large")))?;
    }
    let kind = reader.u32("a tensor's kind")?;
    let offset = reader.u64("a tensor's place")?;
    if !offset.is_multiple_of(alignment) {
        return Err(GgufError::Malformed(format!("the tensor `{name}` begins at the odd place {offset}")));
    }
    let bytes = match block(kind) {
        Some((per_block, block_bytes)) => numbers.div_ceil(per_block).saturating_mul(block_bytes),
        None => 0,
    };
    Ok(offset.saturating_add(bytes))
}

/// Numbers in a block of this kind and the bytes that it takes; none for a kind that is not known here, whose size the
/// engine checks.
fn block(kind: u32) -> Option<(u64, u64)> {
    Some(match kind {
        0 | 26 => (1, 4),
        1 | 25 | 30 => (1, 2),
        2 | 20 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        9 => (32, 36),
        10 => (256, 84),
        11 | 21 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        15 => (256, 292),
        16 | 35 => (256, 66),
        17 => (256, 74),
        18 => (256, 98),
        19 => (256, 50),
        22 => (256, 82),
        23 => (256, 136),
        24 => (1, 1),
        27 | 28 => (1, 8),
        29 => (256, 56),
        34 => (256, 54),
        39 => (32, 17),
        40 => (64, 36),
        41 => (128, 18),
        42 => (64, 18),
        _ => return None,
    })
}
