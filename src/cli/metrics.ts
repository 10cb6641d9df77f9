import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { statuses } from '../apply/result.js';
import { type KindName, kindNames } from '../base/kind-names.js';
import { version } from '../base/version.js';
import { isDrifted } from '../plan/drift.js';
import type { Plan } from '../plan/plan.js';
import { outcomes } from '../report/watch-cycle.js';
import type { AttemptInfo } from '../server/call.js';
import { type Cycle, type CyclePlan, succeeded } from '../session/watch/cycle.js';
import type { Health, Verdict } from '../session/watch/health.js';
import { type HttpResponse, listen } from './listen.js';
import type { ListenAddress } from './option-values.js';

const actions = ['create', 'update', 'delete', 'regenerate', 'adopt', 'blocked'] as const;

/** Metrics of a watch, as text for Prometheus. Labels have few distinct values, so they never contain an address, a name or a message. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #pending = this.#gauge('pending_changes', 'Pending changes of the last plan.', ['kind', 'action']);
  readonly #drifted = this.#gauge('drifted_objects', 'Objects with drift, not corrected yet.', ['kind']);
  readonly #declared = this.#gauge('declared_objects', 'Objects declared at the last plan.', ['kind']);
  readonly #lastSuccess = this.#gauge(
    'last_success_timestamp_seconds',
    'Unix time of the end of the last successful turn; 0 before the first.',
    [],
  );
  readonly #turns = this.#counter('turns_total', 'Turns by outcome.', ['outcome']);
  readonly #problems = this.#counter('problems_total', 'Errors of turns, by code.', ['code']);
  readonly #durations = new Histogram({
    name: 'idops_turn_duration_seconds',
    help: 'Duration of turns, by phase: plan or apply.',
    labelNames: ['phase'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
    registers: [this.#registry],
  });
  readonly #requests = this.#counter(
    'requests_total',
    'Attempts of requests, by operation of the API (other for tokens and further paths), method and class of status (none without an answer).',
    ['operation', 'method', 'status'],
  );
  readonly #retries = this.#counter('retries_total', 'Retried requests.', []);
  readonly #changes = this.#counter('changes_total', 'Applied changes, by status.', ['kind', 'status']);

  /** `interval` is in seconds. */
  constructor(interval: number) {
    this.#gauge('build_info', 'The version of idops.', ['version']).set({ version }, 1);
    this.#gauge('interval_seconds', 'Seconds between the starts of two turns.', []).set(interval);
    // Counters start at 0, so that rate() sees the first event.
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

  countAttempt({ operation, method, status }: AttemptInfo): void {
    const answered = status === null ? 'none' : `${Math.floor(status / 100)}xx`;
    this.#requests.inc({ operation: operation ?? 'other', method, status: answered });
  }

  countRetry(): void {
    this.#retries.inc();
  }

  recordPlan({ plan, declared, seconds }: CyclePlan): void {
    this.#durations.observe({ phase: 'plan' }, seconds);
    for (const name of kindNames)
      this.#declared.set({ kind: name }, declared.filter(({ kind }) => kind === name).length);
    this.#setPending(plan.changes);
  }

  /** Called at the end of a cycle; `now` is the Unix time in seconds. */
  recordCycle({ outcome, plan, result, problems, durations }: Cycle, now = Date.now() / 1000): void {
    this.#turns.inc({ outcome });
    if (succeeded(outcome)) this.#lastSuccess.set(now);
    for (const { code, severity } of problems) if (severity === 'error') this.#problems.inc({ code });
    if (durations.apply !== null) this.#durations.observe({ phase: 'apply' }, durations.apply);
    for (const { address, status } of result?.results ?? []) {
      const kind = kindNames.find((name) => address.startsWith(`${name}/`)) ?? 'other';
      this.#changes.inc({ kind, status });
    }
    if (plan !== null) {
      const applied = new Set(
        result?.results.flatMap(({ address, status }) => (status === 'applied' ? address : [])),
      );
      this.#setPending(plan.changes.filter(({ address }) => !applied.has(address)));
    }
  }

  #setPending(changes: Plan['changes']): void {
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

export type MetricsServer = Awaited<ReturnType<typeof serve>>;

/** Serves health and metrics. Throws a ProblemsError (`port-unavailable`) if it can't listen there. */
export async function serve(where: ListenAddress, health: Health, interval: number) {
  const metrics = new Metrics(interval);
  const listening = await listen(where, {
    '/healthz': () => healthResponse(health.ready()),
    '/livez': () => healthResponse(health.alive()),
    '/metrics': async () => ({ status: 200, type: metrics.type, body: await metrics.text() }),
  });
  return { metrics, ...listening };
}

function healthResponse(verdict: Verdict): HttpResponse {
  const body = verdict.fine ? { status: 'ok' } : { status: 'failing', reason: verdict.reason };
  return { status: verdict.fine ? 200 : 503, type: 'application/json', body: `${JSON.stringify(body)}\n` };
}
