//! What can be set about the signer.

use weft_seal::Window;

weft_chassis::settings! {
    /// Under which name the mesh is known to nodes, and how long seals are good.
    pub struct Settings in "signer" {
        /// id of the mesh: the audience of calls to it, and its name in keys derived per pair
        pub mesh: String = "mesh".into();
        /// how old a seal may be, in seconds
        pub past_s_max: u32 = 300, 1..=3_600;
        /// how far ahead of our clock a seal may have been made, in seconds
        pub future_s_max: u32 = 30, 0..=300;
        /// seals remembered as used while they could still be accepted; when full, further ones are refused
        pub nonces_max: u32 = 2_097_152, 1_000..=100_000_000;
        /// after how many days cards are signed with a new pair of keys; 0: never
        pub card_key_rotate_days: u32 = 90, 0..=3_650;
        /// for how many days an older pair of card keys stays in the key set after it was followed by the next
        pub card_key_overlap_days: u32 = 30, 1..=3_650;
        /// access file: who may call and how they prove it (TOML); empty: access.toml in mesh.data, if there is one
        pub access: String = String::new();
        /// how often the access file and the secrets that it names are looked at for changes, in milliseconds
        pub access_poll_ms: u32 = 500, 20..=3_600_000;
        /// readers that may watch the access policy at once; one more hears RESOURCE_EXHAUSTED
        pub access_watchers_max: u32 = 1_024, 1..=1_048_576;
        /// how long an identity provider may take to give its keys, in milliseconds
        pub provider_timeout_ms: u32 = 5_000, 100..=60_000;
        /// after how many seconds the keys of an identity provider are fetched again
        pub provider_keys_s: u32 = 600, 10..=86_400;
        /// file with the key of the secret store (32 bytes, base64url); empty: WEFT_SECRETS_KEY, else one that is made in mesh.data
        pub secrets_key_file: String = String::new();
        /// a file of the security record that has reached this is followed by the next one, in bytes
        pub audit_file_bytes_max: u32 = 8_388_608, 4_096..=1_073_741_824;
        /// files of the security record that are kept; the oldest goes first
        pub audit_files_max: u32 = 32, 1..=100_000;
    }
}

impl Settings {
    /// The acceptance window.
    pub(crate) fn window(&self) -> Window {
        Window { past_s_max: self.past_s_max, future_s_max: self.future_s_max }
    }
}
