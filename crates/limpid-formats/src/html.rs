//! HTML as text that can be read.

mod parted;

use html2text::{Handle, RcDom};
use html5ever::interface::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink as _};

use self::parted::{Parted, without_marks};
use crate::depth::{MOST_DEPTH, TooDeep};

/// Columns of a piece on one line.
const WIDTH: usize = 500;

/// Bytes that are parsed before the depth is looked at: a tree that is deep takes time that grows with its square.
const STEP: usize = 4096;

/// HTML as text in so many columns: headings, lists, links and tables stay, scripts and styles go.
///
/// # Errors
/// [`TooDeep`].
pub(crate) fn readable(html: &str, width: usize) -> Result<String, TooDeep> {
    let config = html2text::config::plain().no_table_borders().max_wrap_width(width);
    let dom = parsed(html)?;
    let text = config.dom_to_render_tree(&dom).and_then(|tree| config.render_to_string(tree, width));
    Ok(text.map_or_else(|_| html.to_owned(), |text| without_marks(&text)))
}

/// A piece of HTML on one line, without any marks.
///
/// # Errors
/// [`TooDeep`].
pub(crate) fn bare(html: &str) -> Result<String, TooDeep> {
    let config = html2text::config::plain_no_decorate();
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !html.contains(['<', '&']) {
        return Ok(line(html));
    }
    let dom = parsed(html)?;
    let text = config.dom_to_render_tree(&dom).and_then(|tree| config.render_to_string(tree, WIDTH));
    Ok(line(&text.map_or_else(|_| html.to_owned(), |text| without_marks(&text))))
}

/// The tree of a page, as browsers make it.
fn parsed(html: &str) -> Result<RcDom, TooDeep> {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let tree = Parted::new(TreeBuilder::new(RcDom::default(), tree_builder));
    let (tokenizer, input) = (Tokenizer::new(tree, TokenizerOpts::default()), BufferQueue::default());
    let mut rest = html;
    while !rest.is_empty() {
        let (step, behind) = rest.split_at(rest.floor_char_boundary(STEP));
        rest = behind;
        input.push_back(StrTendril::from(step));
        // It stops behind a script, which nobody runs.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        if newest_depth(&tokenizer.sink.tree.sink) > MOST_DEPTH {
            return Err(TooDeep);
        }
    }
    tokenizer.end();
    let dom = tokenizer.sink.tree.sink.finish();
    if is_too_deep(&dom) { Err(TooDeep) } else { Ok(dom) }
}

/// How deep the newest element lies.
fn newest_depth(dom: &RcDom) -> usize {
    let mut depth = 0;
    let mut node: Handle = dom.document.clone();
    while let Some(child) = { node.children.borrow().last().cloned() } {
        node = child;
        depth += 1;
    }
    depth
}

/// Whether elements nest deeper than is read, in the tree that the parser made: tags alone can be misread.
fn is_too_deep(dom: &RcDom) -> bool {
    let mut open: Vec<(Handle, usize)> = vec![(dom.document.clone(), 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > MOST_DEPTH {
            return true;
        }
        open.extend(node.children.borrow().iter().map(|child| (child.clone(), depth + 1)));
    }
    false
}

#[cfg(test)]
mod tests;
