//! Which capability a message goes to: the one it names, else the one its text matches, else none.
//!
//! No model is needed: text is ranked with BM25 over what the catalog says of each capability. A match must cover
//! enough of the question and stand out from the next best one; otherwise the mesh asks back instead of guessing.

mod menu;
mod named;
mod words;

use std::collections::{BTreeSet, HashMap, HashSet};

use bm25::{Embedder, EmbedderBuilder, Embedding, Scorer, TokenEmbedder, TokenEmbedding};
use weft_proto::a2a::SendMessageRequest;
use weft_proto::a2a::part::Content;
use weft_proto::weft::{Capability, Route};

use crate::{Fault, message, tenant};
use words::Words;

/// Ends a phrase that takes every text which begins with what stands before it, for example `echo *`. Alone it takes
/// whatever no other capability matches.
pub const REST: char = '*';

/// Least BM25 score of a match.
const SCORE_MIN: f32 = 1.2;
/// Least share of the question's words that the matched capability knows.
const COVER_MIN: f32 = 0.4;
/// A match must beat the next best by this factor.
const MARGIN_MIN: f32 = 1.1;

/// The capabilities of one catalog revision, ready to be chosen from. Built once per revision.
pub struct Index {
    capabilities: Vec<Capability>,
    /// The node whose tools the capabilities are; empty: they are the mesh's own.
    node: String,
    by_id: HashMap<String, usize>,
    /// Lower-case beginnings and whose they are, longest first.
    beginnings: Vec<(String, usize)>,
    /// The first capability that takes anything.
    fallback: Option<usize>,
    /// The words of each example and phrase, and whose they are; unset when several have it. A fleet may be too small
    /// for its own examples to stand out in a ranking.
    declared: HashMap<Vec<String>, Option<usize>>,
    scorer: Scorer<usize>,
    vocabularies: Vec<HashSet<u32>>,
    /// Union of what any capability takes and gives; for messages whose capability is not known here.
    input_modes: Vec<String>,
    output_modes: Vec<String>,
}

/// What is to be done with a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// Run it.
    Run(Route),
    /// Ask back what is wanted: see [`Index::menu`].
    Ask,
}

/// A text match with what it was judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match<'a> {
    /// Id of the best capability.
    pub capability: &'a str,
    /// Its BM25 score.
    pub score: f32,
    /// Share of the question's words that it knows.
    pub cover: f32,
    /// By which factor it beats the next best; infinite without one.
    pub margin: f32,
}

// === impl Index ===

