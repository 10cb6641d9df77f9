import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type KindName, kindNames } from '../base/kind-names.js';
import { version } from '../base/version.js';
import { isDrifted } from '../plan/drift.js';
import type { Plan } from '../plan/plan.js';
import { outcomes } from '../report/outcomes.js';
import type { Try } from '../server/call.js';
import { type Cycle, type CyclePlan, succeeded } from '../session/watch/cycle.js';
import type { Health, Verdict } from '../session/watch/health.js';
import { type Answer, listen } from './listen.js';
import type { ListenAddress } from './option-values.js';

/** What a change may be that isn't made yet. */
const actions = ['update', 'delete', 'regenerate', 'adopt', 'blocked'] as const;
const statuses = ['applied', 'failed', 'not_converged', 'unknown', 'skipped'] as const;

/**
 * What is counted of the turns, as text for Prometheus. Labels are words of idops and of the API, which are few: never an address, a
 * name or a message.
 */
export class Metrics {
  /** One of its own: what is counted of one watch is nobody else's. */
  readonly #registry = new Registry();
  readonly #pending = this.#gauge('pending_changes', 'Changes of the last plan that are not made yet.', [
    'kind',
    'action',
  ]);
  readonly #drifted = this.#gauge(
    'drifted_objects',
    'Objects of the last plan with a field that was changed on the server since idops last knew it, and is not put right yet.',
    ['kind'],
  );
  readonly #declared = this.#gauge(
    'declared_objects',
    'What manifests declared when the last plan was made.',
    ['kind'],
  );
  readonly #lastSuccess = this.#gauge(
    'last_success_timestamp_seconds',
    'When a turn that went well ended for the last time, as Unix time; 0 before the first.',
    [],
  );
  readonly #turns = this.#counter('turns_total', 'Turns by what they came to.', ['outcome']);
  readonly #problems = this.#counter('problems_total', 'Errors that turns ended with, by their code.', [
    'code',
  ]);
  readonly #durations = new Histogram({
    name: 'idops_turn_duration_seconds',
    help: 'What turns took, by phase: plan from the beginning to the plan, apply for carrying it out.',
    labelNames: ['phase'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
    registers: [this.#registry],
  });
  readonly #requests = this.#counter(
    'requests_total',
    'Tries of requests, by the operation of the API (other for what it does not have, and for tokens), method and class of status (none without an answer).',
    ['operation', 'method', 'status'],
  );
  readonly #retries = this.#counter('retries_total', 'Requests that were sent again.', []);
  readonly #changes = this.#counter(
    'changes_total',
    'Changes that were carried out, by what became of them.',
    ['kind', 'status'],
  );

  /** `interval` is the one between turns, in seconds. */
  constructor(interval: number) {
    this.#gauge('build_info', 'The version of idops.', ['version']).set({ version }, 1);
    this.#gauge('interval_seconds', 'Seconds from the beginning of a turn to that of the next.', []).set(
      interval,
    );
    // A series that comes with its first event hides that event from rate().
    for (const outcome of outcomes) this.#turns.inc({ outcome }, 0);
    for (const kind of kindNames) {
      for (const action of actions) this.#pending.set({ kind, action }, 0);
      for (const status of statuses) this.#changes.inc({ kind, status }, 0);
      this.#drifted.set({ kind }, 0);
      this.#declared.set({ kind }, 0);
    }
  }

  get type(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  tried({ operation, method, status }: Try): void {
    const answered = status === null ? 'none' : `${Math.floor(status / 100)}xx`;
    this.#requests.inc({ operation: operation ?? 'other', method, status: answered });
  }

  retried(): void {
    this.#retries.inc();
  }

  /** A turn has its plan, of which nothing is made yet. */
  planned({ plan, declared, seconds }: CyclePlan): void {
    this.#durations.observe({ phase: 'plan' }, seconds);
    for (const name of kindNames)
      this.#declared.set({ kind: name }, declared.filter(({ kind }) => kind === name).length);
    this.#left(plan.changes);
  }

  /** A turn is over; `now` is the Unix time in seconds. */
  ended({ outcome, plan, result, problems, took }: Cycle, now: number): void {
    this.#turns.inc({ outcome });
    if (succeeded(outcome)) this.#lastSuccess.set(now);
    for (const { code, severity } of problems) if (severity === 'error') this.#problems.inc({ code });
    if (took.apply !== null) this.#durations.observe({ phase: 'apply' }, took.apply);
    for (const { address, status } of result?.results ?? [])
      this.#changes.inc({ kind: kindIn(address), status });
    if (plan !== null) {
      const applied = new Set(
        result?.results.flatMap(({ address, status }) => (status === 'applied' ? address : [])),
      );
      this.#left(plan.changes.filter(({ address }) => !applied.has(address)));
    }
  }

  #left(changes: Plan['changes']): void {
    const count = (kind: KindName, isOne: (change: Plan['changes'][number]) => boolean): number =>
      changes.filter((change) => change.kind === kind && isOne(change)).length;
    for (const kind of kindNames) {
      for (const action of actions)
        this.#pending.set(
          { kind, action },
          count(kind, (change) => change.action === action),
        );
      this.#drifted.set({ kind }, count(kind, isDrifted));
    }
  }

  #gauge<L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> {
    return new Gauge({ name: `idops_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name: `idops_${name}`, help, labelNames, registers: [this.#registry] });
  }
}

function kindIn(address: string): string {
  return kindNames.find((name) => address.startsWith(`${name}/`)) ?? 'other';
}

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
