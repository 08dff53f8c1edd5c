//! What is said of an error: in one line, each cause once.

use std::error::Error;

/// An error with its causes.
#[must_use]
pub fn chain(error: &(dyn Error + 'static)) -> String {
    texts(Some(error))
}

/// The causes of an error without its own words, which name an address; those when it has no cause.
#[must_use]
pub fn causes(error: &(dyn Error + 'static)) -> String {
    texts(Some(error.source().unwrap_or(error)))
}

fn texts(mut next: Option<&(dyn Error + 'static)>) -> String {
    let mut texts: Vec<String> = Vec::new();
    while let Some(error) = next {
        texts.push(error.to_string());
        next = error.source();
    }
    texts.dedup();
    texts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Layer(&'static str, #[source] Option<Box<Layer>>);

    #[test]
    fn each_cause_is_said_once() {
        let layer = |text, cause| Layer(text, Some(Box::new(cause)));
        let error =
            layer("calling http://h", layer("connecting", layer("connecting", Layer("refused", None))));
        assert_eq!(chain(&error), "calling http://h: connecting: refused");
        assert_eq!(causes(&error), "connecting: refused");
        assert_eq!(causes(&Layer("alone", None)), "alone");
    }
}
