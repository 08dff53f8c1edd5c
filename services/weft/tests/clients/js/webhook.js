// A webhook on this machine: keeps each call that it gets, and answers that it is taken.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

export class Webhook {
  #calls = [];
  #waiting = [];
  #server = createServer(async (request, answer) => {
    const call = { headers: request.headers, body: await text(request) };
    const waiter = this.#waiting.shift();
    waiter ? waiter(call) : this.#calls.push(call);
    answer.end();
  });

  static async open() {
    const hook = new Webhook();
    await once(hook.#server.listen(0, '127.0.0.1'), 'listening');
    return hook;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}/hook`;
  }

  /** The next call, in the order of arrival. */
  next() {
    return this.#calls.length ? this.#calls.shift() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
