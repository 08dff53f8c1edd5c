//! The messages of package `a2a.v1` ⇄ messages of v1.0.
//!
//! Whatever one side can say converts without fault; only resource names can be wrong.

mod card;
mod message;
mod name;
mod push;
mod request;
mod response;
mod security;

pub use push::create as create_push_config;
use weft_core::Fault;

/// A v0.3 message in the terms of v1.0.
pub trait Upgrade {
    /// The v1.0 message.
    type V1;

    /// Converts it.
    fn upgrade(self) -> Self::V1;
}

/// A v0.3 request in the terms of v1.0.
pub trait TryUpgrade {
    /// The v1.0 message.
    type V1;

    /// Converts it.
    ///
    /// # Errors
    /// `Invalid`, naming the member that should hold a resource name.
    fn try_upgrade(self) -> Result<Self::V1, Fault>;
}

/// A v1.0 message in the terms of v0.3; tenants are left out.
pub trait Downgrade {
    /// The v0.3 message.
    type V03;

    /// Converts it.
    fn downgrade(self) -> Self::V03;
}

/// Every member of a list.
fn up<T: Upgrade>(list: Vec<T>) -> Vec<T::V1> {
    list.into_iter().map(Upgrade::upgrade).collect()
}

/// Every member of a list.
fn down<T: Downgrade>(list: Vec<T>) -> Vec<T::V03> {
    list.into_iter().map(Downgrade::downgrade).collect()
}

/// Both ways for messages that have the same members in both versions.
macro_rules! alike {
    ($($name:ident { $($field:ident),* })*) => {$(
        impl Upgrade for v03::$name {
            type V1 = v1::$name;

            fn upgrade(self) -> v1::$name {
                v1::$name { $($field: self.$field),* }
            }
        }

        impl Downgrade for v1::$name {
            type V03 = v03::$name;

            fn downgrade(self) -> v03::$name {
                v03::$name { $($field: self.$field),* }
            }
        }
    )*};
}
use alike;
