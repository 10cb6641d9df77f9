/** What the exit code of a command says. */
export const exit = {
  done: 0,
  failed: 1,
  /** `plan --detailed-exitcode`: there are changes, none blocked. */
  changes: 2,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exit)[keyof typeof exit];
