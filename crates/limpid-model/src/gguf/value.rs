//! Reads the values of settings.

use std::io::{Read, Seek};

use super::error::GgufError;
use super::reader::Reader;

/// Lists of numbers up to this length are kept (one entry a layer); longer ones belong to the tokenizer.
const MAX_LIST: u64 = 4096;

/// A value in the header.
#[derive(Clone, Debug, PartialEq)]
pub enum MetaValue {
    /// A whole number or a truth value (0 or 1).
    Number(i128),
    /// A broken number.
    Float(f64),
    /// A text.
    Text(String),
    /// A short list of whole numbers.
    List(Vec<i128>),
    /// A list that was not kept, with its length.
    Long(u64),
}

/// The value of a setting.
pub(super) fn read<R: Read + Seek>(reader: &mut Reader<R>, key: &str) -> Result<MetaValue, GgufError> {
    match reader.u32("a setting's kind")? {
        kind @ (0..=5 | 7 | 10 | 11) => Ok(MetaValue::Number(read_whole(reader, kind)?)),
        6 => Ok(MetaValue::Float(f64::from(f32::from_le_bytes(reader.bytes("a number")?)))),
        8 => reader.text("a text").map(MetaValue::Text),
        9 => read_list(reader, key),
        12 => Ok(MetaValue::Float(f64::from_le_bytes(reader.bytes("a number")?))),
        kind => Err(GgufError::Malformed(format!("the setting `{key}` is of the unknown kind {kind}"))),
    }
}

fn read_whole<R: Read + Seek>(reader: &mut Reader<R>, kind: u32) -> Result<i128, GgufError> {
    let what = "a number";
    Ok(match kind {
        1 => i8::from_le_bytes(reader.bytes(what)?).into(),
        2 => u16::from_le_bytes(reader.bytes(what)?).into(),
        3 => i16::from_le_bytes(reader.bytes(what)?).into(),
        4 => u32::from_le_bytes(reader.bytes(what)?).into(),
        5 => i32::from_le_bytes(reader.bytes(what)?).into(),
        10 => u64::from_le_bytes(reader.bytes(what)?).into(),
        11 => i64::from_le_bytes(reader.bytes(what)?).into(),
        _ => u8::from_le_bytes(reader.bytes(what)?).into(),
    })
}

fn read_list<R: Read + Seek>(reader: &mut Reader<R>, key: &str) -> Result<MetaValue, GgufError> {
    let kind = reader.u32("a list's kind")?;
    let width = match kind {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        8 | 10..=12 => 8,
        _ => return Err(GgufError::Malformed(format!("the list `{key}` holds values of the unknown kind {kind}"))),
    };
    let count = reader.count(key, width)?;
    match kind {
        8 => {
            for _ in 0..count {
                reader.skip_text("a text of a list")?;
            }
        }
        6 | 12 => reader.skip(count * width, key)?,
        _ if count > MAX_LIST => reader.skip(count * width, key)?,
        _ => return (0..count).map(|_| read_whole(reader, kind)).collect::<Result<_, _>>().map(MetaValue::List),
    }
    Ok(MetaValue::Long(count))
}
