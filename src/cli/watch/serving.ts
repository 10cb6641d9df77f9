import type { Try } from '../../server/call.js';
import type { Cycle, CyclePlan } from '../../session/watch/cycle.js';
import type { Health, Verdict } from '../../session/watch/health.js';
import type { ListenAddress } from './address.js';
import { type Answer, listen } from './listen.js';
import { Metrics } from './metrics.js';

/** What is served of a watch to whoever looks after it. */
export interface Serving {
  readonly address: string;
  tried(made: Try): void;
  retried(): void;
  planned(made: CyclePlan): void;
  ended(turn: Cycle): void;
  close(): Promise<void>;
}

/** Serves health and metrics. Throws a ProblemsError (`port-unavailable`) where it can't listen there. */
export async function serve(where: ListenAddress, health: Health, interval: number): Promise<Serving> {
  const metrics = new Metrics(interval);
  const { address, close } = await listen(where, {
    '/healthz': () => told(health.ready()),
    '/livez': () => told(health.alive()),
    '/metrics': async () => ({ status: 200, type: metrics.type, body: await metrics.text() }),
  });
  return {
    address,
    tried: (made) => metrics.tried(made),
    retried: () => metrics.retried(),
    planned: (made) => metrics.planned(made),
    ended: (turn) => metrics.ended(turn, Date.now() / 1000),
    close,
  };
}

function told(verdict: Verdict): Answer {
  const body = verdict.fine ? { status: 'ok' } : { status: 'failing', reason: verdict.reason };
  return { status: verdict.fine ? 200 : 503, type: 'application/json', body: `${JSON.stringify(body)}\n` };
}
