//! Digests grow shorter with time.

use limpid_core::{Digest, DigestLevel, Labelled};

use super::Count;
use super::shown::shorten;

/// The level that a digest has after so many later compactions.
pub const fn level_at(level: DigestLevel, age: u32) -> DigestLevel {
    match level {
        DigestLevel::Full if age >= 6 => DigestLevel::Line,
        DigestLevel::Full if age >= 3 => DigestLevel::Short,
        DigestLevel::Short if age >= 6 => DigestLevel::Line,
        other => other,
    }
}

/// Whether a digest is to merge with its neighbour.
pub const fn is_due(digest: &Digest, compaction: u32) -> bool {
    compaction.saturating_sub(digest.compaction) >= 10 && matches!(digest.level, DigestLevel::Line)
}

/// Brings a digest to a level; it only ever shrinks, and a text that fits stays as it is.
pub fn age(digest: &mut Digest, level: DigestLevel, count: Count<'_>) {
    digest.level = level;
    cut(digest, level.max_tokens(), count);
}

/// Cuts a digest to so many tokens.
pub fn cut(digest: &mut Digest, tokens: usize, count: Count<'_>) {
    let text = shorten(&digest.text, tokens, count);
    let size = count(&text);
    if size < digest.tokens as usize {
        digest.text = text;
        digest.tokens = size as u32;
    }
}

/// Ages every digest by what has happened since it was made.
pub fn age_all(digests: &mut [Digest], compaction: u32, count: Count<'_>) {
    for digest in digests {
        let level = level_at(digest.level, compaction.saturating_sub(digest.compaction));
        if level != digest.level {
            age(digest, level, count);
        }
    }
}

/// Two neighbours as one: what a model made of both, or both texts one after the other. It has no more tokens than both.
pub fn merged(
    older: &Digest,
    newer: &Digest,
    text: Option<Labelled<String>>,
    tokens: usize,
    count: Count<'_>,
) -> Digest {
    let both = older.tokens as usize + newer.tokens as usize;
    let limit = tokens.min(DigestLevel::Merged.max_tokens()).min(both);
    let trust = older.trust.join(newer.trust);
    let (text, trust) = match text {
        Some(text) => text.join(trust).into_parts(),
        None => (format!("{}\n{}", older.text, newer.text), trust),
    };
    let text = shorten(&text, limit, count);
    Digest {
        level: DigestLevel::Merged,
        first: older.first,
        last: newer.last,
        tokens: count(&text) as u32,
        compaction: older.compaction.max(newer.compaction),
        text,
        trust,
    }
}

#[cfg(test)]
mod tests {
    use limpid_core::{MessageId, Trust};

    use super::*;

    // OLLM-099 OLLM-134
    #[test]
    fn a_digest_ages_in_place_and_never_grows() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        let text = "word ".repeat(390);
        let mut digests = [Digest {
            level: DigestLevel::Full,
            first: MessageId(1),
            last: MessageId(9),
            tokens: count(&text) as u32,
            compaction: 1,
            text,
            trust: Trust::Owner,
        }];
        let id = digests[0].id();
        let mut seen = Vec::new();
        for compaction in 1..=11 {
            let before = digests[0].tokens;
            age_all(&mut digests, compaction, &count);
            assert!(digests[0].tokens <= before && digests[0].id() == id);
            assert_eq!(
                digests[0].tokens as usize,
                count(&digests[0].text),
                "the count is of the text that stands there"
            );
            seen.push((digests[0].level.as_str(), is_due(&digests[0], compaction)));
        }
        let expected = [["3"; 3].as_slice(), &["2"; 3], &["1"; 4], &["1"]].concat();
        assert_eq!(seen.iter().map(|row| row.0).collect::<Vec<_>>(), expected);
        assert_eq!(seen.iter().position(|row| row.1), Some(10), "due ten compactions after it was made");
    }

    // OLLM-099
    #[test]
    fn each_level_has_its_cap_and_two_in_one_have_no_more_than_both() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        let digest = |first: i64, tokens: usize, trust| Digest {
            level: DigestLevel::Full,
            first: MessageId(first),
            last: MessageId(first + 8),
            tokens: tokens as u32,
            compaction: first as u32,
            text: "word ".chars().cycle().take(tokens * 4 - 1).collect(),
            trust,
        };
        let levels = [DigestLevel::Full, DigestLevel::Short, DigestLevel::Line, DigestLevel::Merged];
        assert_eq!(levels.map(DigestLevel::max_tokens), [500, 200, 50, 400]);
        let sizes = levels.map(|level| {
            let mut old = digest(1, 900, Trust::Owner);
            age(&mut old, level, &count);
            old.tokens as usize
        });
        assert!(
            sizes.iter().zip(levels).all(|(size, level)| (level.max_tokens() - 10..=level.max_tokens()).contains(size)),
            "{sizes:?}"
        );
        let one = |sizes: (usize, usize), text: Option<usize>, share: usize| {
            let text = text.map(|tokens| Labelled::new(digest(1, tokens, Trust::Owner).text, Trust::Owner));
            let (older, newer) = (digest(1, sizes.0, Trust::Guest), digest(10, sizes.1, Trust::Owner));
            merged(&older, &newer, text, share, &count)
        };
        let tokens = [
            one((300, 300), None, 5000),
            one((300, 300), Some(500), 5000),
            one((300, 300), Some(500), 100),
            one((40, 40), Some(300), 5000),
        ];
        let tokens = tokens.map(|one| one.tokens);
        assert!(tokens.iter().zip([400, 400, 100, 80]).all(|(is, most)| (most - 10..=most).contains(is)), "{tokens:?}");
        let joined = one((30, 40), None, 5000);
        assert_eq!(joined.text.lines().map(str::len).collect::<Vec<_>>(), [119, 159], "both, where nobody writes one");
        assert_eq!((joined.id().as_str(), joined.level, joined.compaction), ("d1-18", DigestLevel::Merged, 10));
        assert_eq!(joined.trust, Trust::Guest);
    }
}
