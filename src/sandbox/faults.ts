import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, send } from './http.js';
import type { Intercept } from './options.js';

/**
 * Does a request's work under an injected fault. Returns the status answered, or null if there is none.
 * `signal` ends what would otherwise never end.
 */
export async function answerWithFault(
  fault: Intercept | undefined,
  response: ServerResponse,
  work: () => Promise<Answer>,
  signal: AbortSignal,
): Promise<number | null> {
  switch (fault?.kind) {
    case undefined:
      return sent(response, await work());
    case 'answer':
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
  }
}

function sent(response: ServerResponse, answer: Answer): number {
  send(response, answer);
  return answer.status;
}
