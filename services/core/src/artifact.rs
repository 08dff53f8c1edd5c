//! Artifacts, written whole or in chunks, several at a time.

use weft_proto::a2a::{Artifact, TaskArtifactUpdateEvent};

/// Folds one update into the artifacts read so far. `append` adds the parts to those under the same id and takes over
/// what else the chunk says; appending to an unknown id begins it; without `append` the artifact is replaced in
/// its place. An update without an artifact changes nothing.
pub fn fold(artifacts: &mut Vec<Artifact>, update: &TaskArtifactUpdateEvent) {
    let Some(chunk) = &update.artifact else { return };
    match artifacts.iter_mut().find(|known| known.artifact_id == chunk.artifact_id) {
        None => artifacts.push(chunk.clone()),
        Some(known) if !update.append => known.clone_from(chunk),
        Some(known) => append(known, chunk),
    }
}

fn append(known: &mut Artifact, chunk: &Artifact) {
    known.parts.extend_from_slice(&chunk.parts);
    for (to, from) in [(&mut known.name, &chunk.name), (&mut known.description, &chunk.description)] {
        if !from.is_empty() {
            to.clone_from(from);
        }
    }
    if let Some(more) = &chunk.metadata {
        let fields = more.fields.iter().map(|(key, value)| (key.clone(), value.clone()));
        known.metadata.get_or_insert_default().fields.extend(fields);
    }
    for uri in &chunk.extensions {
        if !known.extensions.contains(uri) {
            known.extensions.push(uri.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_proto::a2a::{Part, part::Content};

    fn chunk(id: &str, text: &str, append: bool) -> TaskArtifactUpdateEvent {
        let part = Part { content: Some(Content::Text(text.into())), ..Part::default() };
        let artifact = Artifact { artifact_id: id.into(), parts: vec![part], ..Artifact::default() };
        TaskArtifactUpdateEvent { artifact: Some(artifact), append, ..TaskArtifactUpdateEvent::default() }
    }

    fn folded(updates: &[TaskArtifactUpdateEvent]) -> Vec<(String, String)> {
        let mut artifacts = Vec::new();
        updates.iter().for_each(|update| fold(&mut artifacts, update));
        let text = |part: &Part| match &part.content {
            Some(Content::Text(text)) => text.clone(),
            _ => String::new(),
        };
        artifacts.iter().map(|a| (a.artifact_id.clone(), a.parts.iter().map(text).collect())).collect()
    }

    #[test]
    fn chunks_of_interleaved_artifacts_join_in_order() {
        let updates =
            [chunk("a", "1", false), chunk("b", "x", false), chunk("a", "2", true), chunk("b", "y", true)];
        assert_eq!(folded(&updates), [("a".into(), "12".into()), ("b".into(), "xy".into())]);
    }

    #[test]
    fn appending_to_an_unknown_artifact_begins_it() {
        assert_eq!(folded(&[chunk("a", "1", true), chunk("a", "2", true)]), [("a".into(), "12".into())]);
    }

    #[test]
    fn a_whole_artifact_replaces_the_one_under_its_id_in_its_place() {
        let updates = [chunk("a", "1", false), chunk("b", "x", false), chunk("a", "2", false)];
        assert_eq!(folded(&updates), [("a".into(), "2".into()), ("b".into(), "x".into())]);
    }

    #[test]
    fn an_appended_chunk_adds_what_it_says_and_keeps_what_it_does_not() {
        let mut first = chunk("a", "1", false);
        let mut second = chunk("a", "2", true);
        if let (Some(first), Some(second)) = (&mut first.artifact, &mut second.artifact) {
            first.name = "report".into();
            second.description = "of today".into();
            second.extensions = vec!["urn:x".into(), "urn:x".into()];
        }
        let mut artifacts = Vec::new();
        fold(&mut artifacts, &first);
        fold(&mut artifacts, &second);
        let a = &artifacts[0];
        assert_eq!((a.name.as_str(), a.description.as_str(), a.extensions.len()), ("report", "of today", 1));
    }
}
