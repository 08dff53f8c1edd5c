// The SDK's client for one mesh, with the few shorthands that the checks share.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { Role, TaskState } from '@a2a-js/sdk';
import {
  AgentCardResolver,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';

export const SCENARIO = 'scenario.play';
export const ECHO = 'echo hello mesh';
export const ECHOED = 'hello mesh';
export const SLOW = 'slow';
export const CHUNKS = 'chunks';
export const CHUNK_COUNT = 3;
export const ASK = 'ask';
export const FAIL = 'fail';
export const FLEET_SKILLS = ['sector.movement', 'customer.reach'];

const TRANSPORTS = [JsonRpcTransportFactory, RestTransportFactory, GrpcTransportFactory];

export class Mesh {
  /** Resolves the card below `baseUrl` and makes a client of it that speaks `binding` and no other. */
  static async open(baseUrl, binding) {
    const card = await AgentCardResolver.default.resolve(baseUrl);
    const transports = TRANSPORTS.map((Transport) => new Transport()).filter(({ protocolName }) => protocolName === binding);
    const client = await new ClientFactory({ transports }).createFromAgentCard(card);
    return Object.assign(new Mesh(card, client), { baseUrl, binding });
  }

  constructor(card, client) {
    this.card = card;
    this.client = client;
  }

  /** Sends a message and returns the task of the answer. */
  async send(text, options = {}) {
    const task = await this.client.sendMessage(request(text, options));
    assert.ok(task.status, `the answer is not a task: ${JSON.stringify(task)}`);
    return task;
  }

  /** Sends a message and returns all events of its stream. */
  stream(text, options) {
    return drain(this.client.sendMessageStream(request(text, options)));
  }

  /** Starts a task that works until it is canceled. */
  async startSlow() {
    const task = await this.send(SLOW, { returnImmediately: true });
    const underWay = [TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING];
    assert.ok(underWay.includes(task.status.state), `state is ${stateName(task)}`);
    return task;
  }

  get(id, historyLength) {
    return this.client.getTask({ tenant: '', id, historyLength });
  }

  cancel(id) {
    return this.client.cancelTask({ tenant: '', id, metadata: undefined });
  }

  subscribe(id) {
    return this.client.resubscribeTask({ tenant: '', id });
  }

  list(contextId, pageSize, pageToken) {
    const status = TaskState.TASK_STATE_UNSPECIFIED;
    return this.client.listTasks({ tenant: '', contextId, status, pageSize, pageToken, statusTimestampAfter: undefined });
  }
}

function request(text, { skill = SCENARIO, parts, task, contextId, returnImmediately = false, push } = {}) {
  return {
    tenant: '',
    metadata: undefined,
    message: {
      messageId: randomUUID(),
      role: Role.ROLE_USER,
      parts: parts ?? [part({ $case: 'text', value: text })],
      taskId: task?.id ?? '',
      contextId: task?.contextId ?? contextId ?? '',
      metadata: skill ? { skillId: skill } : undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: { acceptedOutputModes: [], taskPushNotificationConfig: push, returnImmediately },
  };
}

export function part(content) {
  return { content, metadata: undefined, filename: '', mediaType: '' };
}

export function stateName({ status }) {
  return TaskState[status.state];
}

export function textOf({ parts }) {
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('\n');
}

export async function drain(stream) {
  const events = [];
  for await (const { payload } of stream) {
    events.push(payload);
  }
  return events;
}
