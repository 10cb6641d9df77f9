import type { Applied } from '../apply/apply.js';
import type { Approval, ApprovalHistory } from '../apply/approvals.js';
import type { Pause } from '../apply/read-back.js';
import type { Left } from '../apply/undo.js';
import type { Problem } from '../base/problems.js';
import type { Progress } from '../base/progress.js';
import type { Safety } from '../base/safety.js';
import type { Shard } from '../base/shard.js';
import type { Declared } from '../kinds/kind.js';
import type { ApprovedPlan } from '../plan/approve.js';
import type { Plan } from '../plan/plan.js';
import type { Selection } from '../plan/select.js';
import type { StoredPlan } from '../plan/stored.js';
import type { Project, ServerOverrides } from '../project/index.js';
import type { Redactor } from '../secrets/redactor.js';
import type { RunLine } from '../state/journal.js';
import type { SendingOptions } from './connection.js';

/** Options of a session. */
export interface SessionOptions extends ServerOverrides {
  /** False if the command does nothing with manifests. */
  readonly manifests?: boolean;
  /** The shard to plan and apply; by default all objects. */
  readonly shard?: Shard;
  /** Whether the shard comes from the variables of a parallel job. */
  readonly ofJob?: boolean;
  /** Identifies the run that shards share, such as the id of a pipeline. */
  readonly sharedRun?: string;
  /** How many requests may be under way at once; 10 by default. */
  readonly concurrency?: number | undefined;
  /** Seconds that one request may take; 30 by default. */
  readonly timeout?: number | undefined;
  /** The instant at which it is decided which access has ended; by default the time of each plan. */
  readonly now?: Date | undefined;
  /** Receives the progress. */
  readonly progress?: Progress;
  /** Once aborted, nothing new is started. */
  readonly signal?: AbortSignal;
  /** Is told every secret of the session before it can appear anywhere; by default a new one. */
  readonly redactor?: Redactor;
  /** Why something is applied, for the journal of the run. */
  readonly message?: string | undefined;
  /** How requests are paced, retried and logged. */
  readonly network?: Partial<Pick<SendingOptions, 'rate' | 'retries' | 'onAttempt' | 'delay' | 'random'>>;
  /** The settings of `safety`; by default those of the configuration. */
  readonly safety?: Safety;
  /** Whether the command asks the approvers that `safety` names, so that a protected object can be changed. */
  readonly approvable?: boolean;
  /** How to wait for a server that may still be working on a request. */
  readonly pause?: Pause;
}

/** What to plan, and how. */
export interface PlanOptions extends Partial<Selection> {
  /** Delete what idops applied or created and no manifest declares any more. */
  readonly prune?: boolean;
  /** Send even if the recorded value already matches. */
  readonly assert?: boolean;
  /** Only remove access that has ended. */
  readonly ended?: boolean;
}

/** A plan that restores what a run changed. */
export interface UndoPlan {
  /** The plan. */
  readonly plan: Plan;
  /** What can't be put back, and why. */
  readonly left: readonly Left[];
}

/** A project, its server and its state: all that planning needs. It can't write to the server. */
export interface Session {
  /** The project that the session was opened for. */
  readonly project: Project;
  /** Warnings about the manifests, and about where the state is kept. */
  readonly warnings: readonly Problem[];
  /** What a person should know: a lock that was taken over, a killed run that was settled. */
  readonly notes: readonly string[];
  /** What the manifests declare: all shards, whatever is selected. */
  readonly declared: readonly Pick<Declared, 'kind'>[];
  /** The real paths of the manifests and bodies that were read. */
  readonly files: readonly string[];
  /** Observes and compares; sends only GETs. */
  plan(options?: PlanOptions): Promise<Plan>;
  /** The text to store of a plan that `plan` made, for `planStored`; it holds no secret. Throws a TypeError for another plan. */
  storePlan(plan: Plan): Promise<string>;
  /**
   * Plans again what a stored plan is for; the problems say how the plan differs now. One that differs can be shown, but not approved.
   * With `left`, only the objects with these keys are compared: the others were applied before.
   */
  planStored(stored: StoredPlan, left?: readonly string[]): Promise<{ plan: Plan; problems: Problem[] }>;
  /**
   * The run that `undo --last` restores: the newest run of this state, or the run of an undo that didn't end. Throws a ProblemsError
   * (`no-such-run`, `already-undone`) if there is none.
   */
  lastRun(): Promise<string>;
  /** A plan that restores what a run changed, and what it leaves as it is. */
  planUndo(run: string, options?: { readonly force?: boolean }): Promise<UndoPlan>;
  /** A plan that regenerates one client's DID, whatever the manifests say. */
  planRegeneration(clientId: string): Promise<Plan>;
  /**
   * Starts nothing more, waits for requests under way, closes the connections and releases the lock. Returns a warning if the lock may
   * still be there.
   */
  close(): Promise<readonly Problem[]>;
}

/** The command that writes, as the journal records it. */
export type WritingCommand = RunLine['command'];

/** A session that holds the lock of its state until it is closed. */
export interface WritingSession extends Session {
  /**
   * Applies a plan of this session that `approve` has let through, and records in the state that `approval` is used. Objects that were
   * read more than 30 seconds ago, or before the user was asked, are read again first, and so is each object of which a request carries
   * fields that no document declares. Throws a ProblemsError if nothing could be started.
   */
  apply(approved: ApprovedPlan, approval?: Approval): Promise<Applied>;
  /** Which approvals the state records as used. */
  approvalHistory(): ApprovalHistory;
}
