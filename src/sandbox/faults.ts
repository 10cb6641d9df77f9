import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, send } from './http.js';
import type { Intercept } from './options.js';
import { Dropped } from './pool.js';
import { Cut } from './work.js';

/** The work for a request, for a fault to control. */
export interface Doing {
  /** Does the work, including its latency. */
  work(): Promise<Answer>;
  /** Only waits for the latency. */
  idle(): Promise<void>;
  /** Takes the whole server down for that many milliseconds. */
  restart(ms: number): void;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
}

/** Does the work for a request with an injected fault. Returns the status of the answer; null if there was none. */
export async function answerWithFault(fault: Intercept | undefined, response: ServerResponse, doing: Doing) {
  try {
    return await answer(fault, response, doing);
  } catch (error) {
    if (error instanceof Cut) {
      response.socket?.destroy();
      return null;
    }
    if (error instanceof Dropped) {
      const message = `** (DBConnection.ConnectionError) ${error.message}`;
      return sent(response, { status: 500, body: { code: 'INTERNAL_SERVER_ERROR', message } });
    }
    throw error;
  }
}

async function answer(fault: Intercept | undefined, response: ServerResponse, doing: Doing) {
  const { work, idle, restart, signal } = doing;
  switch (fault?.kind) {
    case undefined:
    case 'cut':
    case 'drop':
      return sent(response, await work());
    case 'answer':
      await idle();
      return sent(response, fault);
    case 'replace': {
      const { status } = await work();
      return sent(response, { ...fault, status: fault.status ?? status });
    }
    case 'reset':
      if (fault.when === 'after') await work();
      response.socket?.resetAndDestroy();
      return null;
    case 'stall':
      if (fault.when === 'after') await work();
      return null;
    case 'truncate': {
      const answer = await work();
      send(response, answer, 'half');
      return answer.status;
    }
    case 'delay':
      await wait(fault.ms, undefined, { signal });
      return sent(response, await work());
    case 'restart':
      restart(fault.ms);
      return null;
  }
}

function sent(response: ServerResponse, answer: Answer): number {
  send(response, answer);
  return answer.status;
}