impl Index {
    /// Indexes capabilities in their declared order.
    #[must_use]
    pub fn new(capabilities: Vec<Capability>) -> Index {
        let texts: Vec<String> = capabilities.iter().map(text_of).collect();
        let corpus: Vec<&str> = texts.iter().map(String::as_str).collect();
        // Declared texts differ in length for no reason that says anything: length counts little (b).
        let embedder: Embedder<u32, Words> =
            EmbedderBuilder::with_tokenizer_and_fit_to_corpus(Words, &corpus).b(0.2).build();
        let mut scorer = Scorer::new();
        let mut vocabularies = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            let embedding = embedder.embed(text);
            vocabularies.push(embedding.indices().copied().collect());
            scorer.upsert(&index, embedding);
        }
        Index {
            by_id: capabilities.iter().enumerate().map(|(index, c)| (c.id.clone(), index)).collect(),
            fallback: capabilities.iter().position(|c| beginnings_of(c).any(str::is_empty)),
            beginnings: beginnings(&capabilities),
            declared: declared(&capabilities),
            input_modes: union(capabilities.iter().map(|c| c.input_modes.as_slice())),
            output_modes: union(capabilities.iter().map(|c| c.output_modes.as_slice())),
            capabilities,
            node: String::new(),
            scorer,
            vocabularies,
        }
    }

    /// The same for the tools of one node ([`tenant::skills`]): routes name the node too ([`tenant::route_id`]).
    #[must_use]
    pub fn within(mut self, node: &str) -> Index {
        node.clone_into(&mut self.node);
        self
    }

    /// The capabilities, in declared order.
    #[must_use]
    pub fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    /// Chooses for an admitted request and checks its media types against the choice.
    ///
    /// A follow-up that names no capability goes on with its task's own, which only the store knows; its media types
    /// are held against all capabilities.
    ///
    /// # Errors
    /// `Invalid` when a capability is named that does not exist, or named wrongly; `ContentTypeNotSupported` when the
    /// chosen one does not take the parts or give an accepted type.
    pub fn choose(&self, request: &SendMessageRequest) -> Result<Choice, Fault> {
        let Some(asked) = &request.message else { return Ok(Choice::Ask) };
        let named = named::named(asked)?;
        let (chosen, explicit) = match &named.skill {
            Some((field, id)) => (Some(self.find(field, id)?), true),
            None => (self.match_parts(asked), false),
        };
        match chosen.filter(|_| explicit || asked.task_id.is_empty()) {
            Some(index) => {
                let capability = &self.capabilities[index];
                message::check_modes(request, &capability.input_modes, &capability.output_modes)?;
            }
            None => message::check_modes(request, &self.input_modes, &self.output_modes)?,
        }
        Ok(chosen.map_or(Choice::Ask, |index| {
            let capability = match self.node.as_str() {
                "" => self.capabilities[index].id.clone(),
                node => tenant::route_id(node, &self.capabilities[index].id),
            };
            Choice::Run(Route { capability, arguments: named.arguments, explicit })
        }))
    }

    /// Whether what a route leads to may answer with a message instead of a task.
    #[must_use]
    pub fn is_direct(&self, route: &Route) -> bool {
        let id = route.capability.rsplit_once('/').map_or(route.capability.as_str(), |(_, tool)| tool);
        self.by_id.get(id).is_some_and(|&index| self.capabilities[index].direct)
    }

    /// The best capability for a text, whether or not it is good enough; `None` when no word of it is known.
    #[must_use]
    pub fn rank(&self, text: &str) -> Option<Match<'_>> {
        let asked: BTreeSet<u32> = words::split(text).iter().map(|word| u32::embed(word)).collect();
        let query = Embedding(asked.iter().map(|&index| TokenEmbedding { index, value: 1.0 }).collect());
        let ranked = self.scorer.matches(&query);
        let best = ranked.first()?;
        let known = asked.iter().filter(|word| self.vocabularies[best.id].contains(word)).count();
        Some(Match {
            capability: &self.capabilities[best.id].id,
            score: best.score,
            cover: ratio(known, asked.len()),
            margin: ranked.get(1).map_or(f32::INFINITY, |next| best.score / next.score),
        })
    }

    fn match_parts(&self, asked: &weft_proto::a2a::Message) -> Option<usize> {
        let mut text = String::new();
        for part in &asked.parts {
            if let Some(Content::Text(more)) = &part.content {
                text.push_str(more);
                text.push('\n');
            }
        }
        let ranked = || {
            let best = self.rank(&text).filter(Match::is_good)?;
            self.by_id.get(best.capability).copied()
        };
        let literal = || self.declared.get(&words::split(&text)).copied().flatten();
        self.begins(&text).or_else(literal).or_else(ranked).or(self.fallback)
    }

    /// The capability that takes every text with such a beginning.
    fn begins(&self, text: &str) -> Option<usize> {
        let longest = self.beginnings.first()?.0.chars().count();
        let start: String = text.trim_start().chars().take(longest).flat_map(char::to_lowercase).collect();
        self.beginnings.iter().find(|(beginning, _)| start.starts_with(beginning)).map(|(_, index)| *index)
    }

    fn find(&self, field: &str, id: &str) -> Result<usize, Fault> {
        self.by_id.get(id).copied().ok_or_else(|| {
            let known: Vec<&str> = self.capabilities.iter().map(|c| c.id.as_str()).collect();
            let id: String = id.chars().filter(|c| !c.is_control()).take(80).collect();
            Fault::invalid(field, format!("no skill {id}: known are {}", known.join(", ")))
        })
    }
}

// === impl Match ===

impl Match<'_> {
    /// Whether it is good enough to be acted on.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.score >= SCORE_MIN && self.cover >= COVER_MIN && self.margin >= MARGIN_MIN
    }
}

fn text_of(capability: &Capability) -> String {
    let mut texts = vec![capability.id.as_str(), &capability.name, &capability.description];
    for list in [&capability.tags, &capability.examples, &capability.phrases] {
        texts.extend(list.iter().map(String::as_str));
    }
    texts.join("\n")
}

/// The words of every example and phrase, each with its capability when it has only one.
fn declared(capabilities: &[Capability]) -> HashMap<Vec<String>, Option<usize>> {
    let mut declared = HashMap::new();
    for (index, capability) in capabilities.iter().enumerate() {
        for text in capability.examples.iter().chain(&capability.phrases) {
            let words = words::split(text);
            let whose = declared.entry(words).or_insert(Some(index));
            *whose = whose.filter(|other| *other == index);
        }
    }
    // What is left of a text without words is said of every such text.
    declared.remove(&Vec::new());
    declared
}

/// What stands before [`REST`] in the phrases that end in it.
fn beginnings_of(capability: &Capability) -> impl Iterator<Item = &str> {
    capability.phrases.iter().filter_map(|phrase| phrase.strip_suffix(REST))
}

fn beginnings(capabilities: &[Capability]) -> Vec<(String, usize)> {
    let all =
        capabilities.iter().enumerate().flat_map(|(index, c)| beginnings_of(c).map(move |b| (b, index)));
    let mut all: Vec<_> =
        all.filter(|(b, _)| !b.is_empty()).map(|(b, index)| (b.to_lowercase(), index)).collect();
    // The sort is stable: of equal beginnings the one declared first wins.
    all.sort_by_key(|(beginning, _)| std::cmp::Reverse(beginning.chars().count()));
    all
}

/// No more than a few thousand of each, so that the share is exact enough.
#[allow(clippy::cast_precision_loss)]
fn ratio(part: usize, whole: usize) -> f32 {
    part as f32 / whole.max(1) as f32
}

fn union<'a>(lists: impl Iterator<Item = &'a [String]>) -> Vec<String> {
    let defaults = crate::media::DEFAULT.map(str::to_owned);
    let all: BTreeSet<String> = lists.flatten().cloned().chain(defaults).collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests;
