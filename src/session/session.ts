import type { Applied } from '../apply/apply.js';
import type { Approval, ApprovalHistory } from '../apply/approvals.js';
import type { Pause } from '../apply/read-back.js';
import type { Left } from '../apply/undo.js';
import type { Problem } from '../base/problems.js';
import type { Progress } from '../base/progress.js';
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

/** How a session works. */
export interface SessionOptions extends ServerOverrides {
  /** False where the manifests have no part in what is done. */
  readonly manifests?: boolean;
  /** The part of the objects that it is about; all of them where it isn't given. */
  readonly shard?: Shard;
  /** Whether the part was found out from the variables of a parallel job. */
  readonly ofJob?: boolean;
  /** What tells the run that shards do together from others, such as the id of a pipeline; left out where nothing does. */
  readonly sharedRun?: string;
  /** How many requests may be under way at once; 10 where it isn't given. */
  readonly concurrency?: number;
  /** Seconds that one request may take; 30 where it isn't given. */
  readonly timeout?: number;
  /** Is told how far the work is. */
  readonly progress?: Progress;
  /** Aborted where nothing new may be started. */
  readonly signal?: AbortSignal;
  /** Gets to know every secret of the session before it can turn up anywhere; one of its own where it isn't given. */
  readonly redactor?: Redactor;
  /** How requests are paced, waited for and logged, where it is otherwise than usual. */
  readonly network?: Partial<Pick<SendingOptions, 'rate' | 'retries' | 'onTry' | 'delay' | 'random'>>;
  /** How a server is waited for that may still be working at a request, where it is otherwise than usual. */
  readonly pause?: Pause;
}

/** What a plan is about. */
export interface PlanOptions extends Partial<Selection> {
  /** Delete templates that idops applied and no manifest names any more. */
  readonly prune?: boolean;
  /** Send even if the recorded value already matches. */
  readonly assert?: boolean;
}

/** A plan that puts back what a run changed. */
export interface UndoPlan {
  /** What puts the run back. */
  readonly plan: Plan;
  /** What stays as it is. */
  readonly left: readonly Left[];
}

/** A project, its server and its state: all that planning needs. It can't write to the server. */
export interface Session {
  /** The project that it is for. */
  readonly project: Project;
  /** Warnings of the manifests, and of where the state is. */
  readonly warnings: readonly Problem[];
  /** What a person should know beside: a lock that was taken over, a killed run that was settled. */
  readonly notes: readonly string[];
  /** What the manifests declare, of all shards and whatever is selected. */
  readonly declared: readonly Pick<Declared, 'kind'>[];
  /** The manifests and bodies that were read, where they really lie. */
  readonly files: readonly string[];
  /** Observes and compares; sends GETs alone. */
  plan(options?: PlanOptions): Promise<Plan>;
  /** What to keep of a plan that `plan` made, for `planStored`: JSON without a secret in it. Throws a TypeError for another plan. */
  storePlan(plan: Plan): Promise<string>;
  /**
   * Makes a stored plan anew; the problems say how it differs now, and none means that it still holds. One that differs
   * can be shown, and isn't approved. With `left`, it holds for the objects with these keys alone: the others were applied before.
   */
  planStored(stored: StoredPlan, left?: readonly string[]): Promise<{ plan: Plan; problems: Problem[] }>;
  /**
   * The run that `undo --last` puts back: the newest run of this state, or the one of an undo that didn't end. Throws a ProblemsError
   * (`no-such-run`, `already-undone`) if there is none.
   */
  lastRun(): Promise<string>;
  /** A plan that puts back what a run changed, and what it leaves as it is. */
  planUndo(run: string, options?: { readonly force?: boolean }): Promise<UndoPlan>;
  /** A plan that regenerates one client's DID, whatever the manifests say. */
  planRegeneration(clientId: string): Promise<Plan>;
  /**
   * Starts nothing more, waits for requests under way, ends the connections and releases the lock. Gives a warning if the lock may still
   * be there.
   */
  close(): Promise<readonly Problem[]>;
}

/** What a session is opened for that writes. */
export type WritingCommand = RunLine['command'];

/** A session that holds the lock of its state until it is closed. */
export interface WritingSession extends Session {
  /**
   * Applies a plan of this session that `approve` has let through, and keeps in the state that `approval` is used. What was read more than
   * 30 seconds ago, or before the plan was asked about, is read again before it is built on, and so is each object of which a request
   * carries what no document declares. Throws a ProblemsError where nothing could be begun.
   */
  apply(approved: ApprovedPlan, approval?: Approval): Promise<Applied>;
  /** What the state knows of approvals that were used. */
  approvalHistory(): ApprovalHistory;
}
