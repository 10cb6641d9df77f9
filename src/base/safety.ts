/** How many users must keep a scope or a role. */
export interface KeepRule {
  readonly scope?: string | undefined;
  readonly role?: string | undefined;
  readonly at_least: number;
}

/** The kinds of change that may need an approver. */
export const approvalReasons = ['privileged', 'destructive', 'protected'] as const;

/** Who must approve a kind of change: one of the users, or one member of one of the teams. */
export interface ApproverRule {
  readonly for: (typeof approvalReasons)[number];
  readonly teams?: readonly string[] | undefined;
  readonly users?: readonly string[] | undefined;
}

/** The settings of `safety`, with their defaults. */
export interface Safety {
  /** How many destructive changes a run may make. */
  readonly maxDestructive: number;
  /** How many privileged changes a run may make. */
  readonly maxPrivileged: number;
  /** Infinity if there is no limit. */
  readonly maxChanges: number;
  /** Patterns of names of scopes; after `role:`, of roles. `*` matches any characters. */
  readonly privileged: readonly string[];
  /** Patterns of addresses that no plan changes. */
  readonly protect: readonly string[];
  /** How many users must keep a scope or a role. */
  readonly keep: readonly KeepRule[];
  /** Who must approve a kind of change before the action applies it. */
  readonly approvers: readonly ApproverRule[];
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

/** The stricter of two versions of the settings, setting by setting. */
export function stricter(one: Safety, other: Safety): Safety {
  const union = <T>(key: (safety: Safety) => readonly T[]): readonly T[] => {
    const all = [one, other].flatMap(key).map((setting) => [JSON.stringify(setting), setting] as const);
    return [...new Map(all).values()];
  };
  // Approvers for `protected` allow changes of protected objects, so both versions must have them.
  const allowsProtected = [one, other].every(({ approvers }) =>
    approvers.some((entry) => entry.for === 'protected'),
  );
  return {
    maxDestructive: Math.min(one.maxDestructive, other.maxDestructive),
    maxPrivileged: Math.min(one.maxPrivileged, other.maxPrivileged),
    maxChanges: Math.min(one.maxChanges, other.maxChanges),
    privileged: union(({ privileged }) => privileged),
    protect: union(({ protect }) => protect),
    keep: union(({ keep }) => keep),
    approvers: union(({ approvers }) => approvers).filter(
      (entry) => allowsProtected || entry.for !== 'protected',
    ),
  };
}

/** What differs between two versions of the settings: `maxPrivileged: 0 → 5`. */
export function safetyChanges(before: Safety, after: Safety): string[] {
  const text = (value: unknown) => (value === Number.POSITIVE_INFINITY ? 'none' : JSON.stringify(value));
  return (Object.keys(after) as (keyof Safety)[]).flatMap((name) => {
    const [was, is] = [text(before[name]), text(after[name])];
    const setting = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return was === is ? [] : [`${setting}: ${was} → ${is}`];
  });
}
