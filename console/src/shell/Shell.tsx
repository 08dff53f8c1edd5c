// The frame around every page: the mesh's name, whether it is live, its fleet, and what moves focus and speaks.

import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { Fleet } from "../fleet/Fleet";
import { catalogQuery } from "../fleet/queries";
import { SignIn } from "../session/SignIn";
import { SignOut } from "../session/SignOut";
import { sessionQuery } from "../session/session";
import { DraftProvider } from "../tasks/draft";
import { useFeed } from "../tasks/useFeed";
import { LinkPill } from "../ui/LinkPill";
import { Announcer } from "./announce";
import { Mark } from "./Mark";
import { OfflineBanner } from "./OfflineBanner";
import styles from "./Shell.module.css";
import { useRouteFocus } from "./useRouteFocus";

export function Shell() {
  // A mesh that does not answer is shown as one, also while it is asked again: only a mesh that says so asks for a token.
  const session = useQuery(sessionQuery());
  if (session.isPending && session.errorUpdateCount === 0) return null;
  if (session.data?.needed && !session.data.signedIn) return <SignIn />;
  return (
    <Announcer>
      <DraftProvider>
        <Frame />
      </DraftProvider>
    </Announcer>
  );
}

function Frame() {
  const link = useFeed();
  const mesh = useQuery(catalogQuery()).data?.mesh;
  useRouteFocus();
  // A bare fragment is resolved against the page's base, and following it would leave the page that is shown.
  useLocation();
  const main = `${window.location.pathname}${window.location.search}#main`;
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href={main}>
        Skip to the tasks
      </a>
      <header className={styles.bar}>
        <div className={styles.brand}>
          <Mark />
          <span className={styles.product}>Weft</span>
          {mesh?.name && <span className={styles.mesh}>{mesh.name}</span>}
        </div>
        <nav aria-label="Pages" className={styles.nav}>
          <Link to="/tasks" className={styles.page}>
            Tasks
          </Link>
        </nav>
        <LinkPill link={link} of="Task list" />
        <SignOut />
      </header>
      <OfflineBanner link={link} />
      <div className={styles.body}>
        <Fleet />
        <main id="main" className={styles.main} tabIndex={-1}>
          <Outlet />
        </main>
      </div>
    </div>
  );
}
