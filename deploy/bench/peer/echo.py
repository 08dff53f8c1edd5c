"""An echo agent on the official Python SDK with its in-memory store, JSON-RPC at /a2a: echo.py [HOST:PORT]"""

import asyncio
import socket
import sys

import uvicorn

from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette


class Echo(AgentExecutor):
    """Answers every message with one artifact that repeats its parts, then completes."""

    async def execute(self, context, event_queue):
        task = context.current_task
        if not task:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        await updater.add_artifact(list(context.message.parts), name='echo', last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(url):
    return AgentCard(
        name='echo',
        description='Repeats what it is told',
        version='1.0.0',
        supported_interfaces=[AgentInterface(url=url, protocol_binding='JSONRPC', protocol_version='1.0')],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='echo', name='echo', description='Repeats what it is told', tags=['echo'])],
    )


async def main(address):
    host, _, port = address.rpartition(':')
    # The protocol is named because asyncio sets TCP_NODELAY only where it sees it.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind((host, int(port)))
    url = f'http://{host}:{listener.getsockname()[1]}/a2a'
    agent_card = card(url)
    handler = DefaultRequestHandler(agent_executor=Echo(), task_store=InMemoryTaskStore(), agent_card=agent_card)
    app = Starlette(routes=[*create_agent_card_routes(agent_card), *create_jsonrpc_routes(handler, rpc_url='/a2a')])
    print(url, flush=True)
    config = uvicorn.Config(app, log_level='warning', access_log=False)
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == '__main__':
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else '127.0.0.1:0'))
