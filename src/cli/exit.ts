export const exit = {
  done: 0,
  failed: 1,
  /** `plan --detailed-exitcode`: there are changes, none blocked. */
  changes: 2,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exit)[keyof typeof exit];

export const exitMeanings: { readonly [name in keyof typeof exit]: string } = {
  done: 'done; plan --detailed-exitcode: nothing to change',
  failed:
    'failed: bad input, server or network error, something blocked, not applied or not converged; or the answer to a question was no',
  changes: 'plan --detailed-exitcode: there are changes, none blocked',
  interrupted:
    'interrupted by Ctrl-C or SIGTERM: requests in flight were finished and recorded, nothing new was started',
};
