//! The words that goals are told in, and how long their texts are.

/// Characters that a description has at most.
pub const MAX_DESCRIPTION: usize = 300;

/// Characters that the path of an artifact has at most.
pub const MAX_PATH: usize = 400;

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word, as it is stored and shown.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Reads the word; nothing else is accepted.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )+};
}
pub(crate) use words;

words! {
    /// How much a goal matters.
    Priority {
        /// First.
        High = "high",
        /// In its turn.
        #[default]
        Medium = "medium",
        /// When there is time.
        Low = "low",
    }
    /// How a goal stands.
    GoalStatus {
        /// It is worked on.
        #[default]
        Active = "active",
        /// It waits and is in no prompt.
        Paused = "paused",
        /// It is done.
        Completed = "completed",
    }
    /// How a step stands.
    CheckpointStatus {
        /// It waits.
        #[default]
        Pending = "pending",
        /// It is worked on.
        InProgress = "in-progress",
        /// It is done.
        Completed = "completed",
    }
    /// What kind of file an artifact is.
    ArtifactKind {
        /// Any file.
        #[default]
        File = "file",
        /// A test.
        Test = "test",
        /// A document.
        Documentation = "documentation",
    }
    /// What was done to an artifact.
    ArtifactAction {
        /// It was made.
        #[default]
        Created = "created",
        /// It was changed.
        Modified = "modified",
        /// It was removed.
        Deleted = "deleted",
    }
}

impl ArtifactKind {
    /// The kind that a path tells: a folder or name that says test, the endings of documents, else a file.
    ///
    /// ```
    /// use limpid_core::goal::ArtifactKind;
    /// let kinds = ["tests/login.rs", "src/login_test.go", "docs/login.md", "src/latest.rs"].map(ArtifactKind::of_path);
    /// use ArtifactKind::{Documentation, File, Test};
    /// assert_eq!(kinds, [Test, Test, Documentation, File]);
    /// ```
    pub fn of_path(path: &str) -> Self {
        let path = path.to_lowercase();
        let mut words = path.split(|c: char| !c.is_alphanumeric());
        if words.any(|word| matches!(word, "test" | "tests" | "spec" | "specs")) {
            return Self::Test;
        }
        let is_document = [".md", ".txt", ".rst", ".adoc"].iter().any(|ending| path.ends_with(ending));
        if is_document { Self::Documentation } else { Self::File }
    }
}
