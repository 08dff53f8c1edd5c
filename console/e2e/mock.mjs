// A stand-in for a mesh, in memory, for work on the console alone: node e2e/mock.mjs [port]. Serves dist/ under the
// same content security policy as the edge. What is asked decides what happens: an
// example of the catalog is answered; "slow", "ask", "fail" and "chunks" do as they say; anything else asks back.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";

const dist = join(import.meta.dirname, "..", "dist");
const csp = "default-src 'self'";
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const terminal = /COMPLETED|FAILED|CANCELED|REJECTED/;

const tasks = new Map();
const feeds = new Set();
const watchers = new Map();
const timers = new Map();

function status(task, state, text) {
  const previous = task.status.message;
  if (previous) task.history.push(previous);
  task.status = { state: `TASK_STATE_${state}`, timestamp: new Date().toISOString() };
  if (text) task.status.message = { messageId: randomUUID(), role: "ROLE_AGENT", parts: [{ text }] };
  publish(task, { statusUpdate: { taskId: task.id, contextId: task.contextId, status: task.status } });
  const event = {
    taskId: task.id,
    contextId: task.contextId,
    status: task.status,
    capability: task.metadata.weft.capability,
  };
  for (const feed of feeds) feed.write(`event: task\ndata: ${JSON.stringify(event)}\n\n`);
}

function chunk(task, artifact, append, lastChunk) {
  const known = task.artifacts.find((a) => a.artifactId === artifact.artifactId);
  if (append && known) known.parts.push(...artifact.parts);
  else task.artifacts.push(structuredClone(artifact));
  publish(task, {
    artifactUpdate: { taskId: task.id, contextId: task.contextId, artifact, append, lastChunk },
  });
}

function publish(task, event) {
  for (const send of watchers.get(task.id) ?? []) send(event);
}

/** Steps of a run, each after its delay in milliseconds. */
function play(task, steps) {
  const [[delay, step] = [], ...rest] = steps;
  if (!step) return;
  timers.set(
    task.id,
    setTimeout(() => {
      step();
      play(task, rest);
    }, delay),
  );
}

function run(task, text) {
  const work = [150, () => status(task, "WORKING", "reading the source")];
  const data = {
    sectors: [
      { name: "Shipping", change: 3.1 },
      { name: "Cement", change: -1.4 },
    ],
    of: 24,
  };
  const result = {
    artifactId: "result",
    name: "Sector movement",
    parts: [{ text: "Shipping leads." }, { data }],
  };
  const finish = [
    400,
    () => {
      chunk(task, result, false, true);
      status(task, "COMPLETED");
    },
  ];
  const words = "A long answer that comes in pieces, one word after the other, as a model gives it.".split(
    " ",
  );
  const pieces = words.map((word, index) => [
    120,
    () =>
      chunk(task, { artifactId: "answer", name: "Answer", parts: [{ text: `${word} ` }] }, index > 0, false),
  ]);
  if (/slow|five minutes/.test(text)) play(task, [work]);
  else if (/ask/.test(text))
    play(task, [work, [200, () => status(task, "INPUT_REQUIRED", "Which customer?")]]);
  else if (/fail/.test(text))
    play(task, [work, [200, () => status(task, "FAILED", "the source is malformed")]]);
  else if (/chunks/.test(text)) play(task, [work, ...pieces, [10, () => status(task, "COMPLETED")]]);
  else if (catalog.capabilities.some(({ examples }) => examples.includes(text))) play(task, [work, finish]);
  else
    status(
      task,
      "INPUT_REQUIRED",
      "Nothing here answers that. Ask about sectors, customers or this network.",
    );
}

function send({ message }) {
  const text = message.parts.map((part) => part.text ?? "").join(" ");
  let task = tasks.get(message.taskId);
  if (!task) {
    task = {
      id: randomUUID(),
      contextId: message.contextId ?? randomUUID(),
      status: {},
      history: [],
      artifacts: [],
      metadata: { weft: { capability: /customer/i.test(text) ? "customer.reach" : "sector.movement" } },
    };
    tasks.set(task.id, task);
  }
  if (task.status.message) task.history.push(task.status.message);
  task.history.push({ ...message, taskId: task.id, contextId: task.contextId });
  task.status = {};
  status(task, "SUBMITTED");
  run(task, text);
  return task;
}

