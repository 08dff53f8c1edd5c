//! The signature base: the exact bytes that are signed (RFC 9421 §2.5).

/// A signature base under construction, one line per covered component, in the order they were added.
pub(crate) struct Base(String);

impl Base {
    /// `bytes` is the expected size; the base grows when it is too small.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// Adds one component. Neither text may hold a line break: callers have checked that.
    pub(crate) fn line(&mut self, component: &str, value: &str) {
        debug_assert!(!component.contains(['\r', '\n']) && !value.contains(['\r', '\n']));
        for part in ["\"", component, "\": ", value, "\n"] {
            self.0.push_str(part);
        }
    }

    /// Ends the base with the signature parameters, exactly as they stand in `signature-input`.
    pub(crate) fn finish(mut self, params: &str) -> String {
        self.0.push_str("\"@signature-params\": ");
        self.0.push_str(params);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Base;
    use crate::key::testing;
    use crate::{Key, Secret};
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    fn base(lines: &[(&str, &str)], params: &str) -> String {
        let mut base = Base::with_capacity(0);
        for (name, value) in lines {
            base.line(name, value);
        }
        base.finish(params)
    }

    #[test]
    fn rfc_9421_b_2_6_signs_to_the_published_base_and_signature() {
        let params = "(\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \"content-length\")\
                      ;created=1618884473;keyid=\"test-key-ed25519\"";
        let base = base(
            &[
                ("date", "Tue, 20 Apr 2021 02:07:55 GMT"),
                ("@method", "POST"),
                ("@path", "/foo"),
                ("@authority", "example.com"),
                ("content-type", "application/json"),
                ("content-length", "18"),
            ],
            params,
        );
        let published = "\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@method\": POST\n\"@path\": /foo\n\
                         \"@authority\": example.com\n\"content-type\": application/json\n\"content-length\": 18\n\
                         \"@signature-params\": (\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \
                         \"content-length\");created=1618884473;keyid=\"test-key-ed25519\"";
        assert_eq!(base, published);
        let key = Key::from_pem(testing::RFC_9421_ED25519_PEM).unwrap();
        assert_eq!(
            STANDARD.encode(key.sign(base.as_bytes())),
            "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
        );
    }

    #[test]
    fn rfc_9421_b_2_5_signs_to_the_published_hmac() {
        let base = base(
            &[
                ("date", "Tue, 20 Apr 2021 02:07:55 GMT"),
                ("@authority", "example.com"),
                ("content-type", "application/json"),
            ],
            "(\"date\" \"@authority\" \"content-type\");created=1618884473;keyid=\"test-shared-secret\"",
        );
        let secret = STANDARD.decode(testing::RFC_9421_SHARED_SECRET).unwrap();
        let key = Key::shared("test-shared-secret", &Secret::from_bytes(&secret).unwrap()).unwrap();
        assert_eq!(
            STANDARD.encode(key.sign(base.as_bytes())),
            "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8="
        );
    }
}
