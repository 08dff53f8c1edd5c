"""Checks a running mesh with the official Python SDK over JSON-RPC, HTTP+JSON and gRPC:
check_mesh.py http://127.0.0.1:8420 [JSONRPC|HTTP+JSON|GRPC]...

The mesh must let webhooks go to 127.0.0.1 (tasks.push_allow) and everybody read its extended card (edge.extended_card).
"""

import asyncio
import json
import sys
import uuid

import grpc
import httpx

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError
from a2a.helpers import get_artifact_text, get_message_text
from a2a.types import (
    AuthenticationInfo,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import (
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from google.protobuf.json_format import ParseDict

from report import Checks
from webhook import Webhook

SCENARIO = 'scenario.play'
ECHO = 'echo hello mesh'
ECHOED = 'hello mesh'
SLOW = 'slow'
CHUNKS = 'chunks'
CHUNK_COUNT = 3
ASK = 'ask'
FAIL = 'fail'
FLEET_SKILLS = ['sector.movement', 'customer.reach']
TENANT = 'scenario'
ELSEWHERE = 'https://webhook.invalid/hook'
BINDINGS = ['JSONRPC', 'HTTP+JSON', 'GRPC']

COMPLETED = TaskState.TASK_STATE_COMPLETED
FAILED = TaskState.TASK_STATE_FAILED
CANCELED = TaskState.TASK_STATE_CANCELED
WORKING = TaskState.TASK_STATE_WORKING
SUBMITTED = TaskState.TASK_STATE_SUBMITTED
INPUT_REQUIRED = TaskState.TASK_STATE_INPUT_REQUIRED

checks = Checks()


class Mesh:
    """The SDK's clients for one card over one binding: one that waits for whole answers, one that streams."""

    def __init__(self, card, tenant_card, http, binding):
        self.card, self.tenant_card, self.http, self.binding = card, tenant_card, http, binding
        self.unary = self._client(streaming=False)
        self.streaming = self._client(streaming=True)

    def _client(self, streaming):
        config = ClientConfig(
            streaming=streaming,
            httpx_client=self.http,
            supported_protocol_bindings=[self.binding],
            grpc_channel_factory=grpc.aio.insecure_channel,
        )
        return ClientFactory(config).create(self.card)

    def tenant(self):
        """The clients for one node of the fleet, an agent of its own."""
        return Mesh(self.tenant_card, None, self.http, self.binding)

    async def send(self, text, skill=SCENARIO, **options):
        """Sends a message and returns the task of the answer."""
        events = [event async for event in self.unary.send_message(request(text, skill, **options))]
        assert len(events) == 1 and events[0].HasField('task'), f'not one task: {events}'
        return events[0].task

    async def start_slow(self):
        """Starts a task that works until it is canceled."""
        task = await self.send(SLOW, return_immediately=True)
        equal(task.status.state in (SUBMITTED, WORKING), True, 'under way')
        return task

    async def get(self, task, **options):
        return await self.unary.get_task(GetTaskRequest(id=task.id, **options))

    async def cancel(self, task):
        return await self.unary.cancel_task(CancelTaskRequest(id=task.id))


def request(text, skill=SCENARIO, task=None, context_id='', return_immediately=False, parts=None, push=None):
    message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=parts or [Part(text=text)])
    if skill:
        message.metadata.update({'skillId': skill})
    if task:
        message.task_id, message.context_id = task.id, task.context_id
    elif context_id:
        message.context_id = context_id
    configuration = SendMessageConfiguration(return_immediately=return_immediately, task_push_notification_config=push)
    return SendMessageRequest(message=message, configuration=configuration)


def equal(actual, expected, what):
    assert actual == expected, f'{what} is {actual!r}, not {expected!r}'


def state(task, expected):
    equal(TaskState.Name(task.status.state), TaskState.Name(expected), 'state')


def texts(task):
    return [get_artifact_text(artifact) for artifact in task.artifacts]


async def raises(expected, awaitable):
    try:
        answer = await awaitable
    except expected:
        return
    raise AssertionError(f'{expected} was expected, not {answer}')


async def drain(stream):
    return [event async for event in stream]


@checks.check('the card names the binding, what the mesh can do and the skills of the fleet')
async def _(mesh):
    bindings = [(interface.protocol_binding, interface.protocol_version) for interface in mesh.card.supported_interfaces]
    assert (mesh.binding, '1.0') in bindings, bindings
    can = mesh.card.capabilities
    equal((can.streaming, can.push_notifications, can.extended_agent_card), (True, True, True), 'capabilities')
    skills = {skill.id for skill in mesh.card.skills}
    assert skills >= {SCENARIO, *FLEET_SKILLS}, skills


@checks.check('a blocking message comes back as a completed task with its artifact')
async def _(mesh):
    task = await mesh.send(ECHO)
    state(task, COMPLETED)
    assert any(ECHOED in text for text in texts(task)), texts(task)


@checks.check('every skill of the fleet answers from its node')
async def _(mesh):
    for skill in FLEET_SKILLS:
        task = await mesh.send('show me', skill=skill)
        state(task, COMPLETED)
        assert task.artifacts and task.artifacts[0].parts, f'{skill} answered without an artifact'


@checks.check('a data part chooses the skill too')
async def _(mesh):
    part = ParseDict({'data': {'skill': FLEET_SKILLS[0], 'arguments': {}}}, Part())
    task = await mesh.send('', skill=None, parts=[part])
    state(task, COMPLETED)


@checks.check('returnImmediately answers before the task is done')
async def _(mesh):
    await mesh.cancel(await mesh.start_slow())


@checks.check('a stream begins with the task and ends with its completion')
async def _(mesh):
    events = await drain(mesh.streaming.send_message(request(ECHO)))
    assert events[0].HasField('task'), f'first event: {events[0]}'
    assert not any(event.HasField('task') for event in events[1:]), 'the task came twice'
    assert events[-1].HasField('status_update'), f'last event: {events[-1]}'
    state(events[-1].status_update, COMPLETED)


@checks.check('the chunks of an artifact arrive in order and are kept whole')
async def _(mesh):
    events = await drain(mesh.streaming.send_message(request(CHUNKS)))
    chunks = [event.artifact_update for event in events if event.HasField('artifact_update')]
    equal(len(chunks), CHUNK_COUNT, 'number of chunks')
    equal(len({chunk.artifact.artifact_id for chunk in chunks}), 1, 'number of artifacts')
    equal([chunk.append for chunk in chunks], [False] + [True] * (CHUNK_COUNT - 1), 'append')
    equal([chunk.last_chunk for chunk in chunks], [False] * (CHUNK_COUNT - 1) + [True], 'lastChunk')
    task = await mesh.get(events[0].task)
    streamed = [part.text for chunk in chunks for part in chunk.artifact.parts]
    equal([part.text for part in task.artifacts[0].parts], streamed, 'kept parts')


@checks.check('a failed task says why')
async def _(mesh):
    task = await mesh.send(FAIL)
    state(task, FAILED)
    assert get_message_text(task.status.message), 'the status has no message'


@checks.check('a task can be read again with its history')
async def _(mesh):
    sent = await mesh.send(ECHO)
    task = await mesh.get(sent)
    equal((task.id, task.context_id), (sent.id, sent.context_id), 'ids')
    state(task, COMPLETED)
    equal(get_message_text(task.history[0]), ECHO, 'first message')
    short = await mesh.get(sent, history_length=0)
    equal(len(short.history), 0, 'history of length 0')


@checks.check('pages list every task of a context once')
async def _(mesh):
    first = await mesh.send(ECHO)
    sent = [first.id] + [(await mesh.send(ECHO, context_id=first.context_id)).id for _ in range(4)]
    listed, token = [], ''
    while True:
        query = ListTasksRequest(context_id=first.context_id, page_size=2, page_token=token)
        page = await mesh.unary.list_tasks(query)
        assert len(page.tasks) <= 2, 'the page is too long'
        equal(page.total_size, len(sent), 'totalSize')
        listed += [task.id for task in page.tasks]
        token = page.next_page_token
        if not token or len(listed) > len(sent):
            break
    equal(len(listed), len(set(listed)), 'number of different tasks')
    equal(listed, sent[::-1], 'tasks, newest first')


@checks.check('a slow task can be canceled')
async def _(mesh):
    task = await mesh.start_slow()
    state(await mesh.cancel(task), CANCELED)
    state(await mesh.get(task), CANCELED)


@checks.check('a subscriber sees the running task, then its events to the end')
async def _(mesh):
    task = await mesh.start_slow()
    stream = mesh.streaming.subscribe(SubscribeToTaskRequest(id=task.id))
    snapshot = await anext(stream)
    equal(snapshot.task.id, task.id, 'task of the first event')
    rest = asyncio.create_task(drain(stream))
    await mesh.cancel(task)
    events = await rest
    assert events and events[-1].HasField('status_update'), f'events: {events}'
    state(events[-1].status_update, CANCELED)


@checks.check('a task that asks for input is completed by the answer')
async def _(mesh):
    asked = await mesh.send(ASK)
    state(asked, INPUT_REQUIRED)
    assert get_message_text(asked.status.message), 'the question is empty'
    answered = await mesh.send('blue', task=asked)
    equal((answered.id, answered.context_id), (asked.id, asked.context_id), 'ids')
    state(answered, COMPLETED)


@checks.check('an unknown task is not found')
async def _(mesh):
    unknown = str(uuid.uuid4())
    await raises(TaskNotFoundError, mesh.unary.get_task(GetTaskRequest(id=unknown)))
    await raises(TaskNotFoundError, mesh.unary.cancel_task(CancelTaskRequest(id=unknown)))
    await raises(TaskNotFoundError, drain(mesh.streaming.subscribe(SubscribeToTaskRequest(id=unknown))))


@checks.check('a completed task can be neither canceled nor subscribed to')
async def _(mesh):
    task = await mesh.send(ECHO)
    await raises(TaskNotCancelableError, mesh.cancel(task))
    await raises(UnsupportedOperationError, drain(mesh.streaming.subscribe(SubscribeToTaskRequest(id=task.id))))


@checks.check('a message without parts, and one to a finished task, are refused')
async def _(mesh):
    empty = request('')
    del empty.message.parts[:]
    # Over the other two the SDK has a type of its own only for the errors of A2A itself.
    await raises((InvalidParamsError, A2AClientError), drain(mesh.unary.send_message(empty)))
    await raises(UnsupportedOperationError, mesh.send('more', task=await mesh.send(ECHO)))


@checks.check('the extended card holds what the public card does')
async def _(mesh):
    extended = await mesh.unary.get_extended_agent_card(GetExtendedAgentCardRequest())
    equal(extended.name, mesh.card.name, 'name')
    assert {skill.id for skill in extended.skills} >= {skill.id for skill in mesh.card.skills}, extended.skills


@checks.check('a node is an agent of its own, whose tasks the mesh does not see')
async def _(mesh):
    node = mesh.tenant()
    assert any(interface.tenant == TENANT for interface in node.card.supported_interfaces), node.card
    skill = node.card.skills[0].id
    sent = await node.send(ECHO, skill=skill)
    state(sent, COMPLETED)
    equal((await node.get(sent)).id, sent.id, 'id')
    events = await drain(node.streaming.send_message(request(ECHO, skill)))
    state(events[-1].status_update, COMPLETED)
    await raises(TaskNotFoundError, mesh.get(sent))
    await raises(TaskNotFoundError, node.get(await mesh.send(ECHO)))


@checks.check('push configurations are kept, found, listed and removed')
async def _(mesh):
    task = await mesh.start_slow()
    names = ['first', 'second']
    for name in names:
        config = TaskPushNotificationConfig(task_id=task.id, id=name, url=ELSEWHERE, token='t')
        for kept in (
            await mesh.unary.create_task_push_notification_config(config),
            await mesh.unary.get_task_push_notification_config(
                GetTaskPushNotificationConfigRequest(task_id=task.id, id=name)
            ),
        ):
            equal((kept.task_id, kept.id, kept.url, kept.token), (task.id, name, ELSEWHERE, 't'), 'configuration')
    listing = ListTaskPushNotificationConfigsRequest(task_id=task.id)
    for name in names:
        listed = await mesh.unary.list_task_push_notification_configs(listing)
        equal([config.id for config in listed.configs], names[names.index(name) :], 'ids')
        removal = DeleteTaskPushNotificationConfigRequest(task_id=task.id, id=name)
        await mesh.unary.delete_task_push_notification_config(removal)
    equal(len((await mesh.unary.list_task_push_notification_configs(listing)).configs), 0, 'number of configurations')
    await mesh.cancel(task)


@checks.check('a webhook hears of every event in order, with its token and credentials')
async def _(mesh):
    async with Webhook() as hook:
        authentication = AuthenticationInfo(scheme='Bearer', credentials='secret')
        push = TaskPushNotificationConfig(url=hook.url, token='a token', authentication=authentication)
        task = await mesh.send(CHUNKS, push=push)
        events = []
        while not (events and events[-1].HasField('status_update') and events[-1].status_update.status.state == COMPLETED):
            headers, body = await hook.calls.get()
            equal(headers.get('x-a2a-notification-token'), 'a token', 'token')
            equal(headers.get('authorization'), 'Bearer secret', 'authorization')
            equal(headers.get('content-type'), 'application/a2a+json', 'content type')
            events.append(ParseDict(json.loads(body), StreamResponse()))
        assert events[0].task.id == task.id or events[0].status_update.task_id == task.id, events[0]
        texts = [event.artifact_update.artifact.parts[0].text for event in events if event.HasField('artifact_update')]
        equal(texts, [part.text for part in task.artifacts[0].parts], 'chunks')


async def main(base_url, bindings):
    failed = 0
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, base_url).get_agent_card()
        tenant_card = await A2ACardResolver(http, f'{base_url}/agents/{TENANT}').get_agent_card()
        for binding in bindings:
            print(f'# {binding}', flush=True)
            failed += await checks.run(Mesh(card, tenant_card, http, binding))
    return failed


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit('usage: check_mesh.py BASE_URL [JSONRPC|HTTP+JSON|GRPC]...')
    sys.exit(1 if asyncio.run(main(sys.argv[1], sys.argv[2:] or BINDINGS)) else 0)
