//! The simulated store: the contract, and what a power cut leaves.

use std::time::Duration;

use weft_chassis::Env;
use weft_tasks::store::simulated::{self, Disk};
use weft_tasks::{Meter, Settings};

use crate::contract::contract;

mod honours {
    use super::*;

    contract!(async {
        let env = Env::simulated(1);
        let meter = Meter::new(env.metrics());
        (simulated::open(&Disk::default(), Duration::ZERO, &Settings::default(), &env, meter).unwrap(), env)
    });
}
