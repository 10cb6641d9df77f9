/** One thing that was looked at. */
export interface Check {
  /** `address`, `tls`, `credentials`, `scope clients:manage:all`, `profile` and the like. */
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly hint: string | null;
}

/** What is fine. */
export function ok(name: string, message: string): Check {
  return { name, status: 'ok', message, hint: null };
}

/** What a person should know, and stops nothing. */
export function warn(name: string, message: string, hint: string | null): Check {
  return { name, status: 'warn', message, hint };
}

/** What is in the way. */
export function fail(name: string, message: string, hint: string | null): Check {
  return { name, status: 'fail', message, hint };
}
