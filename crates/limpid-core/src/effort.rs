//! How much a model is to reason before it answers.

/// How much a model is to reason. Levels are ordered; what each one costs is the provider's business.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// As the provider does when nothing is said.
    #[default]
    Default,
    /// No reasoning.
    Off,
    /// As little as there is.
    Minimal,
    /// Little.
    Low,
    /// A fair amount.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as there is.
    Max,
}

impl Effort {
    /// All levels, the lowest first.
    pub const ALL: [Self; 8] =
        [Self::Default, Self::Off, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The level's name, as settings write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// Reads a level's name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }

    /// Tokens of a reply that reasoning at this level may take: what a budget allows, and what a limit leaves room for.
    pub const fn tokens(self) -> u32 {
        match self {
            Self::Off => 0,
            Self::Minimal => 1024,
            Self::Low => 4096,
            Self::Medium => 8192,
            Self::Default | Self::High => 16_384,
            Self::Xhigh => 24_576,
            Self::Max => 32_768,
        }
    }

    /// The level that a model with these levels gets: the same one, else the nearest lower one, else its lowest. A model
    /// of which no levels are known is left alone.
    ///
    /// ```
    /// use limpid_core::Effort;
    /// let levels = [Effort::Low, Effort::High];
    /// assert_eq!(Effort::Medium.among(&levels), Effort::Low);
    /// assert_eq!(Effort::Off.among(&levels), Effort::Low);
    /// assert_eq!(Effort::Max.among(&levels), Effort::High);
    /// assert_eq!(Effort::Max.among(&[]), Effort::Default);
    /// ```
    pub fn among(self, levels: &[Self]) -> Self {
        if self == Self::Default {
            return self;
        }
        let lower = levels.iter().copied().filter(|level| *level <= self && *level != Self::Default).max();
        lower.or_else(|| levels.iter().copied().filter(|level| *level != Self::Default).min()).unwrap_or_default()
    }
}
