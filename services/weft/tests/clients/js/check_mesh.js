// Checks a running mesh with the official JavaScript SDK over JSON-RPC, HTTP+JSON and gRPC:
// node check_mesh.js http://127.0.0.1:8420 [JSONRPC|HTTP+JSON|GRPC]...
//
// The mesh must let webhooks go to 127.0.0.1 (tasks.push_allow) and everybody read its extended card
// (edge.extended_card).

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { StreamResponse, TaskState } from '@a2a-js/sdk';
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';

import {
  ASK,
  CHUNK_COUNT,
  CHUNKS,
  drain,
  ECHO,
  ECHOED,
  FAIL,
  FLEET_SKILLS,
  Mesh,
  part,
  SCENARIO,
  stateName,
  textOf,
} from './mesh.js';
import { check, runAll } from './report.js';
import { Webhook } from './webhook.js';

const BINDINGS = ['JSONRPC', 'HTTP+JSON', 'GRPC'];
const TENANT = 'scenario';
const ELSEWHERE = 'https://webhook.invalid/hook';

function isState(task, expected) {
  assert.equal(stateName(task), `TASK_STATE_${expected}`);
}

check('the card names the binding, what the mesh can do and the skills of the fleet', async ({ card, binding }) => {
  const found = card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === binding);
  assert.ok(found.some(({ protocolVersion }) => protocolVersion === '1.0'), `no ${binding}`);
  const { streaming, pushNotifications, extendedAgentCard } = card.capabilities;
  assert.deepEqual([streaming, pushNotifications, extendedAgentCard], [true, true, true]);
  const skills = new Set(card.skills.map(({ id }) => id));
  assert.deepEqual([SCENARIO, ...FLEET_SKILLS].filter((id) => !skills.has(id)), []);
});

check('a blocking message comes back as a completed task with its artifact', async (mesh) => {
  const task = await mesh.send(ECHO);
  isState(task, 'COMPLETED');
  assert.match(task.artifacts.map(textOf).join('\n'), new RegExp(ECHOED));
});

check('every skill of the fleet answers from its node', async (mesh) => {
  for (const skill of FLEET_SKILLS) {
    const task = await mesh.send('show me', { skill });
    isState(task, 'COMPLETED');
    assert.ok(task.artifacts[0]?.parts.length, `${skill} answered without an artifact`);
  }
});

check('a data part chooses the skill too', async (mesh) => {
  const value = { skill: FLEET_SKILLS[0], arguments: {} };
  isState(await mesh.send('', { skill: null, parts: [part({ $case: 'data', value })] }), 'COMPLETED');
});

check('returnImmediately answers before the task is done', async (mesh) => {
  await mesh.cancel((await mesh.startSlow()).id);
});

check('a stream begins with the task and ends with its completion', async (mesh) => {
  const events = await mesh.stream(ECHO);
  assert.equal(events[0].$case, 'task');
  assert.ok(events.slice(1).every(({ $case }) => $case !== 'task'), 'the task came twice');
  assert.equal(events.at(-1).$case, 'statusUpdate');
  isState(events.at(-1).value, 'COMPLETED');
});

check('the chunks of an artifact arrive in order and are kept whole', async (mesh) => {
  const events = await mesh.stream(CHUNKS);
  const chunks = events.filter(({ $case }) => $case === 'artifactUpdate').map(({ value }) => value);
  assert.equal(chunks.length, CHUNK_COUNT);
  assert.equal(new Set(chunks.map(({ artifact }) => artifact.artifactId)).size, 1);
  assert.deepEqual(chunks.map(({ append }) => append), chunks.map((_, at) => at > 0));
  assert.deepEqual(chunks.map(({ lastChunk }) => lastChunk), chunks.map((_, at) => at === CHUNK_COUNT - 1));
  const task = await mesh.get(events[0].value.id);
  assert.equal(textOf(task.artifacts[0]), chunks.map(({ artifact }) => textOf(artifact)).join('\n'));
});

check('a failed task says why', async (mesh) => {
  const task = await mesh.send(FAIL);
  isState(task, 'FAILED');
  assert.ok(textOf(task.status.message));
});

check('a task can be read again with its history', async (mesh) => {
  const sent = await mesh.send(ECHO);
  const task = await mesh.get(sent.id);
  assert.deepEqual([task.id, task.contextId], [sent.id, sent.contextId]);
  isState(task, 'COMPLETED');
  assert.equal(textOf(task.history[0]), ECHO);
  assert.equal((await mesh.get(sent.id, 0)).history.length, 0);
});

check('pages list every task of a context once', async (mesh) => {
  const { id, contextId } = await mesh.send(ECHO);
  const sent = [id];
  while (sent.length < 5) {
    sent.push((await mesh.send(ECHO, { contextId })).id);
  }
  const listed = [];
  let page = { nextPageToken: '' };
  do {
    page = await mesh.list(contextId, 2, page.nextPageToken);
    assert.ok(page.tasks.length <= 2, 'the page is too long');
    assert.equal(page.totalSize, sent.length);
    listed.push(...page.tasks.map((task) => task.id));
  } while (page.nextPageToken && listed.length <= sent.length);
  assert.deepEqual(listed, sent.toReversed());
});

check('a slow task can be canceled', async (mesh) => {
  const { id } = await mesh.startSlow();
  isState(await mesh.cancel(id), 'CANCELED');
  isState(await mesh.get(id), 'CANCELED');
});

