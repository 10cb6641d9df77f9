import { error, ProblemsError } from '../base/problems.js';

const reasons: { readonly [code: string]: string } = {
  EADDRINUSE: 'another program listens on it',
  EACCES: 'this user may not listen on it',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host could not be looked up',
};

/** What is said of a port that a server can't listen on; undefined for any other failure. */
export function portProblem(
  failure: unknown,
  port: number,
  {
    host,
    hint = 'name another one with --port, or leave it out for a free one',
  }: { readonly host?: string; readonly hint?: string } = {},
): ProblemsError | undefined {
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : '';
  const reason = Object.hasOwn(reasons, code) ? reasons[code] : undefined;
  if (reason === undefined) return undefined;
  const where = host === undefined ? '' : ` of ${host}`;
  return new ProblemsError(
    [error('port-unavailable', `port ${port}${where} can't be used: ${reason} (${code})`, [], hint)],
    { cause: failure },
  );
}
