//! Values behind names, as files of settings have them: environments, JSON, TOML and YAML.

const BLANKS: [char; 2] = [' ', '\t'];

/// Letters before a value that are looked at, so that a long line costs no more than a short one.
const LONGEST_NAME: usize = 256;

/// Whether what stands between these texts is the whole value of a name. In running text nothing is: without quotes, a name begins its line
/// or stands right before the `=`.
pub(super) fn is_value(before: &str, behind: &str) -> bool {
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(LONGEST_NAME))..];
    let (head, quote) = without_quote(near);
    let close = head.trim_end_matches(BLANKS);
    let Some(named) = close.strip_suffix(['=', ':']) else { return false };
    let (name, name_quote) = without_quote(named.trim_end_matches(BLANKS));
    let lead = name.trim_end_matches(|letter: char| letter.is_alphanumeric() || "_-.".contains(letter));
    let is_cut = lead.is_empty() && near.len() < before.len();
    if lead.len() == name.len() || is_cut {
        return false;
    }
    let (lead, opening) = if name_quote.is_some() { without_quote(lead) } else { (lead, None) };
    if opening != name_quote {
        return false;
    }
    if quote.is_some() {
        return begins(lead) && without_opening_quote(behind) == quote;
    }
    let is_assigned =
        close.ends_with('=') && close.len() == head.len() && named.ends_with(|letter: char| !BLANKS.contains(&letter));
    if is_assigned && begins(lead) {
        return behind.is_empty()
            || behind.starts_with(|letter: char| letter.is_whitespace() || ";,}\"'".contains(letter));
    }
    begins_line(lead) && ends_line(behind, lead.ends_with('{'))
}

/// A text without the quotation mark at its end, and that mark. In JSON within JSON it is escaped.
fn without_quote(text: &str) -> (&str, Option<char>) {
    let Some(quote) = text.chars().next_back().filter(|letter| "\"'".contains(*letter)) else { return (text, None) };
    (text[..text.len() - quote.len_utf8()].trim_end_matches('\\'), Some(quote))
}

fn without_opening_quote(text: &str) -> Option<char> {
    text.trim_start_matches('\\').chars().next().filter(|letter| "\"'".contains(*letter))
}

/// Whether a name may begin behind this. In an address none does.
fn begins(lead: &str) -> bool {
    let is_open = |letter: char| letter.is_whitespace() || "{[(,;\"'".contains(letter);
    lead.chars().next_back().is_none_or(is_open) || is_place(lead)
}

/// Whether nothing stands before a name in its line but what opens an entry, or where a search found the line.
fn begins_line(lead: &str) -> bool {
    let line = lead.rsplit('\n').next().unwrap_or_default().trim_start();
    line.is_empty() || line.trim_end() == "-" || line.ends_with('{') || is_place(line)
}

/// Whether a text ends with the number of a line, as searches print it before the line.
fn is_place(text: &str) -> bool {
    let number =
        text.strip_suffix(':').map_or(text, |place| place.trim_end_matches(|digit: char| digit.is_ascii_digit()));
    number.len() + 1 < text.len() && number.ends_with(':') && !number.contains("//")
}

/// Whether a value ends its line, or the braces that it stands in.
fn ends_line(behind: &str, is_in_braces: bool) -> bool {
    let rest = behind.trim_start_matches(BLANKS);
    let is_end = rest.is_empty() || rest.starts_with(['\n', '\r']);
    let is_comment = rest.len() < behind.len() && rest.starts_with('#');
    is_end || is_comment || is_in_braces && rest.starts_with([',', '}'])
}
