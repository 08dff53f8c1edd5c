//! A host for declared nodes: one manifest makes an app a fleet member.
