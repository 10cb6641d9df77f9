import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, send } from './http.js';
import type { Intercept } from './options.js';
import { PoolExhausted } from './pool.js';
import { ConnectionCut } from './work.js';

/** What a fault can do with a request. */
export interface RequestControl {
  /** Processes the request, with its latency. */
  handle(): Promise<Answer>;
  /** Waits for the latency without processing the request. */
  wait(): Promise<void>;
  /** Takes the whole server down for this many milliseconds. */
  restart(ms: number): void;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

/** Answers a request, with a fault if there is one. Returns the status; null if nothing is sent. */
export async function answerWithFault(
  fault: Intercept | undefined,
  response: ServerResponse,
  control: RequestControl,
) {
  try {
    return await inject(fault, response, control);
  } catch (error) {
    if (error instanceof ConnectionCut) {
      response.socket?.destroy();
      return null;
    }
    if (error instanceof PoolExhausted) {
      const message = `** (DBConnection.ConnectionError) ${error.message}`;
      return send(response, { status: 500, body: { code: 'INTERNAL_SERVER_ERROR', message } });
    }
    throw error;
  }
}

async function inject(fault: Intercept | undefined, response: ServerResponse, control: RequestControl) {
  const { handle, wait: waitForLatency, restart, signal } = control;
  switch (fault?.kind) {
    case undefined:
    case 'cut':
    case 'drop':
      return send(response, await handle());
    case 'answer':
      await waitForLatency();
      return send(response, fault);
    case 'replace': {
      const { status } = await handle();
      return send(response, { ...fault, status: fault.status ?? status });
    }
    case 'reset':
      if (fault.when === 'after') await handle();
      response.socket?.resetAndDestroy();
      return null;
    case 'stall':
      if (fault.when === 'after') await handle();
      return null;
    case 'truncate':
      return send(response, await handle(), 'half');
    case 'delay':
      await wait(fault.ms, undefined, { signal });
      return send(response, await handle());
    case 'restart':
      restart(fault.ms);
      return null;
  }
}
