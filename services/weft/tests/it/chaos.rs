//! `kill -9` under load, over and over: nothing acknowledged is lost, nothing runs twice, nothing is stuck.

mod load;
mod sweep;

use crate::world::Form;
use sweep::Sweep;

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_in_one_process_loses_nothing_when_it_is_killed() {
    Sweep { form: Form::Together, kills: 6, clients: 6 }.run().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_of_processes_loses_nothing_when_its_parts_are_killed() {
    Sweep { form: Form::Apart, kills: 6, clients: 6 }.run().await;
}

#[ignore = "takes minutes: make chaos"]
#[tokio::test(flavor = "multi_thread")]
async fn sixty_kills_of_a_mesh_in_one_process() {
    Sweep { form: Form::Together, kills: 60, clients: 12 }.run().await;
}

#[ignore = "takes minutes: make chaos"]
#[tokio::test(flavor = "multi_thread")]
async fn sixty_kills_of_parts_of_a_mesh_of_processes() {
    Sweep { form: Form::Apart, kills: 60, clients: 12 }.run().await;
}
