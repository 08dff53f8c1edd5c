// The fleet at a glance: each node's health, and what can be asked of it.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { CapabilityJson, NodeJson, SnapshotJson } from "../api/gen/weft/v1/catalog_pb";
import { useDraft } from "../tasks/draft";
import { FaultNotice } from "../ui/FaultNotice";
import { Time } from "../ui/Time";
import styles from "./Fleet.module.css";
import { byNode, healthOf, summary } from "./fleet";
import { HealthWord } from "./HealthWord";
import { catalogQuery } from "./queries";

// Examples of one capability; more would push the other nodes out of sight.
const EXAMPLES_SHOWN = 3;

const wide = "(min-width: 62rem)";

export function Fleet() {
  const catalog = useQuery(catalogQuery());
  const [open, setOpen] = useState(() => window.matchMedia(wide).matches);
  return (
    <aside className={styles.fleet} aria-label="Fleet">
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className={styles.summary}>
          <h2>Fleet</h2>
          {catalog.data && <span className={styles.count}>{summary(catalog.data.nodes ?? [])}</span>}
        </summary>
        <div className={styles.content}>
          {catalog.isError && (
            <FaultNotice
              what="Cannot read the catalog"
              error={catalog.error}
              onRetry={() => catalog.refetch()}
            />
          )}
          {catalog.isPending && <p className={styles.quiet}>Reading the catalog…</p>}
          {catalog.data && <Nodes snapshot={catalog.data} />}
        </div>
      </details>
    </aside>
  );
}

function Nodes({ snapshot }: { snapshot: SnapshotJson }) {
  const { nodes, elsewhere } = byNode(snapshot);
  if (nodes.length === 0 && elsewhere.length === 0) {
    return <p className={styles.quiet}>The fleet is empty: no node is declared.</p>;
  }
  return (
    <>
      <ul className={styles.nodes}>
        {nodes.map(({ node, capabilities }) => (
          <li key={node.id} className={styles.node}>
            <NodeHead node={node} />
            <Capabilities of={capabilities} />
          </li>
        ))}
      </ul>
      {elsewhere.length > 0 && (
        <section className={styles.node} aria-label="Capabilities of the mesh itself">
          <h3 className={styles.name}>The mesh itself</h3>
          <Capabilities of={elsewhere} />
        </section>
      )}
    </>
  );
}

function NodeHead({ node }: { node: NodeJson }) {
  const health = healthOf(node);
  return (
    <>
      <div className={styles.head}>
        <h3 className={styles.name}>{node.name || node.id}</h3>
        <HealthWord health={health} />
      </div>
      {node.role && <p className={styles.role}>{node.role}</p>}
      {health !== "up" && node.health?.detail && <p className={styles.detail}>{node.health.detail}</p>}
      {health !== "up" && node.health?.seen && (
        <p className={styles.detail}>
          Last seen <Time at={node.health.seen} />
        </p>
      )}
      <p className={styles.facts}>
        <code>{node.id}</code>
        <span>{node.address || "in this process"}</span>
        {node.agentBacked && <span>agent-backed</span>}
      </p>
    </>
  );
}

function Capabilities({ of }: { of: CapabilityJson[] }) {
  const { fill } = useDraft();
  if (of.length === 0) return null;
  return (
    <ul className={styles.capabilities}>
      {of.map((capability) => (
        <li key={capability.id} className={styles.capability}>
          <p className={styles.skill}>
            {capability.name || capability.id} <code>{capability.id}</code>
          </p>
          {capability.examples?.slice(0, EXAMPLES_SHOWN).map((example) => (
            <button
              key={example}
              type="button"
              className={styles.example}
              title={capability.description}
              onClick={() => fill(example)}
            >
              <span className="visually-hidden">Ask: </span>
              {example}
            </button>
          ))}
        </li>
      ))}
    </ul>
  );
}
