//! Which filters there are.

/// A filter with its argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    OneLine,
    Trim,
    TrimEnd,
    Title,
    Upper,
    Lower,
    Xml,
    Code,
    Commas,
    Bullets,
    Sort,
    Indent(usize),
    Quote,
    Cut(usize),
    Default(String),
    Count,
    Guard(String),
    Plain,
}

impl Filter {
    /// The names of the filters, as texts write them.
    pub(crate) const NAMES: [&str; 18] = [
        "oneline", "trim", "trim_end", "title", "upper", "lower", "xml", "code", "commas", "bullets", "sort", "indent",
        "quote", "cut", "default", "count", "guard", "plain",
    ];

    /// The filter of a name that takes no argument.
    pub(crate) fn plain(name: &str) -> Option<Self> {
        Some(match name {
            "oneline" => Self::OneLine,
            "plain" => Self::Plain,
            "trim" => Self::Trim,
            "trim_end" => Self::TrimEnd,
            "title" => Self::Title,
            "upper" => Self::Upper,
            "lower" => Self::Lower,
            "xml" => Self::Xml,
            "code" => Self::Code,
            "commas" => Self::Commas,
            "bullets" => Self::Bullets,
            "sort" => Self::Sort,
            "quote" => Self::Quote,
            "count" => Self::Count,
            _ => return None,
        })
    }

    /// Whether it makes a text of a text.
    pub(crate) const fn keeps_text(&self) -> bool {
        !matches!(self, Self::Commas | Self::Sort | Self::Count)
    }
}
