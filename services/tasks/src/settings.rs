//! What an operator may set, with every limit of the store.

weft_chassis::settings! {
    /// How the task store behaves. Whatever is refused names the setting that refused it.
    pub struct Settings in "tasks" {
        /// how long a lease lives without a heartbeat, in milliseconds
        pub lease_ms: u32 = 15_000, 100..=3_600_000;
        /// runs of one turn before the task fails: the first and those after a lease ran out
        pub attempts_max: u32 = 5, 1..=1_000;
        /// tasks that may wait for a worker; more are refused with a time to try again
        pub queue_max: u32 = 10_000, 1..=1_000_000;
        /// claim streams open at once
        pub workers_max: u32 = 256, 1..=65_536;
        /// tasks the store holds; more are refused
        pub tasks_max: u64 = 1_000_000, 1..=1_000_000_000;
        /// bytes of the store on disk; above it new tasks are refused, those under way go on
        pub store_bytes_max: u64 = 68_719_476_736, 16_777_216..=1_125_899_906_842_624;
        /// how long an ended task is kept, in hours
        pub keep_hours: u32 = 720, 1..=876_000;
        /// tasks kept in all; above it the oldest ended ones go first
        pub keep_tasks: u64 = 200_000, 1..=1_000_000_000;
        /// messages of one task, in history and status
        pub messages_max: u32 = 10_000, 2..=1_000_000;
        /// artifacts of one task
        pub artifacts_max: u32 = 1_000, 1..=100_000;
        /// bytes of one task with history and artifacts
        pub task_bytes_max: u64 = 16_777_216, 65_536..=50_331_648;
        /// readers following one task at once
        pub readers_max: u32 = 64, 1..=65_536;
        /// readers of all task changes of one owner at once
        pub feeds_max: u32 = 16, 1..=65_536;
        /// longest wait of a blocking message, in milliseconds; then the task is answered as it is
        pub wait_ms_max: u32 = 120_000, 1..=3_600_000;
        /// bytes of one page of a list; a fuller page ends early and the next one goes on
        pub list_bytes_max: u64 = 16_777_216, 65_536..=33_554_432;
        /// commits that share one disk sync
        pub group_max: u32 = 256, 1..=4_096;
        /// tasks held in memory beyond those in use
        pub cache_tasks: u32 = 2_000, 1..=1_000_000;
        /// bytes of the tasks held in memory beyond those in use
        pub cache_bytes: u64 = 12_582_912, 65_536..=17_179_869_184;
        /// bytes of the embedded store's page cache
        pub page_cache_bytes: u64 = 16_777_216, 1_048_576..=68_719_476_736;
    }
}
