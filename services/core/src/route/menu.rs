//! What can be asked, said to a caller whose message matched nothing: for people as text, for programs as data.

use weft_proto::a2a::part::Content;
use weft_proto::a2a::{Message, Part, Role, TaskState, TaskStatus};

use super::Index;
use crate::value;

/// Most examples shown of one capability.
const EXAMPLES_MAX: usize = 2;

impl Index {
    /// The status of a task that waits for its caller to say what is wanted. Sending again to the same task, with words
    /// that match or with a skill's id, takes it up.
    #[must_use]
    pub fn menu(&self, message_id: String) -> TaskStatus {
        let parts = vec![
            Part { content: Some(Content::Text(self.menu_text())), ..Part::default() },
            Part {
                content: Some(Content::Data(self.menu_data())),
                media_type: "application/json".to_owned(),
                ..Part::default()
            },
        ];
        let message = Message { message_id, role: Role::Agent.into(), parts, ..Message::default() };
        TaskStatus { state: TaskState::InputRequired.into(), message: Some(message), timestamp: None }
    }

    fn menu_text(&self) -> String {
        if self.capabilities.is_empty() {
            return "Nothing can be asked here yet: no capability is declared.".to_owned();
        }
        let mut text = "I could not tell what you want. This is what can be asked here:\n".to_owned();
        for capability in &self.capabilities {
            text.push_str(&format!("- {} ({})", capability.name, capability.id));
            if let Some(example) = capability.examples.first() {
                text.push_str(&format!(", for example: {example}"));
            }
            text.push('\n');
        }
        text.push_str("Ask in other words, or name a skill: message.metadata.skillId.");
        text
    }

    fn menu_data(&self) -> weft_proto::wkt::Value {
        let skills = self.capabilities.iter().map(|capability| {
            value::object([
                ("id", value::text(&capability.id)),
                ("name", value::text(&capability.name)),
                ("examples", value::texts(capability.examples.iter().take(EXAMPLES_MAX))),
            ])
        });
        value::object([("reason", value::text("NO_SKILL_MATCHED")), ("skills", value::list(skills))])
    }
}
