//! What texts mean, as a model of embeddings sees it: directions in a space, and how alike two of them are.

use crate::memory::Memory;

/// The largest number of an embedding.
const LARGEST: f32 = 127.0;

/// Bytes of a text that a model gets to see: what most of them read at once, in any script.
const SEEN_BYTES: usize = 1000;

/// Numbers that an embedding may have; the largest models known give a few thousand.
const MOST_NUMBERS: usize = 1 << 16;

/// Texts that have nothing to do with each other. How alike a model finds them is where likeness begins ([`unlike`]).
pub fn strangers() -> Vec<&'static str> {
    include_str!("strangers.txt").lines().collect()
}

/// Where a text points in the space of a model: only the direction counts. A byte a number is as exact as ranks need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedding(Vec<i8>);

impl Embedding {
    /// Takes what a model made of a text; none when that is no direction: no numbers, only zeros, one that is not finite,
    /// or more of them than any model gives.
    ///
    /// ```
    /// use limpid_core::recall::Embedding;
    /// let east = Embedding::new(&[0.5, 0.0]).unwrap();
    /// assert!((east.cosine(&Embedding::new(&[9.0, 0.0]).unwrap()) - 1.0).abs() < 1e-9);
    /// assert_eq!(Embedding::new(&[0.0, 0.0]), None);
    /// ```
    pub fn new(numbers: &[f32]) -> Option<Self> {
        let largest = numbers.iter().fold(0.0f32, |largest, number| largest.max(number.abs()));
        let is_direction = largest > 0.0 && numbers.iter().all(|number| number.is_finite());
        if !is_direction || numbers.len() > MOST_NUMBERS {
            return None;
        }
        // The result lies between -127 and 127.
        Some(Self(numbers.iter().map(|number| (number / largest * LARGEST).round() as i8).collect()))
    }

    /// The numbers, a byte each.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().map(|number| number.to_ne_bytes()[0]).collect()
    }

    /// How many numbers it has; embeddings of one model have the same.
    pub fn dimensions(&self) -> usize {
        self.0.len()
    }

    /// The cosine of the angle between two directions, from -1 to 1; 0 between those of different spaces.
    pub fn cosine(&self, other: &Self) -> f64 {
        self.cosine_of(other.0.iter().copied())
    }

    fn cosine_of(&self, other: impl ExactSizeIterator<Item = i8>) -> f64 {
        if self.0.len() != other.len() {
            return 0.0;
        }
        // The sums of the most numbers there may be are smaller than the largest `i32`.
        let (mut product, mut own, mut others) = (0i32, 0i32, 0i32);
        for (a, b) in self.0.iter().zip(other) {
            let (a, b) = (i32::from(*a), i32::from(b));
            product += a * b;
            own += a * a;
            others += b * b;
        }
        let lengths = f64::from(own).sqrt() * f64::from(others).sqrt();
        if lengths > 0.0 { f64::from(product) / lengths } else { 0.0 }
    }
}

/// What a query means to one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    /// The model's name: only texts that it has seen can be compared.
    pub model: String,
    /// Where the query points.
    pub embedding: Embedding,
    /// The cosine that this model gives texts which have nothing to do with each other ([`unlike`]).
    pub unlike: f64,
}

impl Meaning {
    /// How alike a text is to the query, from 0, as any two texts are, to 1, the same; `bytes` are its embedding's.
    pub fn likeness(&self, bytes: &[u8]) -> f64 {
        let cosine = self.embedding.cosine_of(bytes.iter().map(|byte| i8::from_ne_bytes([*byte])));
        let share = (cosine - self.unlike) / (1.0 - self.unlike);
        share.clamp(0.0, 1.0)
    }
}

/// The mean cosine between texts that have nothing to do with each other: some models give nearly 0, others more
/// than a half.
pub fn unlike(strangers: &[Embedding]) -> f64 {
    let pairs = || strangers.iter().enumerate().flat_map(|(at, a)| strangers.iter().skip(at + 1).map(move |b| (a, b)));
    let sum: f64 = pairs().map(|(a, b)| a.cosine(b)).sum();
    // A model that gives all texts one direction is of no use; dividing by nothing is not what tells so.
    (sum / pairs().count().max(1) as f64).clamp(0.0, 0.99)
}

/// The text that a memory's embedding is made of: a number as a key says nothing.
pub fn meaning_text(memory: &Memory) -> String {
    let is_number = memory.key.chars().all(|c| c.is_ascii_digit() || c == '\'');
    if is_number { memory.content.clone() } else { format!("{}: {}", memory.key, memory.content) }
}

/// As much of a text as a model gets to see.
pub fn seen_part(text: &str) -> &str {
    &text[..text.floor_char_boundary(SEEN_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embedding(numbers: &[f32]) -> Embedding {
        Embedding::new(numbers).unwrap()
    }

    // KOSHI-029
    #[test]
    fn only_directions_are_embeddings() {
        for none in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[1.0; MOST_NUMBERS + 1]] {
            assert_eq!(Embedding::new(none), None, "{} numbers", none.len());
        }
        let longest = embedding(&[1.0; MOST_NUMBERS]);
        assert!((longest.cosine(&longest) - 1.0).abs() < 1e-9);
        assert_eq!(embedding(&[0.3, -0.9, 0.0]).bytes(), [42, 129, 0]);
    }

    // KOSHI-029
    #[test]
    fn a_byte_a_number_is_exact_enough() {
        let wave = |shift: f32| -> Vec<f32> { (0..384).map(|at| (at as f32 * 0.37 + shift).sin() / 19.6).collect() };
        let exact = |a: &[f32], b: &[f32]| -> f64 {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        for shift in [0.0, 0.4, 1.1, 2.0, 3.1] {
            let (a, b) = (wave(0.0), wave(shift));
            let rough = embedding(&a).cosine(&embedding(&b));
            assert!((rough - exact(&a, &b)).abs() < 0.005, "{shift}: {rough}");
        }
        assert!(embedding(&[1.0]).cosine(&embedding(&[1.0, 0.0])).abs() < 1e-9, "other spaces have nothing in common");
    }

    // KOSHI-029
    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        assert_eq!(seen_part("tea"), "tea");
        assert_eq!(seen_part(&"猫".repeat(400)).len(), 999);
    }

    // KOSHI-029
    #[test]
    fn likeness_begins_where_a_model_sees_strangers() {
        let strangers = [embedding(&[1.0, 1.0, 0.0]), embedding(&[1.0, 0.0, 1.0])];
        assert!((unlike(&strangers) - 0.5).abs() < 0.01);
        assert!(unlike(&[]).abs() < 1e-9);
        let query = Meaning { model: "m".into(), embedding: embedding(&[1.0, 1.0, 0.0]), unlike: unlike(&strangers) };
        let like = |numbers: &[f32]| query.likeness(&embedding(numbers).bytes());
        assert!((like(&[2.0, 2.0, 0.0]) - 1.0).abs() < 0.01);
        assert!(like(&[1.0, 0.0, 1.0]) < 0.01);
        assert!(like(&[-1.0, -1.0, 0.0]).abs() < 1e-9);
        assert!((like(&[1.0, 1.0, 1.0]) - 0.63).abs() < 0.01);
    }
}
