import type { Outcome } from '../../src/apply/attempt-outcome.js';
import { type Executed, type ExecuteOptions, execute } from '../../src/apply/execute.js';
import { noProgress } from '../../src/base/progress.js';
import type { Fields } from '../../src/base/values.js';
import { kindOf } from '../../src/kinds/index.js';
import type { Kind } from '../../src/kinds/kind.js';
import type { Change } from '../../src/plan/plan.js';
import { noReplan, type Replan } from '../../src/plan/replan.js';
import type { Organization, Template } from '../../src/server/answers.js';
import { type Expired, type FailureFacts, ServerFailure, type Withheld } from '../../src/server/failures.js';
import { operationPath, operations, type WriteRequest } from '../../src/server/operations.js';
import type { ProbeResult } from '../../src/server/recognise.js';
import { documented } from '../plan/fixtures.js';
import { planOf } from '../report/plans.js';

/** The fake server's response to a write: fields, or a failure. */
export type Respond = (
  request: WriteRequest,
  number: number,
  tried: number | undefined,
) => Fields | ServerFailure | Expired | Withheld | Promise<Fields>;

export interface FakeOptions {
  readonly respond: Respond;
  readonly templates?: (type: string) => Template | null;
  readonly organizations?: readonly Organization[];
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  readonly replan?: Replan;
  readonly notBefore?: number;
  readonly probed?: ProbeResult;
  /** Called before each journal line is written; throws to simulate a failing disk. */
  readonly disk?: (line: string) => void | Promise<void>;
}

export interface Ran extends Executed {
  /** Writes, reads and journal lines, in chronological order. */
  readonly log: readonly string[];
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** The highest number of simultaneous writes. */
  readonly busiest: number;
  /** The status of each change, by address. */
  readonly statuses: { readonly [address: string]: string };
}

/** Executes a plan with a fake server and disk. */
export async function run(changes: readonly Change[], options: FakeOptions): Promise<Ran> {
  const log: string[] = [];
  const outcomes = new Map<string, Outcome>();
  let sent = 0;
  let busy = 0;
  let busiest = 0;
  const line = async (text: string): Promise<void> => {
    const written = options.disk?.(text);
    if (written !== undefined) await written;
    log.push(text);
  };
  const executeOptions: ExecuteOptions = {
    reader: {
      listOrganizations: async (page) => {
        log.push(`GET organizations ${page}`);
        return { rows: options.organizations ?? [], totalPages: 1 };
      },
      showTemplate: async (_, type) => {
        log.push(`GET ${type}`);
        return options.templates?.(type) ?? null;
      },
      showExtra: () => Promise.reject(new Error('nobody asked for this')),
      listExtra: () => Promise.reject(new Error('nobody asked for this')),
    },
    writer: {
      async send(request, _permit, _freshUntil, tried) {
        sent += 1;
        busy += 1;
        busiest = Math.max(busiest, busy);
        log.push(`${operations[request.operation].method} ${lastOf(request)}`);
        try {
          const answer = await options.respond(request, sent, tried);
          await Promise.resolve();
          if (answer instanceof Error) throw answer;
          return { status: 200, attempts: 1, data: answer };
        } finally {
          busy -= 1;
        }
      },
    },
    permit: () => ({ confirm: async () => {}, holds: () => true }),
    profile: documented,
    recorder: {
      async sending(change, request) {
        await line(`sending ${change.address}${request === null ? ' nothing' : ''}`);
      },
      async answered(change) {
        await line(`answered ${change.address}`);
      },
      async settled(change, outcome) {
        await line(`settled ${change.address}`);
        outcomes.set(change.address, outcome);
      },
    },
    concurrency: options.concurrency ?? 10,
    progress: noProgress,
    replan: options.replan ?? noReplan,
    pause: async () => {},
    recognise: async () => {
      log.push('GET nowhere');
      return options.probed ?? { kind: 'plain' };
    },
    ...(options.notBefore === undefined ? {} : { notBefore: options.notBefore }),
    signal: options.signal ?? new AbortController().signal,
  };
  const executed = await execute(planOf(changes), executeOptions);
  return {
    ...executed,
    log,
    outcomes,
    busiest,
    statuses: Object.fromEntries(executed.results.map(({ address, status }) => [address, status])),
  };
}

function lastOf({ operation, params }: WriteRequest): string {
  return operationPath(operation, params).replace(/^\/api\//, '');
}

/** A failure as the transport throws it, for a request of the kind. */
export function failure(kind: Kind, parts: Partial<FailureFacts>): ServerFailure {
  return new ServerFailure({
    kind: 'server-error',
    operation: 'updateUser',
    title: `update ${kind.noun}`,
    method: 'PATCH',
    path: '/api/somewhere',
    scope: kind.scope,
    origin: 'https://id.example.com',
    status: 500,
    serverMessage: null,
    attempts: 1,
    retryAfter: null,
    sent: true,
    reason: null,
    detail: null,
    timeout: 30,
    ...parts,
  });
}

export const kinds = {
  user: kindOf('User'),
  organization: kindOf('Organization'),
  keyPair: kindOf('KeyPair'),
  template: kindOf('EmailTemplate'),
  client: kindOf('Client'),
};
