"""Checks a running mesh with the last official Python SDK of A2A v0.3 over JSON-RPC, HTTP+JSON and gRPC:
check_mesh.py http://127.0.0.1:8420 [JSONRPC|HTTP+JSON|GRPC]..."""

import asyncio
import base64
import sys
import uuid

from pathlib import Path

import grpc
import httpx

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    GetTaskPushNotificationConfigParams,
    Message,
    MessageSendConfiguration,
    Part,
    PushNotificationConfig,
    Role,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskState,
    TextPart,
    TransportProtocol,
)

sys.path.append(str(Path(__file__).parent.parent / 'python'))
from report import Checks  # noqa: E402  the two SDKs cannot share an environment, the report can be shared

SCENARIO = 'scenario.play'
ECHO = 'echo hello mesh'
SLOW = 'slow'
CHUNKS = 'chunks'
CHUNK_COUNT = 3
ASK = 'ask'
FAIL = 'fail'
FLEET_SKILL = 'sector.movement'
BYTES = bytes(range(256))
TRANSPORTS = [TransportProtocol.jsonrpc, TransportProtocol.http_json, TransportProtocol.grpc]

checks = Checks()


class Mesh:
    """The SDK's clients for one mesh over one transport: one that waits for whole answers, one that streams."""

    def __init__(self, card, http, transport):
        self.card = card
        self.transport = transport
        self.unary = self._client(http, streaming=False)
        self.streaming = self._client(http, streaming=True)

    def _client(self, http, streaming):
        config = ClientConfig(
            streaming=streaming,
            httpx_client=http,
            supported_transports=[self.transport],
            grpc_channel_factory=grpc.aio.insecure_channel,
        )
        return ClientFactory(config).create(self.card)

    async def send(self, text, configuration=None, **options):
        """Sends a message and returns the task of the answer."""
        sent = self.unary.send_message(message(text, **options), configuration=configuration)
        answers = [answer async for answer in sent]
        assert len(answers) == 1 and isinstance(answers[0], tuple), f'not one task: {answers}'
        return answers[0][0]

    async def start_slow(self):
        """Starts a task that works until it is canceled."""
        task = await self.send(SLOW, MessageSendConfiguration(blocking=False))
        assert task.status.state in (TaskState.submitted, TaskState.working), task.status.state
        return task

    async def stream(self, text):
        return await drain(self.streaming.send_message(message(text)))

    async def get(self, task, history_length=None):
        return await self.unary.get_task(TaskQueryParams(id=task.id, history_length=history_length))

    async def cancel(self, task):
        return await self.unary.cancel_task(TaskIdParams(id=task.id))

    async def fails(self, code, http, status, awaitable):
        """Expects an error, as each transport of the SDK shows it."""
        try:
            answer = await awaitable
        except A2AClientJSONRPCError as error:
            equal(error.error.code, code, 'JSON-RPC code')
        except A2AClientHTTPError as error:
            equal(error.status_code, http, 'HTTP status')
        except grpc.aio.AioRpcError as error:
            equal(error.code(), status, 'gRPC status')
        else:
            raise AssertionError(f'an error was expected, not {answer}')


def message(text, skill=SCENARIO, task=None, parts=None):
    return Message(
        message_id=str(uuid.uuid4()),
        role=Role.user,
        parts=[Part(root=part) for part in parts or [TextPart(text=text)]],
        metadata={'skillId': skill} if skill else None,
        task_id=task.id if task else None,
        context_id=task.context_id if task else None,
    )


def equal(actual, expected, what):
    assert actual == expected, f'{what} is {actual!r}, not {expected!r}'


def text_of(holder):
    return '\n'.join(part.root.text for part in holder.parts if isinstance(part.root, TextPart))


async def drain(stream):
    return [event async for event in stream]


@checks.check('the card names the transport at an address of its own')
async def _(mesh):
    addresses = {interface.transport: interface.url for interface in mesh.card.additional_interfaces or []}
    addresses[mesh.card.preferred_transport] = mesh.card.url
    assert addresses.get(mesh.transport.value), addresses
    equal(mesh.card.protocol_version.split('.')[:2], ['0', '3'], 'protocolVersion')
    equal(mesh.card.capabilities.streaming, True, 'capabilities.streaming')
    assert SCENARIO in {skill.id for skill in mesh.card.skills}, mesh.card.skills


@checks.check('a blocking message comes back as a completed task with its artifact')
async def _(mesh):
    task = await mesh.send(ECHO)
    equal(task.status.state, TaskState.completed, 'state')
    assert 'hello mesh' in text_of(task.artifacts[0]), task.artifacts


@checks.check('a data part chooses the skill')
async def _(mesh):
    parts = [DataPart(data={'skill': FLEET_SKILL, 'arguments': {}})]
    task = await mesh.send('', skill=None, parts=parts)
    equal(task.status.state, TaskState.completed, 'state')
    assert any(isinstance(part.root, DataPart) for part in task.artifacts[0].parts), task.artifacts


@checks.check('files arrive as they were sent')
async def _(mesh):
    whole = FileWithBytes(bytes=base64.b64encode(BYTES).decode(), name='all.bin', mime_type='text/plain')
    named = FileWithUri(uri='https://example.com/f.txt', name='f.txt', mime_type='text/plain')
    parts = [TextPart(text=ECHO), FilePart(file=whole), FilePart(file=named)]
    task = await mesh.send(ECHO, parts=parts)
    equal(task.status.state, TaskState.completed, 'state')
    kept = [part.root.file for part in (await mesh.get(task)).history[0].parts if isinstance(part.root, FilePart)]
    equal([(file.name, file.mime_type) for file in kept], [('all.bin', 'text/plain'), ('f.txt', 'text/plain')], 'files')
    equal(base64.b64decode(kept[0].bytes), BYTES, 'bytes')
    equal(kept[1].uri, named.uri, 'uri')


