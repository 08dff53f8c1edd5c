//! What the kit's messages carry: package `itk`, the numbers as the kit has them.

use prost::Message as _;
use weft_proto::a2a::{Message, part::Content};

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Instruction {
    #[prost(oneof = "Step", tags = "1, 2, 3")]
    pub(crate) step: Option<Step>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Step {
    #[prost(message, tag = "1")]
    CallAgent(Box<CallAgent>),
    #[prost(message, tag = "2")]
    ReturnResponse(ReturnResponse),
    #[prost(message, tag = "3")]
    Steps(SeriesOfSteps),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CallAgent {
    #[prost(string, tag = "1")]
    pub(crate) transport: String,
    #[prost(string, tag = "2")]
    pub(crate) agent_card_uri: String,
    #[prost(message, optional, boxed, tag = "3")]
    pub(crate) instruction: Option<Box<Instruction>>,
    #[prost(bool, tag = "4")]
    pub(crate) streaming: bool,
    #[prost(oneof = "Behavior", tags = "5, 6, 7")]
    pub(crate) behavior: Option<Behavior>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Behavior {
    #[prost(message, tag = "5")]
    SendMessage(Plain),
    #[prost(message, tag = "6")]
    PushNotification(Push),
    #[prost(message, tag = "7")]
    Resubscribe(Plain),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Plain {}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Push {
    #[prost(string, tag = "1")]
    pub(crate) url: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ReturnResponse {
    #[prost(string, tag = "1")]
    pub(crate) response: String,
    #[prost(bool, tag = "2")]
    pub(crate) hold_task: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SeriesOfSteps {
    #[prost(message, repeated, tag = "1")]
    pub(crate) instructions: Vec<Instruction>,
}

impl Instruction {
    pub(crate) const MEDIA_TYPE: &'static str = "application/x-protobuf";
    pub(crate) const FILENAME: &'static str = "instruction.bin";

    /// The instruction in a message: bytes of its own, or base64 in a text.
    pub(crate) fn of(message: &Message) -> Option<Instruction> {
        message.parts.iter().find_map(|part| match &part.content {
            Some(Content::Raw(bytes))
                if part.media_type == Instruction::MEDIA_TYPE || part.filename == Instruction::FILENAME =>
            {
                Instruction::decode(bytes.as_slice()).ok()
            }
            Some(Content::Text(text)) => {
                use base64::Engine;
                let bytes = base64::engine::general_purpose::STANDARD.decode(text.trim()).ok()?;
                Instruction::decode(bytes.as_slice()).ok()
            }
            _ => None,
        })
    }

    /// True when the task is to be held open at its end.
    pub(crate) fn holds(&self) -> bool {
        match &self.step {
            Some(Step::ReturnResponse(response)) => response.hold_task,
            Some(Step::Steps(series)) => series.instructions.iter().any(Instruction::holds),
            _ => false,
        }
    }
}
