import { parseUrl } from '../base/parse-url.js';
import { type Parsed, type Parser, readJson, secretTextsIn } from './answers.js';
import type { Call, TransportOptions } from './call.js';
import { type ExchangeOutcome, firstHeader } from './exchange.js';
import { type FailureFacts, kindOfStatus } from './failures.js';
import { messageIn } from './messages.js';
import { errorMembers } from './recognise.js';
import { isTransientFailure, retryAfterSeconds } from './retry.js';

/** What went wrong in an attempt. */
export type ProblemFacts = Pick<FailureFacts, 'kind' | 'status'> &
  Partial<Pick<FailureFacts, 'serverMessage' | 'reason' | 'detail' | 'retryAfter' | 'members'>>;

/** The verdict on an attempt. */
export type AttemptVerdict<T> =
  | { readonly value: T; readonly status: number }
  | {
      readonly problem: ProblemFacts;
      /** Whether it may have reached the server. */
      readonly sent: boolean;
      /** Whether a retry may help. */
      readonly isTransient: boolean;
    };

/** Statuses of an overloaded server: an exhausted database pool is a 500, a gateway's limit a 503. */
const overloadStatuses: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** Whether fewer concurrent requests may help. */
export function isOverloaded<T>(verdict: AttemptVerdict<T>): boolean {
  if ('value' in verdict) return false;
  const { kind, status } = verdict.problem;
  const isCutOff = kind === 'lost' || (kind === 'answer' && verdict.isTransient);
  return isCutOff || (status !== null && overloadStatuses.has(status));
}

/** The options of a transport that judging needs. */
type JudgeOptions = Pick<TransportOptions, 'baseUrl' | 'onSecret'>;

/** Judges the outcome of an attempt. */
export function judgeResponse<T>(
  call: Call<T>,
  outcome: ExchangeOutcome,
  options: JudgeOptions,
): AttemptVerdict<T> {
  const isTransient = isTransientFailure(outcome);
  if (outcome.status === null) {
    const { sent, reason } = outcome;
    return { problem: { kind: sent ? 'lost' : 'unreachable', status: null, reason }, sent, isTransient };
  }
  const { status, headers, body, incompleteReason } = outcome;
  if (call.whenMissing !== undefined && (call.missingStatuses ?? [404]).includes(status)) {
    return { value: call.whenMissing, status };
  }
  if (status === 204 && call.whenEmpty !== undefined) return { value: call.whenEmpty, status };
  if (status >= 200 && status < 300) return judgeBody(call.parse, outcome, options);
  const document = incompleteReason === null ? read(body, options) : { wrong: incompleteReason };
  const problem: ProblemFacts = {
    kind: kindOfStatus(status),
    status,
    serverMessage: 'value' in document ? messageIn(document.value) : null,
    members: 'value' in document ? errorMembers(document.value) : [],
    detail: status < 400 ? redirectTarget(firstHeader(headers, 'location'), options.baseUrl.href) : null,
    retryAfter: retryAfterSeconds(headers),
  };
  return {
    problem,
    sent: true,
    isTransient: isTransient || call.transientStatuses?.includes(status) === true,
  };
}

function judgeBody<T>(
  parse: Parser<T>,
  { status, headers, body, incompleteReason }: Extract<ExchangeOutcome, { readonly status: number }>,
  options: JudgeOptions,
): AttemptVerdict<T> {
  const unusable = (facts: Partial<ProblemFacts>, isTransient = false): AttemptVerdict<T> => ({
    problem: { kind: 'answer', status, ...facts },
    sent: true,
    isTransient,
  });
  if (incompleteReason !== null)
    return unusable({ reason: incompleteReason }, incompleteReason !== 'too-large');
  const document = body.length === 0 ? { wrong: 'empty' } : read(body, options);
  if ('wrong' in document) {
    const encoding = firstHeader(headers, 'content-encoding');
    return encoding === undefined
      ? unusable({ reason: document.wrong, detail: firstHeader(headers, 'content-type') ?? null })
      : unusable({ reason: 'encoded', detail: encoding });
  }
  const parsed = parse(document.value);
  if (!('wrong' in parsed)) return { value: parsed.value, status };
  const { wrong, reason = 'wrong-type' } = parsed;
  return unusable({ reason, detail: wrong, serverMessage: messageIn(document.value) });
}

/** Reads JSON, and reports its secrets before anything can show them. */
function read(body: Buffer, { onSecret }: JudgeOptions): Parsed<unknown> {
  const document = readJson(body);
  if ('value' in document) for (const secret of secretTextsIn(document.value)) onSecret(secret, 'answer');
  return document;
}

/** The target of a redirect, without the query, which may contain a secret. */
function redirectTarget(location: string | undefined, base: string): string | null {
  const target = location === undefined ? undefined : parseUrl(location, base);
  return target === undefined || target.origin === 'null' ? null : `${target.origin}${target.pathname}`;
}
