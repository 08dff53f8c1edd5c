// Every page and what its URL may say. The URL is the state.

import { createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";
import { CrashPage, MissingPage } from "./shell/fallbacks";
import { Shell } from "./shell/Shell";
import { parseTasksSearch } from "./tasks/search";
import { TaskPage } from "./tasks/TaskPage";
import { TasksPage } from "./tasks/TasksPage";

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: MissingPage });

const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/tasks", replace: true });
  },
});

const tasksRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/tasks",
  validateSearch: parseTasksSearch,
  component: TasksPage,
});

const taskRoute = createRoute({
  getParentRoute: () => tasksRoute,
  path: "$id",
  component: TaskPage,
});

export function createConsoleRouter() {
  return createRouter({
    basepath: new URL(document.baseURI).pathname,
    routeTree: rootRoute.addChildren([indexRoute, tasksRoute.addChildren([taskRoute])]),
    defaultErrorComponent: CrashPage,
    // Plain `?state=working`: every value is text.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const entries = Object.entries(search).filter(([, value]) => typeof value === "string" && value !== "");
      return entries.length > 0 ? `?${new URLSearchParams(entries)}` : "";
    },
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
  interface HistoryState {
    /** Page tokens of the newer pages passed on the way here, newest first; the newest page's is empty. */
    newer?: string[];
  }
}
