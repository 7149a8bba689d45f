//! What single words and variables of a server's program may be.

use crate::starts::places::Places;

/// Signs that a word may have besides letters and digits; with every other one it may be a program for a shell or an interpreter.
const SIGNS: &str = "-_./:@=+,";

/// Behind these signs a path may begin within a word.
const BEFORE_PATHS: [char; 4] = ['=', ':', ',', '@'];

/// Schemes of addresses that lead to another computer.
const SCHEMES: &str = "https http git+https git+ssh ssh wss ws postgres postgresql mysql redis mongodb mongodb+srv";

/// Options behind which programs take code, modules and packages.
const CODE: &str = "-c -e -m -p -r --eval --exec --import --print --require --loader";

/// Endings of files that are run by being named.
const SOURCE: &str = ".js .mjs .cjs .jsx .ts .mts .cts .tsx .py .pyz .rb .pl .php .lua .sh .jar .wasm .whl";

/// How the names of variables begin by which programs load others, in capitals.
const LOADS: &str = "LD_ DYLD_ BASH_ PYTHON NODE_ PERL RUBY JAVA_ _JAVA JDK_ NPM_CONFIG PNPM_ YARN_ UV_ PIP_ GIT_ LUA_ PHP \
                     DENO_ BUN_ GEM_ BUNDLE_ DOTNET_ DOCKER_HOST DOCKER_CONFIG DOCKER_CONTEXT CONTAINER_ CONDA_";

/// Variables by which programs load others, which are called no more than this.
const LOADING: &str = "PATH ENV SHELLOPTS BASHOPTS PS4 HOME SHELL EDITOR VISUAL PAGER BROWSER CLASSPATH VIRTUAL_ENV";

/// What begins a command or a function in the value of a variable, for shells that run it.
const COMMANDS: [&str; 3] = ["$(", "`", "() {"];

/// Values that switch something and name nothing.
const SWITCHES: [&str; 8] = ["0", "1", "true", "false", "production", "development", "utf-8", "utf8"];

/// Whether a word of a program is neither code nor a way to a place that a project may lie in.
pub(super) fn is_safe_word(word: &str, places: &Places) -> bool {
    if is_address(word) || is_package(word) {
        return true;
    }
    let is_plain = word.chars().all(|letter| letter.is_alphanumeric() || SIGNS.contains(letter));
    is_plain && !takes_code(word) && leads_safely(word, places)
}

fn takes_code(word: &str) -> bool {
    let option = word.split_once('=').map_or(word, |(name, _)| name);
    CODE.split_whitespace().any(|code| code == option)
}

/// Whether every path that a word can be read as is safe.
fn leads_safely(word: &str, places: &Places) -> bool {
    // Where a path begins behind the letters of an option is for its program to say.
    let word = match word.strip_prefix('-').map(|option| option.split_once('=')) {
        Some(Some((name, value))) if !name.contains('/') => value,
        Some(_) if word.contains('/') => return false,
        _ => word,
    };
    let parts = || word.split(BEFORE_PATHS).filter(|part| part.contains('/') || matches!(*part, "." | ".."));
    parts().next().is_none() || is_address(word) || places.is_safe(word) || parts().all(|part| places.is_safe(part))
}

/// Whether a word behind a package's name is data for it, and not the source of a program that it would run.
pub(super) fn is_data(word: &str, places: &Places) -> bool {
    let small = word.to_lowercase();
    let path = small.split(['?', '#']).next().unwrap_or_default();
    is_address(word) || places.is_safe(word) || !SOURCE.split_whitespace().any(|ending| path.ends_with(ending))
}

/// Whether a word is an address of another computer, of which no path of this one is a part: programs make `x://../../there` a path.
pub(super) fn is_address(word: &str) -> bool {
    word.split_once("://").is_some_and(|(scheme, rest)| {
        let is_known = SCHEMES.split_whitespace().any(|known| known == scheme);
        let begins = rest.starts_with(|letter: char| letter.is_ascii_alphanumeric());
        is_known && begins && !word.contains("..") && !word.contains(char::is_whitespace)
    })
}

/// Whether a word is a package's name in a registry, as `server`, `server[cli]==1.2`, or `@scope/server@1.2`.
pub(super) fn is_package(word: &str) -> bool {
    let (scope, rest) = match word.strip_prefix('@').map(|word| word.split_once('/')) {
        Some(Some((scope, rest))) => (Some(scope), rest),
        Some(None) => return false,
        None => (None, word),
    };
    let (name, version) = rest.split_once("==").or_else(|| rest.split_once('@')).unwrap_or((rest, "1"));
    let (name, extra) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((name, extra)) => (name, extra),
        None => (name, "x"),
    };
    let is_version = |text: &str| {
        !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._+^~*".contains(letter))
    };
    let is_extra = extra.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_,".contains(letter));
    scope.is_none_or(is_name) && is_name(name) && is_version(version) && is_extra
}

/// The name of a package by itself, as its program is mostly called.
pub(super) fn bare_name(package: &str) -> String {
    let name = package.rsplit('/').next().unwrap_or_default();
    name.split(['@', '=', '[']).next().unwrap_or_default().to_lowercase()
}

fn is_name(text: &str) -> bool {
    let is_plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._".contains(letter));
    is_plain && text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && !text.contains("..")
}

/// Whether a variable has no program loaded from a place that a project may lie in.
pub(super) fn is_safe_variable(name: &str, value: &str, places: &Places) -> bool {
    // A shell takes functions from variables with other signs in their names.
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_plain || COMMANDS.iter().any(|command| value.contains(*command)) {
        return false;
    }
    let name = name.to_uppercase();
    let is_named = LOADING.split_whitespace().any(|loading| loading == name);
    if is_named || LOADS.split_whitespace().any(|beginning| name.starts_with(beginning)) {
        return value.is_empty() || places.are_safe(value) || SWITCHES.contains(&value.to_lowercase().as_str());
    }
    if is_address(value) || places.are_safe(value) {
        return true;
    }
    // Within lists and JSON every part counts. A server starts in an empty folder, so a part without `..` that begins with a letter
    // leads nowhere: a key is often one.
    let is_end = |letter: char| letter.is_whitespace() || "\"'`{}[]()<>,;=|&".contains(letter);
    value.split(is_end).all(|part| {
        let is_relative = part.starts_with(|letter: char| letter.is_alphanumeric() || letter == '+');
        let is_key = is_relative && !part.contains([':', '~', '$', '%']) && !part.contains("..");
        !part.contains(['/', '\\']) || is_address(part) || is_key || places.are_safe(part)
    })
}
