//! What an operator may set, with every limit of the store.

weft_chassis::settings! {
    /// How the task store behaves. Whatever is refused names the setting that refused it.
    pub struct Settings in "tasks" {
        /// how long a lease lives without a heartbeat, in milliseconds
        pub lease_ms: u32 = 15_000, 100..=3_600_000;
        /// how long a worker may take to say that it has begun on what it was given, in milliseconds; then another gets it
        pub prepare_ms: u32 = 10_000, 100..=600_000;
        /// how long the runs of one turn may take together, in milliseconds; then the task fails
        pub run_ms_max: u32 = 900_000, 100..=604_800_000;
        /// runs of one turn before the task fails: the first and those after a lease ran out
        pub attempts_max: u32 = 5, 1..=1_000;
        /// tasks that may wait for a worker; more are refused with a time to try again
        pub queue_max: u32 = 10_000, 1..=1_000_000;
        /// claim streams open at once
        pub workers_max: u32 = 256, 1..=65_536;
        /// tasks the store holds; for more the oldest ended ones go, and when none has ended they are refused
        pub tasks_max: u64 = 1_000_000, 1..=1_000_000_000;
        /// bytes of the store on disk; above it new tasks are refused, those under way go on
        pub store_bytes_max: u64 = 68_719_476_736, 16_777_216..=1_125_899_906_842_624;
        /// how long an ended task is kept, in hours
        pub keep_hours: u32 = 720, 1..=876_000;
        /// tasks kept in all; above it the oldest ended ones go first
        pub keep_tasks: u64 = 200_000, 1..=1_000_000_000;
        /// tasks of one owner; for more its oldest ended ones go, and when none has ended they are refused; 0: any number
        pub owner_tasks_max: u64 = 200_000, 0..=1_000_000_000;
        /// bytes of one owner's tasks; likewise; 0: any number
        pub owner_bytes_max: u64 = 17_179_869_184, 0..=1_125_899_906_842_624;
        /// tasks of one owner without credentials; likewise; 0: any number
        pub anonymous_tasks_max: u64 = 1_000, 0..=1_000_000_000;
        /// how long an ended task of an owner without credentials is kept, in hours
        pub anonymous_keep_hours: u32 = 24, 1..=876_000;
        /// messages of one context; a further one is refused; 0: any number
        pub context_turns_max: u32 = 0, 0..=1_000_000;
        /// conversations with peers of one owner
        pub conversations_max: u32 = 1_000, 1..=1_000_000;
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
        /// webhooks of one task
        pub push_configs_max: u32 = 16, 1..=1_000;
        /// ranges (10.0.0.0/8), addresses and host names that webhooks may have besides public addresses
        pub push_allow: Vec<String> = Vec::new();
        /// how long one call to a webhook may take, in milliseconds
        pub push_timeout_ms: u32 = 10_000, 10..=600_000;
        /// wait before the second attempt at a webhook, in milliseconds; doubles from one attempt to the next
        pub push_retry_ms: u32 = 1_000, 1..=3_600_000;
        /// longest wait between two attempts at a webhook, also when it asks for more, in milliseconds
        pub push_retry_ms_max: u32 = 300_000, 1..=86_400_000;
        /// attempts at one event before its webhook is given up until it is set again
        pub push_attempts_max: u32 = 100, 1..=100_000;
        /// calls to webhooks at once
        pub push_calls_max: u32 = 64, 1..=4_096;
        /// calls to webhooks of one host at once
        pub push_host_calls_max: u32 = 8, 1..=4_096;
        /// bytes of the embedded store's page cache
        pub page_cache_bytes: u64 = 16_777_216, 1_048_576..=68_719_476_736;
    }
}
