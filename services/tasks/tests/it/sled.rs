//! The embedded store: the contract, and what only a directory can show.

use weft_chassis::Env;
use weft_tasks::store::sled;
use weft_tasks::{Meter, Settings};

use crate::contract::contract;

mod honours {
    use super::*;

    contract!(async {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::system();
        (sled::open(dir.path(), &Settings::default(), &env, Meter::new(env.metrics())).unwrap(), dir)
    });
}