check('a subscriber sees the running task, then its events to the end', async (mesh) => {
  const { id } = await mesh.startSlow();
  const stream = mesh.subscribe(id);
  const { value: snapshot } = await stream.next();
  assert.equal(snapshot.payload.$case, 'task');
  assert.equal(snapshot.payload.value.id, id);
  const [events] = await Promise.all([drain(stream), mesh.cancel(id)]);
  assert.equal(events.at(-1)?.$case, 'statusUpdate');
  isState(events.at(-1).value, 'CANCELED');
});

check('a task that asks for input is completed by the answer', async (mesh) => {
  const asked = await mesh.send(ASK);
  isState(asked, 'INPUT_REQUIRED');
  assert.ok(textOf(asked.status.message), 'the question is empty');
  const answered = await mesh.send('blue', { task: asked });
  assert.deepEqual([answered.id, answered.contextId], [asked.id, asked.contextId]);
  isState(answered, 'COMPLETED');
});

check('an unknown task is not found', async (mesh) => {
  const id = randomUUID();
  await assert.rejects(mesh.get(id), TaskNotFoundError);
  await assert.rejects(mesh.cancel(id), TaskNotFoundError);
  await assert.rejects(drain(mesh.subscribe(id)), TaskNotFoundError);
});

check('a completed task can be neither canceled nor subscribed to', async (mesh) => {
  const { id } = await mesh.send(ECHO);
  await assert.rejects(mesh.cancel(id), TaskNotCancelableError);
  await assert.rejects(drain(mesh.subscribe(id)), UnsupportedOperationError);
});

check('a message without parts, and one to a finished task, are refused', async (mesh) => {
  await assert.rejects(mesh.send('', { parts: [] }), /message\.parts/);
  await assert.rejects(mesh.send('more', { task: await mesh.send(ECHO) }), UnsupportedOperationError);
});

check('the extended card holds what the public card does', async ({ card, client }) => {
  const extended = await client.getAgentCard();
  assert.equal(extended.name, card.name);
  const skills = new Set(extended.skills.map(({ id }) => id));
  assert.deepEqual(card.skills.filter(({ id }) => !skills.has(id)), []);
});

check('a node is an agent of its own, whose tasks the mesh does not see', async (mesh) => {
  const node = await Mesh.open(`${mesh.baseUrl}/agents/${TENANT}/`, mesh.binding);
  assert.ok(node.card.supportedInterfaces.some(({ tenant }) => tenant === TENANT));
  const skill = node.card.skills[0].id;
  const { id } = await node.send(ECHO, { skill });
  isState(await node.get(id), 'COMPLETED');
  isState((await node.stream(ECHO, { skill })).at(-1).value, 'COMPLETED');
  await assert.rejects(mesh.get(id), TaskNotFoundError);
  await assert.rejects(node.get((await mesh.send(ECHO)).id), TaskNotFoundError);
});

check('push configurations are kept, found, listed and removed', async (mesh) => {
  const { client } = mesh;
  const { id: taskId } = await mesh.startSlow();
  const ids = ['first', 'second'];
  for (const id of ids) {
    const one = { tenant: '', taskId, id };
    const config = { ...one, url: ELSEWHERE, token: 't', authentication: undefined };
    for (const kept of [
      await client.createTaskPushNotificationConfig(config),
      await client.getTaskPushNotificationConfig(one),
    ]) {
      assert.deepEqual([kept.taskId, kept.id, kept.url, kept.token], [taskId, id, ELSEWHERE, 't']);
    }
  }
  const list = async () =>
    (await client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' })).configs;
  for (const [at, id] of ids.entries()) {
    assert.deepEqual((await list()).map((config) => config.id), ids.slice(at));
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id });
  }
  assert.equal((await list()).length, 0);
  await mesh.cancel(taskId);
});

check('a webhook hears of every event in order, with its token and credentials', async (mesh) => {
  const hook = await Webhook.open();
  try {
    const authentication = { scheme: 'Bearer', credentials: 'secret' };
    const push = { tenant: '', taskId: '', id: '', url: hook.url, token: 'a token', authentication };
    const { artifacts } = await mesh.send(CHUNKS, { push });
    const events = [];
    while (events.at(-1)?.value.status?.state !== TaskState.TASK_STATE_COMPLETED) {
      const { headers, body } = await hook.next();
      assert.equal(headers['x-a2a-notification-token'], 'a token');
      assert.equal(headers.authorization, 'Bearer secret');
      assert.equal(headers['content-type'], 'application/a2a+json');
      events.push(StreamResponse.fromJSON(JSON.parse(body)).payload);
    }
    const chunks = events.filter(({ $case }) => $case === 'artifactUpdate').map(({ value }) => textOf(value.artifact));
    assert.equal(chunks.join('\n'), textOf(artifacts[0]));
  } finally {
    hook.close();
  }
});

const [baseUrl, ...chosen] = process.argv.slice(2);
if (!baseUrl) {
  console.error('usage: node check_mesh.js BASE_URL [JSONRPC|HTTP+JSON|GRPC]...');
  process.exit(2);
}
let failed = 0;
for (const binding of chosen.length ? chosen : BINDINGS) {
  console.log(`# ${binding}`);
  failed += await runAll(await Mesh.open(baseUrl, binding));
}
// An abandoned stream would keep the process alive, so its end is said outright.
process.exit(failed ? 1 : 0);