function fault(code, reason, message) {
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" };
  return { error: { code, message, data: [info] } };
}

function list({ pageSize = 50, pageToken, status, contextId }) {
  const all = [...tasks.values()]
    .filter(
      (task) => (!status || task.status.state === status) && (!contextId || task.contextId === contextId),
    )
    .sort((a, b) => (a.status.timestamp < b.status.timestamp ? 1 : -1));
  const from = Number(pageToken ?? 0);
  const next = from + pageSize < all.length ? String(from + pageSize) : "";
  const page = all.slice(from, from + pageSize).map(({ artifacts: _, ...task }) => task);
  return { tasks: page, totalSize: all.length, pageSize, nextPageToken: next };
}

function watch(response, id, task) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (event) => {
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: event })}\n\n`);
    if (event.statusUpdate && terminal.test(event.statusUpdate.status.state)) response.end();
  };
  send({ task });
  const set = watchers.get(task.id) ?? new Set();
  watchers.set(task.id, set.add(send));
  response.on("close", () => set.delete(send));
}

function rpc({ id, method, params }, response) {
  const reply = (body) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
  };
  if (method === "ListTasks") return reply({ result: list(params) });
  if (method === "SendMessage") return reply({ result: { task: send(params) } });
  if (method === "SendStreamingMessage") return watch(response, id, send(params));
  const task = tasks.get(params.id);
  if (!task) return reply(fault(-32001, "TASK_NOT_FOUND", "task not found"));
  const over = terminal.test(task.status.state);
  if (method === "GetTask") return reply({ result: task });
  if (method === "SubscribeToTask") {
    return over
      ? reply(fault(-32004, "UNSUPPORTED_OPERATION", "task is terminal"))
      : watch(response, id, task);
  }
  if (method === "CancelTask") {
    if (over) return reply(fault(-32002, "TASK_NOT_CANCELABLE", "cannot cancel task: already terminal"));
    clearTimeout(timers.get(task.id));
    status(task, "CANCELED");
    return reply({ result: task });
  }
  return reply(fault(-32601, "METHOD_NOT_FOUND", "method not found"));
}

const node = (id, name, role, state, detail) => ({
  id,
  name,
  role,
  health: { state, detail, seen: "2026-01-01T00:00:00Z" },
});
const catalog = {
  revision: "1",
  mesh: { name: "harbour", version: "0.1.0" },
  nodes: [
    node("crm", "Customers", "Who the customers are and how to reach them", "STATE_UP"),
    node(
      "lan",
      "LAN",
      "This machine's interfaces, neighbours and names",
      "STATE_UNREACHABLE",
      "connection refused",
    ),
    node("scanner", "Scanner", "Price history and sector movement", "STATE_UP"),
  ],
  capabilities: [
    {
      id: "sector.movement",
      name: "Sector movement",
      description: "How sectors moved over a window of days.",
      examples: ["Which sectors moved most this week?", "How did shipping do in the last 20 days?"],
      tool: { node: "scanner", tool: "sectors" },
    },
    {
      id: "customer.reach",
      name: "Customer reach",
      description: "Which customers can be reached, and how.",
      examples: ["Which customers can be reached by phone?"],
      tool: { node: "crm", tool: "reach" },
    },
    {
      id: "lan.neighbours",
      name: "Neighbours",
      examples: ["Who is on this network?"],
      tool: { node: "lan", tool: "n" },
    },
  ],
};

async function body(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString());
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  if (pathname === "/a2a") return rpc(await body(request), response);
  if (pathname === "/api/catalog") return response.end(JSON.stringify(catalog));
  if (pathname === "/api/tasks/feed") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": open\n\n");
    feeds.add(response);
    return response.on("close", () => feeds.delete(response));
  }
  const file = extname(pathname) ? pathname : "/index.html";
  const content = await readFile(join(dist, file)).catch(() => undefined);
  response.writeHead(content ? 200 : 404, {
    "content-type": types[extname(file)] ?? "application/octet-stream",
    "content-security-policy": csp,
  });
  response.end(content);
});

server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
