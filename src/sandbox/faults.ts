import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, send } from './http.js';
import type { Intercept } from './options.js';
import { Dropped } from './pool.js';
import { Cut } from './work.js';

/** A request's work, as a fault lets it happen. */
export interface Doing {
  /** Does the work, to the end of its latency. */
  work(): Promise<Answer>;
  /** Waits the latency alone. */
  idle(): Promise<void>;
  /** Takes the whole server down for that time. */
  restart(ms: number): void;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
}

/** Does a request's work under an injected fault. Returns the status answered, or null if there is none. */
export async function answerWithFault(
  fault: Intercept | undefined,
  response: ServerResponse,
  doing: Doing,
): Promise<number | null> {
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

async function answer(
  fault: Intercept | undefined,
  response: ServerResponse,
  { work, idle, restart, signal }: Doing,
): Promise<number | null> {
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
