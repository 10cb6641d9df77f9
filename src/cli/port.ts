import { error, ProblemsError } from '../base/problems.js';
import { systemErrorText } from '../base/system-errors.js';

const listening = new Set(['bind', 'getaddrinfo', 'listen']);

/** The problem of a port that a server can't listen on; undefined for any other failure. */
export function portProblem(
  failure: unknown,
  port: number,
  {
    host,
    hint = 'name another one with --port, or leave it out for a free one',
  }: { readonly host?: string; readonly hint?: string } = {},
): ProblemsError | undefined {
  if (!(failure instanceof Error && 'syscall' in failure && listening.has(String(failure.syscall))))
    return undefined;
  const where = host === undefined ? '' : ` of ${host}`;
  return new ProblemsError(
    [error('port-unavailable', `port ${port}${where} can't be used: ${systemErrorText(failure)}`, [], hint)],
    { cause: failure },
  );
}
