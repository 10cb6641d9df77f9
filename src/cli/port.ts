import { error, ProblemsError } from '../base/problems.js';

/** What is said of a port that a server can't listen on; undefined for any other failure. */
export function portProblem(failure: unknown, port: number): ProblemsError | undefined {
  const code = failure instanceof Error && 'code' in failure ? failure.code : undefined;
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return undefined;
  const why =
    code === 'EADDRINUSE'
      ? 'another program listens on it (EADDRINUSE)'
      : 'this user may not listen on it (EACCES)';
  return new ProblemsError(
    [
      error(
        'port-unavailable',
        `port ${port} can't be used: ${why}`,
        [],
        'name another one with --port, or leave it out for a free one',
      ),
    ],
    { cause: failure },
  );
}