@checks.check('a message that does not block answers before the task is done')
async def _(mesh):
    await mesh.cancel(await mesh.start_slow())


@checks.check('a stream begins with the task and ends with its completion')
async def _(mesh):
    events = await mesh.stream(ECHO)
    equal(events[0][1], None, 'update beside the first task')
    last = events[-1][1]
    equal((last.status.state, last.final), (TaskState.completed, True), 'last update')


@checks.check('the chunks of an artifact arrive in order and are kept whole')
async def _(mesh):
    chunks, texts = [], []
    async for task, update in mesh.streaming.send_message(message(CHUNKS)):
        if update is not None and update.kind == 'artifact-update':
            chunks.append(update)
            # Now: the SDK folds later chunks into the first.
            texts.append(text_of(update.artifact))
    equal(len(chunks), CHUNK_COUNT, 'number of chunks')
    equal([bool(chunk.append) for chunk in chunks], [False] + [True] * (CHUNK_COUNT - 1), 'append')
    equal([bool(chunk.last_chunk) for chunk in chunks], [False] * (CHUNK_COUNT - 1) + [True], 'lastChunk')
    equal(text_of((await mesh.get(task)).artifacts[0]), '\n'.join(texts), 'kept text')


@checks.check('a failed task says why')
async def _(mesh):
    task = await mesh.send(FAIL)
    equal(task.status.state, TaskState.failed, 'state')
    assert text_of(task.status.message), 'the status has no text'


@checks.check('a task can be read again, with as much history as is asked for')
async def _(mesh):
    sent = await mesh.send(ECHO)
    task = await mesh.get(sent)
    equal((task.id, task.context_id, task.status.state), (sent.id, sent.context_id, TaskState.completed), 'task')
    equal((text_of(task.history[0]), task.history[0].role), (ECHO, Role.user), 'first message')
    equal(len((await mesh.get(sent, 1)).history), 1, 'history of length 1')
    equal(len((await mesh.get(sent, 0)).history), len(task.history), 'history of length 0, which is no limit')


@checks.check('a slow task can be canceled')
async def _(mesh):
    task = await mesh.start_slow()
    equal((await mesh.cancel(task)).status.state, TaskState.canceled, 'state')
    equal((await mesh.get(task)).status.state, TaskState.canceled, 'state')


@checks.check('a subscriber sees the running task, then its events to the end')
async def _(mesh):
    task = await mesh.start_slow()
    stream = mesh.streaming.resubscribe(TaskIdParams(id=task.id))
    snapshot, update = await anext(stream)
    equal((snapshot.id, update), (task.id, None), 'first event')
    rest = asyncio.create_task(drain(stream))
    await mesh.cancel(task)
    events = await rest
    last = events[-1][1]
    equal((last.status.state, last.final), (TaskState.canceled, True), 'last update')


@checks.check('a task that asks for input is completed by the answer')
async def _(mesh):
    asked = await mesh.send(ASK)
    equal(asked.status.state, TaskState.input_required, 'state')
    assert text_of(asked.status.message), 'the question is empty'
    answered = await mesh.send('blue', task=asked)
    equal((answered.id, answered.context_id), (asked.id, asked.context_id), 'ids')
    equal(answered.status.state, TaskState.completed, 'state')


@checks.check('push configurations are kept, or refused as not supported')
async def _(mesh):
    task = await mesh.start_slow()
    inner = PushNotificationConfig(id='p-1', url='https://webhook.invalid/hook', token='t')
    config = TaskPushNotificationConfig(task_id=task.id, push_notification_config=inner)
    if mesh.card.capabilities.push_notifications:
        for kept in (
            await mesh.unary.set_task_callback(config),
            await mesh.unary.get_task_callback(
                GetTaskPushNotificationConfigParams(id=task.id, push_notification_config_id='p-1')
            ),
        ):
            equal((kept.task_id, kept.push_notification_config.id), (task.id, 'p-1'), 'ids')
            equal(kept.push_notification_config.url, inner.url, 'url')
    else:
        await mesh.fails(-32003, 400, grpc.StatusCode.FAILED_PRECONDITION, mesh.unary.set_task_callback(config))
    await mesh.cancel(task)


@checks.check('an unknown task is not found')
async def _(mesh):
    unknown = await mesh.send(ECHO)
    unknown.id = str(uuid.uuid4())
    missing = (-32001, 404, grpc.StatusCode.NOT_FOUND)
    await mesh.fails(*missing, mesh.get(unknown))
    await mesh.fails(*missing, mesh.cancel(unknown))


@checks.check('a completed task cannot be canceled')
async def _(mesh):
    task = await mesh.send(ECHO)
    await mesh.fails(-32002, 400, grpc.StatusCode.FAILED_PRECONDITION, mesh.cancel(task))


async def main(base_url, transports):
    failed = 0
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, base_url).get_agent_card()
        for transport in transports:
            print(f'# {transport.value}', flush=True)
            failed += await checks.run(Mesh(card, http, transport))
    return failed


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit('usage: check_mesh.py BASE_URL [JSONRPC|HTTP+JSON|GRPC]...')
    chosen = [TransportProtocol(name) for name in sys.argv[2:]] or TRANSPORTS
    sys.exit(1 if asyncio.run(main(sys.argv[1], chosen)) else 0)
