//! The closed list of operations (A2A v1.0 §3.1, §5.3).

use weft_core::{Fault, Kind, scope};

/// An operation by its name, which is the same in JSON-RPC and in gRPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    SendMessage,
    SendStreamingMessage,
    GetTask,
    ListTasks,
    CancelTask,
    SubscribeToTask,
    CreatePushConfig,
    GetPushConfig,
    ListPushConfigs,
    DeletePushConfig,
    GetExtendedAgentCard,
}

// === impl Operation ===

impl Operation {
    pub(crate) const ALL: [Operation; 11] = [
        Operation::SendMessage,
        Operation::SendStreamingMessage,
        Operation::GetTask,
        Operation::ListTasks,
        Operation::CancelTask,
        Operation::SubscribeToTask,
        Operation::CreatePushConfig,
        Operation::GetPushConfig,
        Operation::ListPushConfigs,
        Operation::DeletePushConfig,
        Operation::GetExtendedAgentCard,
    ];

    /// The name on the wire; also for spans and counters.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Operation::SendMessage => "SendMessage",
            Operation::SendStreamingMessage => "SendStreamingMessage",
            Operation::GetTask => "GetTask",
            Operation::ListTasks => "ListTasks",
            Operation::CancelTask => "CancelTask",
            Operation::SubscribeToTask => "SubscribeToTask",
            Operation::CreatePushConfig => "CreateTaskPushNotificationConfig",
            Operation::GetPushConfig => "GetTaskPushNotificationConfig",
            Operation::ListPushConfigs => "ListTaskPushNotificationConfigs",
            Operation::DeletePushConfig => "DeleteTaskPushNotificationConfig",
            Operation::GetExtendedAgentCard => "GetExtendedAgentCard",
        }
    }

    /// The operation of this name. The slash names of v0.3 are aliases: a caller that says it speaks 1.0 means the
    /// 1.0 operation by them.
    pub(crate) fn find(name: &str) -> Option<Operation> {
        Operation::ALL.into_iter().find(|operation| operation.name() == name || operation.alias() == name)
    }

    /// The name that v0.3 had for it; empty for what v0.3 had not.
    pub(crate) const fn alias(self) -> &'static str {
        match self {
            Operation::SendMessage => "message/send",
            Operation::SendStreamingMessage => "message/stream",
            Operation::GetTask => "tasks/get",
            Operation::ListTasks => "tasks/list",
            Operation::CancelTask => "tasks/cancel",
            Operation::SubscribeToTask => "tasks/resubscribe",
            Operation::CreatePushConfig => "tasks/pushNotificationConfig/set",
            Operation::GetPushConfig => "tasks/pushNotificationConfig/get",
            Operation::ListPushConfigs => "tasks/pushNotificationConfig/list",
            Operation::DeletePushConfig => "tasks/pushNotificationConfig/delete",
            Operation::GetExtendedAgentCard => "agent/getAuthenticatedExtendedCard",
        }
    }

    /// Whether it changes something, so that it makes sense to call it without waiting for an answer.
    pub(crate) const fn acts(self) -> bool {
        matches!(
            self,
            Operation::SendMessage
                | Operation::CancelTask
                | Operation::CreatePushConfig
                | Operation::DeletePushConfig
        )
    }

    /// Whether it reaches no node and changes nothing.
    pub(crate) const fn reads(self) -> bool {
        !self.acts() && !self.streams()
    }

    /// Whether it sends a message.
    pub(crate) const fn sends(self) -> bool {
        matches!(self, Operation::SendMessage | Operation::SendStreamingMessage)
    }

    /// The scope it needs.
    pub(crate) const fn scope(self) -> &'static str {
        if self.acts() || self.sends() { scope::WRITE } else { scope::READ }
    }

    /// Whether its answer is a stream.
    pub(crate) const fn streams(self) -> bool {
        matches!(self, Operation::SendStreamingMessage | Operation::SubscribeToTask)
    }

    /// What a caller hears whose agent does not stream.
    pub(crate) fn not_streamed() -> Fault {
        Fault::new(
            Kind::UnsupportedOperation,
            "streaming is switched off here (edge.streaming): use SendMessage and GetTask",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_found_by_its_name_and_by_its_alias() {
        for operation in Operation::ALL {
            assert_eq!(Operation::find(operation.name()), Some(operation));
            assert_eq!(Operation::find(operation.alias()), Some(operation));
        }
        assert_eq!(Operation::find(""), None);
        assert_eq!(Operation::find("sendMessage"), None);
    }

    #[test]
    fn the_operations_are_the_methods_of_the_schema() {
        let descriptors = prost_reflect::DescriptorPool::decode(weft_proto::FILE_DESCRIPTOR_SET).unwrap();
        let service = descriptors.get_service_by_name("lf.a2a.v1.A2AService").unwrap();
        let mut declared: Vec<_> =
            service.methods().map(|m| (m.name().to_owned(), m.is_server_streaming())).collect();
        let mut ours: Vec<_> =
            Operation::ALL.into_iter().map(|o| (o.name().to_owned(), o.streams())).collect();
        declared.sort();
        ours.sort();
        assert_eq!(ours, declared);
    }
}
