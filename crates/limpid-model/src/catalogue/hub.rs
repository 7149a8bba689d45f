//! Models of the Hugging Face hub by name: `hf:OWNER/REPO[:QUANT]`.

use std::collections::BTreeMap;
use std::fmt;

use limpid_core::causes;
use serde::Deserialize;
use serde_json::Value;

use super::download::{Download, PartFile, is_path, is_plain};
use super::pull::{FetchSettings, PullError};
use super::transfer;

/// The form of weights that is taken when none is named: small enough for most machines, and hardly worse.
const USUAL: &str = "Q4_K_M";

/// Bytes of the hub's answer that are read.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// A model of the hub by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubModel {
    repository: String,
    quant: Option<String>,
}

impl HubModel {
    /// Reads `hf:OWNER/REPO[:QUANT]`; none for any other name.
    ///
    /// ```
    /// use limpid_model::catalogue::HubModel;
    /// assert_eq!(HubModel::parse("hf:some/Tiny-GGUF:q8_0").unwrap().to_string(), "hf:some/Tiny-GGUF:Q8_0");
    /// assert!(HubModel::parse("hf:some").is_none() && HubModel::parse("hf:../x").is_none());
    /// ```
    pub fn parse(name: &str) -> Option<Self> {
        let rest = name.strip_prefix("hf:")?;
        let (repository, quant) = match rest.split_once(':') {
            Some((repository, quant)) => (repository, Some(quant.to_ascii_uppercase())),
            None => (rest, None),
        };
        let named = is_path(repository) && repository.split('/').count() == 2;
        let quanted = quant.as_deref().is_none_or(|quant| is_path(quant) && !quant.contains('/'));
        (named && quanted).then(|| Self { repository: repository.to_owned(), quant })
    }
}

impl fmt::Display for HubModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hf:{}", self.repository)?;
        self.quant.as_ref().map_or(Ok(()), |quant| write!(f, ":{quant}"))
    }
}

/// What the hub says of a repository.
#[derive(Deserialize)]
struct Repository {
    sha: String,
    #[serde(default)]
    siblings: Vec<Sibling>,
    #[serde(default, rename = "cardData")]
    card: Value,
    #[serde(default)]
    gguf: Value,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    lfs: Option<Large>,
}

#[derive(Deserialize)]
struct Large {
    sha256: String,
    size: u64,
}

/// Asks the hub for a model: its revision, its files and their hashes.
pub(super) async fn look_up(wanted: &HubModel, settings: &FetchSettings) -> Result<Download, PullError> {
    let HubModel { repository, .. } = wanted;
    let address = format!("{}/api/models/{repository}?blobs=true", settings.hub);
    let odd = |why: String| PullError::Unreachable { place: settings.hub.clone(), why };
    let mut response = transfer::ask(&address, repository, 0, settings).await?;
    let mut body = Vec::new();
    while let Some(chunk) = tokio::time::timeout(settings.idle, response.chunk())
        .await
        .map_err(|_| odd(format!("nothing came for {} s", settings.idle.as_secs())))?
        .map_err(|error| odd(causes(&error)))?
    {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ANSWER {
            return Err(odd(format!("what it says of {repository} has more than 16 MB")));
        }
    }
    let about: Repository = serde_json::from_slice(&body)
        .map_err(|error| odd(format!("what it says of {repository} cannot be read: {error}")))?;
    chosen(wanted, &about).map_err(|why| PullError::NotOnHub { repository: repository.clone(), why })
}

