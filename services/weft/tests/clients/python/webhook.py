"""A webhook on this machine: keeps each call that it gets, and answers that it is taken."""

import asyncio


class Webhook:
    """Listens while it is entered. `calls` queues (headers in lower case, body) in the order of arrival."""

    async def __aenter__(self):
        self.calls = asyncio.Queue()
        self._server = await asyncio.start_server(self._serve, '127.0.0.1', 0)
        self.url = f'http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/hook'
        return self

    async def __aexit__(self, *_):
        self._server.close()

    async def _serve(self, reader, writer):
        try:
            while await reader.readline():
                lines = (await reader.readuntil(b'\r\n\r\n')).decode().split('\r\n')
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(':') for line in lines)}
                body = await reader.readexactly(int(headers['content-length']))
                self.calls.put_nowait((headers, body))
                writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the caller hung up, or the check is over
        finally:
            writer.close()
