//! The agent card and what it holds.

use weft_proto::a2a as v1;
use weft_proto::a2a_v03 as v03;

use super::{Downgrade, Upgrade, alike, down, up};
use crate::card::{JSONRPC, PROTOCOL_VERSION, interfaces, major_minor};

impl Upgrade for v03::AgentCard {
    type V1 = v1::AgentCard;

    /// The main address comes first; an address that is named twice stands once.
    fn upgrade(self) -> v1::AgentCard {
        let version = major_minor(&self.protocol_version);
        let transport = Some(self.preferred_transport).filter(|transport| !transport.is_empty());
        let main =
            v03::AgentInterface { url: self.url, transport: transport.unwrap_or_else(|| JSONRPC.to_owned()) };
        let mut supported_interfaces: Vec<v1::AgentInterface> = Vec::new();
        for interface in [main].into_iter().chain(self.additional_interfaces) {
            let interface = v1::AgentInterface {
                url: interface.url,
                protocol_binding: interface.transport,
                tenant: String::new(),
                protocol_version: version.clone(),
            };
            if !interface.url.is_empty() && !supported_interfaces.contains(&interface) {
                supported_interfaces.push(interface);
            }
        }
        let capabilities = self.capabilities.unwrap_or_default();
        v1::AgentCard {
            name: self.name,
            description: self.description,
            supported_interfaces,
            provider: self.provider.map(Upgrade::upgrade),
            version: self.version,
            documentation_url: Some(self.documentation_url).filter(|url| !url.is_empty()),
            capabilities: Some(v1::AgentCapabilities {
                streaming: Some(capabilities.streaming),
                push_notifications: Some(capabilities.push_notifications),
                extensions: up(capabilities.extensions),
                extended_agent_card: Some(self.supports_authenticated_extended_card),
            }),
            security_schemes: self
                .security_schemes
                .into_iter()
                .map(|(name, s)| (name, s.upgrade()))
                .collect(),
            security_requirements: up(self.security),
            default_input_modes: self.default_input_modes,
            default_output_modes: self.default_output_modes,
            skills: up(self.skills),
            signatures: up(self.signatures),
            icon_url: Some(self.icon_url).filter(|url| !url.is_empty()),
        }
    }
}

impl Downgrade for v1::AgentCard {
    type V03 = v03::AgentCard;

    /// The addresses are those that speak v0.3, all of them if none says so; the first is the main one.
    fn downgrade(self) -> v03::AgentCard {
        let interfaces = interfaces(&self);
        let main = interfaces.first().cloned().unwrap_or_default();
        let capabilities = self.capabilities.unwrap_or_default();
        v03::AgentCard {
            protocol_version: PROTOCOL_VERSION.to_owned(),
            name: self.name,
            description: self.description,
            url: main.url,
            preferred_transport: main.transport,
            additional_interfaces: interfaces,
            provider: self.provider.map(Downgrade::downgrade),
            version: self.version,
            documentation_url: self.documentation_url.unwrap_or_default(),
            capabilities: Some(v03::AgentCapabilities {
                streaming: capabilities.streaming.unwrap_or_default(),
                push_notifications: capabilities.push_notifications.unwrap_or_default(),
                extensions: down(capabilities.extensions),
            }),
            security_schemes: self
                .security_schemes
                .into_iter()
                .map(|(name, s)| (name, s.downgrade()))
                .collect(),
            security: down(self.security_requirements),
            default_input_modes: self.default_input_modes,
            default_output_modes: self.default_output_modes,
            skills: down(self.skills),
            supports_authenticated_extended_card: capabilities.extended_agent_card.unwrap_or_default(),
            signatures: down(self.signatures),
            icon_url: self.icon_url.unwrap_or_default(),
        }
    }
}

impl Upgrade for v03::AgentSkill {
    type V1 = v1::AgentSkill;

    fn upgrade(self) -> v1::AgentSkill {
        v1::AgentSkill {
            id: self.id,
            name: self.name,
            description: self.description,
            tags: self.tags,
            examples: self.examples,
            input_modes: self.input_modes,
            output_modes: self.output_modes,
            security_requirements: up(self.security),
        }
    }
}

impl Downgrade for v1::AgentSkill {
    type V03 = v03::AgentSkill;

    fn downgrade(self) -> v03::AgentSkill {
        v03::AgentSkill {
            id: self.id,
            name: self.name,
            description: self.description,
            tags: self.tags,
            examples: self.examples,
            input_modes: self.input_modes,
            output_modes: self.output_modes,
            security: down(self.security_requirements),
        }
    }
}

alike! {
    AgentProvider { url, organization }
    AgentExtension { uri, description, required, params }
    AgentCardSignature { protected, signature, header }
}