/// The files of a model out of those of its repository.
fn chosen(wanted: &HubModel, about: &Repository) -> Result<Download, String> {
    if about.sha.len() != 40 || !about.sha.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err("the hub names no revision of it".to_owned());
    }
    let usable = |file: &&Sibling| file.rfilename.ends_with(".gguf") && is_path(&file.rfilename);
    let is_projector = |file: &&Sibling| name_of(file).to_ascii_lowercase().contains("mmproj");
    let (projectors, models): (Vec<_>, Vec<_>) = about.siblings.iter().filter(usable).partition(is_projector);
    let mut groups: BTreeMap<String, Vec<&Sibling>> = BTreeMap::new();
    for file in models {
        groups.entry(stem(name_of(file)).to_owned()).or_default().push(file);
    }
    let names = || groups.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    if groups.is_empty() {
        return Err("it holds no GGUF file; look for a repository whose name ends in GGUF".to_owned());
    }
    let of = |quant: &str| groups.iter().find(|(name, _)| is_form(name, quant));
    let found = match &wanted.quant {
        Some(quant) => of(quant).ok_or_else(|| format!("it has no file of the form {quant}; it has {}", names()))?,
        None => of(USUAL).or_else(|| groups.iter().next().filter(|_| groups.len() == 1)).ok_or_else(|| {
            format!("it has no file of the usual form {USUAL}; name one of these as {wanted}:FORM: {}", names())
        })?,
    };
    let (name, files) = found;
    let mut files = files.clone();
    files.sort_by(|left, right| left.rfilename.cmp(&right.rfilename));
    check_split(&files)?;
    // The floating-point form is what programs expect of a projector.
    let projector = projectors.iter().min_by_key(|file| !name_of(file).to_ascii_lowercase().contains("f16"));
    let part = |file: &Sibling, own: String| PartFile {
        file: own,
        path: file.rfilename.clone(),
        bytes: bytes(file),
        sha256: hash(file),
    };
    let (first, rest) = files.split_first().ok_or("it has no files")?;
    let mut parts: Vec<PartFile> = rest.iter().map(|file| part(file, name_of(file).to_owned())).collect();
    parts.extend(projector.map(|file| part(file, format!("{name}.mmproj.gguf"))));
    let weights: u64 = files.iter().copied().filter_map(bytes).sum();
    let download = Download {
        name: name.clone(),
        title: wanted.to_string(),
        parameters: parameters(&about.gguf),
        licence: licence(&about.card),
        file: name_of(first).to_owned(),
        bytes: bytes(first),
        sha256: hash(first),
        memory: weights + weights / 5,
        note: format!("from {} at {}", wanted.repository, &about.sha[..12]),
        repository: Some(wanted.repository.clone()),
        revision: Some(about.sha.clone()),
        path: Some(first.rfilename.clone()),
        package: None,
        parts,
    };
    download.check().map(|()| download)
}

fn name_of(file: &Sibling) -> &str {
    file.rfilename.rsplit('/').next().unwrap_or_default()
}

fn bytes(file: &Sibling) -> Option<u64> {
    file.lfs.as_ref().map(|large| large.size).or(file.size)
}

fn hash(file: &Sibling) -> Option<String> {
    file.lfs.as_ref().map(|large| large.sha256.clone())
}

/// The name of a file without its ending, and without its place among the parts of a split file.
fn stem(name: &str) -> &str {
    let stem = name.trim_end_matches(".gguf");
    split_of(stem).map_or(stem, |(stem, ..)| stem)
}

/// The stem, place and number of parts of a file that is one of several: `x-00001-of-00003`.
fn split_of(stem: &str) -> Option<(&str, u32, u32)> {
    let (head, all) = stem.rsplit_once("-of-")?;
    let (head, at) = head.rsplit_once('-')?;
    let number = |text: &str| (text.len() == 5).then(|| text.parse::<u32>().ok()).flatten();
    Some((head, number(at)?, number(all)?))
}

/// Whether all parts of a split file are there.
fn check_split(files: &[&Sibling]) -> Result<(), String> {
    let places: Vec<_> = files.iter().map(|file| split_of(name_of(file).trim_end_matches(".gguf"))).collect();
    let whole = match places.as_slice() {
        [None] => true,
        all => {
            (1..).zip(all).all(|(at, place)| place.is_some_and(|(_, own, of)| own == at && of as usize == all.len()))
        }
    };
    if whole { Ok(()) } else { Err("parts of its split file are missing, or stand there twice".to_owned()) }
}

/// Whether a model's name ends with the name of a form of weights.
fn is_form(name: &str, form: &str) -> bool {
    let (name, form) = (name.to_ascii_lowercase(), form.to_ascii_lowercase());
    name.strip_suffix(&form).is_some_and(|head| head.is_empty() || head.ends_with(['-', '.']))
}

fn licence(card: &Value) -> String {
    let one = card["license"].as_str().or_else(|| card["license"][0].as_str());
    one.filter(|licence| is_plain(licence)).unwrap_or("licence unknown").to_owned()
}

fn parameters(gguf: &Value) -> String {
    match gguf["total"].as_f64() {
        Some(total) if total >= 1e9 => format!("{:.1}B", total / 1e9),
        Some(total) => format!("{:.0}M", total / 1e6),
        None => "?".to_owned(),
    }
}
