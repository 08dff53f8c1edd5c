//! What older formats lack is made once, when they are opened. A process that ends in between begins anew.

use std::collections::HashMap;

use super::kv::{Batch, Kv};
use super::layout::{self, owner};
use super::{Broken, Used};
use crate::record::Head;

/// Keys written at once.
const KEYS_AT_ONCE: usize = 4_096;

/// Makes everything that is kept by base from the heads of formats 1 and 2.
pub(super) fn by_base<K: Kv>(kv: &K) -> Result<(), Broken> {
    let mut bases: HashMap<String, Used> = HashMap::new();
    let mut contexts: HashMap<Vec<u8>, Used> = HashMap::new();
    for kind in [layout::RUNNING, layout::SETTLED] {
        let mut from = vec![kind];
        loop {
            // A batch between two scans: none is written to while it is read.
            let (mut batch, mut last) = (Batch::default(), None);
            kv.scan(&from, &[kind + 1], &mut |key, bytes| {
                let head: Head = layout::decode(bytes, "a head")?;
                let base = owner::base_of(&head);
                batch.put(owner::owned(base, head.id()), Vec::new());
                owner::ended(&head).for_each(|key| batch.put(key, Vec::new()));
                let used = bases.entry(base.to_owned()).or_default();
                (used.tasks, used.bytes) = (used.tasks + 1, used.bytes + head.bytes);
                let used = contexts.entry(owner::context(&head.owner, &head.context)).or_default();
                (used.tasks, used.bytes) = (used.tasks + 1, used.bytes + u64::from(head.turn));
                let full = batch.writes.len() >= KEYS_AT_ONCE;
                last = full.then(|| [key, &[0]].concat());
                Ok(!full)
            })?;
            kv.apply(batch)?;
            match last {
                Some(next) => from = next,
                None => break,
            }
        }
    }
    let bases = bases.into_iter().map(|(base, used)| (owner::of_base(owner::USED, &base), used));
    let mut counters = bases.chain(contexts).peekable();
    while counters.peek().is_some() {
        let mut batch = Batch::default();
        counters.by_ref().take(KEYS_AT_ONCE).for_each(|(key, used)| batch.put(key, owner::write_used(used)));
        kv.apply(batch)?;
    }
    // All of it before the format that says that it is there.
    kv.sync()
}
