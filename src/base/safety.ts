/** How many users must keep a scope or a role. */
export interface Keep {
  readonly scope?: string | undefined;
  readonly role?: string | undefined;
  readonly at_least: number;
}

/** What changes an approver is asked for. */
export const approvedFor = ['privileged', 'destructive', 'protected'] as const;

/** Who must approve a kind of change: one of the users, or one member of one of the teams. */
export interface Approvers {
  readonly for: (typeof approvedFor)[number];
  readonly teams?: readonly string[] | undefined;
  readonly users?: readonly string[] | undefined;
}

/** The settings of `safety`, with their defaults. */
export interface Safety {
  readonly maxDestructive: number;
  readonly maxPrivileged: number;
  /** Infinity if there is no limit. */
  readonly maxChanges: number;
  /** Patterns of names of scopes; after `role:`, of roles. `*` matches any characters. */
  readonly privileged: readonly string[];
  /** Patterns of addresses that no plan changes. */
  readonly protect: readonly string[];
  readonly keep: readonly Keep[];
  readonly approvers: readonly Approvers[];
}

/** The settings if the configuration has none. */
export const defaultSafety: Safety = {
  maxDestructive: 5,
  maxPrivileged: 0,
  maxChanges: Number.POSITIVE_INFINITY,
  privileged: ['*:manage:all'],
  protect: [],
  keep: [],
  approvers: [],
};
