//! Judges proposals against declared constraints; calls nobody.
