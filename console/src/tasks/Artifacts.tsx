import type { ArtifactJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import styles from "./Artifacts.module.css";
import { Parts } from "./Parts";

/** What the task made. */
export function Artifacts({ artifacts }: { artifacts: ArtifactJson[] }) {
  if (artifacts.length === 0) return null;
  return (
    <section className={styles.artifacts} aria-labelledby="artifacts-heading">
      <h3 id="artifacts-heading" className={styles.heading}>
        {artifacts.length === 1 ? "Artifact" : `Artifacts (${artifacts.length})`}
      </h3>
      {artifacts.map((artifact) => (
        <section
          key={artifact.artifactId}
          className={styles.artifact}
          aria-label={`Artifact ${nameOf(artifact)}`}
        >
          <div className={styles.head}>
            <h4 className={styles.name}>{nameOf(artifact)}</h4>
            {artifact.name && <code className={styles.id}>{artifact.artifactId}</code>}
          </div>
          {artifact.description && <p className={styles.about}>{artifact.description}</p>}
          <Parts parts={artifact.parts} />
        </section>
      ))}
    </section>
  );
}

function nameOf(artifact: ArtifactJson): string {
  return artifact.name || artifact.artifactId || "";
}
