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
  /** False if the command doesn't use manifests. */
  readonly manifests?: boolean;
  /** The shard to plan and apply; by default all objects. */
  readonly shard?: Shard;
  /** Whether the shard comes from the variables of a parallel job. */
  readonly ofJob?: boolean;
  /** Identifies the run that shards share, such as the id of a pipeline. */
  readonly sharedRun?: string;
  /** The maximum number of concurrent requests; 10 by default. */
  readonly concurrency?: number | undefined;
  /** Seconds that one request may take; 30 by default. */
  readonly timeout?: number | undefined;
  /** The instant that decides which access has ended; by default the time of each plan. */
  readonly now?: Date | undefined;
  /** Receives the progress. */
  readonly progress?: Progress;
  /** Once aborted, nothing new is started. */
  readonly signal?: AbortSignal;
  /** Receives every secret of the session before the secret can appear anywhere; by default a new redactor. */
  readonly redactor?: Redactor;
  /** The reason for the run, for its journal. */
  readonly message?: string | undefined;
  /** How requests are paced, retried and logged. */
  readonly network?: Partial<Pick<SendingOptions, 'rate' | 'retries' | 'onAttempt' | 'delay' | 'random'>>;
  /** The settings of `safety`; by default those of the configuration. */
  readonly safety?: Safety;
  /** Whether the command enforces the approvers of `safety`, so that protected objects can be changed. */
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
  /** What can't be restored, and why. */
  readonly left: readonly Left[];
}

/** A project, its server and its state: all that planning needs. It can't write to the server. */
export interface Session {
  /** The project that the session was opened for. */
  readonly project: Project;
  /** Warnings about the manifests, and about where the state is kept. */
  readonly warnings: readonly Problem[];
  /** Notes for the user: a lock that was taken over, a killed run that was settled. */
  readonly notes: readonly string[];
  /** The objects that the manifests declare, of all shards and regardless of the selection. */
  readonly declared: readonly Pick<Declared, 'kind'>[];
  /** The real paths of the manifests and bodies that were read. */
  readonly files: readonly string[];
  /** Makes a plan; sends only GETs. */
  plan(options?: PlanOptions): Promise<Plan>;
  /** The text of a plan that `plan` made, to store for `planStored`; it contains no secret. Throws a TypeError for another plan. */
  storePlan(plan: Plan): Promise<string>;
  /**
   * Plans a stored plan again; the problems say how the new plan differs. A plan that differs can be shown, but not approved.
   * With `left`, only the objects with these keys are compared, since the others were applied before.
   */
  planStored(stored: StoredPlan, left?: readonly string[]): Promise<{ plan: Plan; problems: Problem[] }>;
  /**
   * The run that `undo --last` undoes: the newest run of this state or, if the newest run is an unfinished undo, the run that it undoes.
   * Throws a ProblemsError (`no-such-run`, `already-undone`) if there is none.
   */
  lastRun(): Promise<string>;
  /** A plan that restores what a run changed, and what it can't restore. */
  planUndo(run: string, options?: { readonly force?: boolean }): Promise<UndoPlan>;
  /** A plan that regenerates the DID of one client, regardless of the manifests. */
  planRegeneration(clientId: string): Promise<Plan>;
  /**
   * Starts nothing new, waits for requests in flight, closes the connections and releases the lock. Returns a warning if the lock may
   * still exist.
   */
  close(): Promise<readonly Problem[]>;
}

/** The command that writes, as the journal records it. */
export type WritingCommand = RunLine['command'];

/** A session that holds the lock of its state until it is closed. */
export interface WritingSession extends Session {
  /**
   * Applies an approved plan of this session, and records in the state that `approval` is used. First reads again all objects that were
   * read more than 30 seconds ago or before the user was asked, and each object for which a request contains undeclared fields.
   * Throws a ProblemsError if nothing could be started.
   */
  apply(approved: ApprovedPlan, approval?: Approval): Promise<Applied>;
  /** Which approvals the state records as used. */
  approvalHistory(): ApprovalHistory;
}
