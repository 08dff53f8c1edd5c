// Checks a running mesh with the official JavaScript SDK in its v0.3 mode, over JSON-RPC, HTTP+JSON and gRPC:
// node check_v03.js http://127.0.0.1:8420 [JSONRPC|HTTP+JSON|GRPC]...

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { TaskNotCancelableError, TaskNotFoundError } from '@a2a-js/sdk/errors';

import { ASK, CHUNK_COUNT, CHUNKS, drain, ECHO, ECHOED, FAIL, FLEET_SKILLS, Mesh, part, stateName, textOf } from './mesh.js';
import { check, runAll } from './report.js';

const LEGACY = { legacyCompat: { enabled: true } };
const BINDINGS = ['JSONRPC', 'HTTP+JSON', 'GRPC'];
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, at) => at));

/** The card as a client of v0.3 alone sees it: without what v1.0 added. */
async function oldCard(baseUrl) {
  const fetchImpl = async (...request) => {
    const { supportedInterfaces, ...old } = await (await fetch(...request)).json();
    assert.ok(supportedInterfaces.some(({ protocolVersion }) => protocolVersion === '0.3'));
    return Response.json(old);
  };
  return new DefaultAgentCardResolver({ ...LEGACY, fetchImpl }).resolve(baseUrl);
}

/** A mesh over one binding of v0.3 and nothing else. */
async function open(card, binding) {
  const found = card.supportedInterfaces.find(
    ({ protocolBinding, protocolVersion }) => protocolBinding === binding && protocolVersion.startsWith('0.3'),
  );
  assert.ok(found, `the card has no v0.3 over ${binding}`);
  const transports = [
    new JsonRpcTransportFactory(LEGACY),
    new RestTransportFactory(LEGACY),
    new GrpcTransportFactory(LEGACY),
  ];
  const only = { ...card, supportedInterfaces: [found] };
  return new Mesh(only, await new ClientFactory({ transports }).createFromAgentCard(only));
}

function isState(task, expected) {
  assert.equal(stateName(task), `TASK_STATE_${expected}`);
}

check('a blocking message comes back as a completed task with its artifact', async (mesh) => {
  const task = await mesh.send(ECHO);
  isState(task, 'COMPLETED');
  assert.match(task.artifacts.map(textOf).join('\n'), new RegExp(ECHOED));
});

check('a data part chooses the skill', async (mesh) => {
  const value = { skill: FLEET_SKILLS[0], arguments: {} };
  isState(await mesh.send('', { skill: null, parts: [part({ $case: 'data', value })] }), 'COMPLETED');
});

check('files arrive as they were sent', async (mesh) => {
  const file = { ...part({ $case: 'raw', value: BYTES }), filename: 'all.bin', mediaType: 'text/plain' };
  const { id } = await mesh.send(ECHO, { parts: [part({ $case: 'text', value: ECHO }), file] });
  const kept = (await mesh.get(id)).history[0].parts[1];
  assert.equal(kept.mediaType, 'text/plain');
  assert.deepEqual(Buffer.from(kept.content.value), BYTES);
});

check('a message that does not block answers before the task is done', async (mesh) => {
  await mesh.cancel((await mesh.startSlow()).id);
});

check('a stream begins with the task and ends with its completion', async (mesh) => {
  const events = await mesh.stream(ECHO);
  assert.equal(events[0].$case, 'task');
  assert.equal(events.at(-1).$case, 'statusUpdate');
  isState(events.at(-1).value, 'COMPLETED');
});

check('the chunks of an artifact arrive in order and are kept whole', async (mesh) => {
  const events = await mesh.stream(CHUNKS);
  const chunks = events.filter(({ $case }) => $case === 'artifactUpdate').map(({ value }) => value);
  assert.equal(chunks.length, CHUNK_COUNT);
  if (mesh.card.supportedInterfaces[0].protocolBinding === 'JSONRPC') {
    // Over the other two the SDK drops it.
    assert.deepEqual(chunks.map(({ append }) => append), chunks.map((_, at) => at > 0));
  }
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
  assert.equal(textOf(task.history[0]), ECHO);
});

check('a subscriber sees the running task, then its events to the end', async (mesh) => {
  const { id } = await mesh.startSlow();
  const stream = mesh.subscribe(id);
  const { value: snapshot } = await stream.next();
  assert.equal(snapshot.payload.value.id, id);
  const [events] = await Promise.all([drain(stream), mesh.cancel(id)]);
  isState(events.at(-1).value, 'CANCELED');
});

check('a task that asks for input is completed by the answer', async (mesh) => {
  const asked = await mesh.send(ASK);
  isState(asked, 'INPUT_REQUIRED');
  const answered = await mesh.send('blue', { task: asked });
  assert.deepEqual([answered.id, answered.contextId], [asked.id, asked.contextId]);
  isState(answered, 'COMPLETED');
});

check('push configurations are kept, found, listed and removed', async (mesh) => {
  const { client } = mesh;
  const { id: taskId } = await mesh.startSlow();
  const one = { tenant: '', taskId, id: 'p-1' };
  const config = { ...one, url: 'https://webhook.invalid/hook', token: 't', authentication: undefined };
  const list = () => client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' });
  for (const kept of [
    await client.createTaskPushNotificationConfig(config),
    await client.getTaskPushNotificationConfig(one),
    ...(await list()).configs,
  ]) {
    assert.deepEqual([kept.taskId, kept.id, kept.url], [taskId, one.id, config.url]);
  }
  await client.deleteTaskPushNotificationConfig(one);
  assert.equal((await list()).configs.length, 0);
  await mesh.cancel(taskId);
});

check('an unknown task is not found', async (mesh) => {
  const id = randomUUID();
  await assert.rejects(mesh.get(id), TaskNotFoundError);
  await assert.rejects(mesh.cancel(id), TaskNotFoundError);
});

check('a completed task cannot be canceled', async (mesh) => {
  const { id } = await mesh.send(ECHO);
  await assert.rejects(mesh.cancel(id), TaskNotCancelableError);
});

const [baseUrl, ...chosen] = process.argv.slice(2);
if (!baseUrl) {
  console.error('usage: node check_v03.js BASE_URL [JSONRPC|HTTP+JSON|GRPC]...');
  process.exit(2);
}
const card = await oldCard(baseUrl);
let failed = 0;
for (const binding of chosen.length ? chosen : BINDINGS) {
  console.log(`# ${binding}`);
  failed += await runAll(await open(card, binding));
}
// An abandoned stream would keep the process alive, so its end is said outright.
process.exit(failed ? 1 : 0);
