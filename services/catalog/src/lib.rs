//! Nodes, capabilities, cards and health: the only source of what the fleet can do.
