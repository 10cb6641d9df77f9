import type { Result } from '../apply/result.js';
import type { Left } from '../apply/undo.js';
import type { KindName } from '../base/kind-names.js';
import type { Problem } from '../base/problems.js';
import type { Progress } from '../base/progress.js';
import { MAX_SHARDS, parseShard, type Shard } from '../base/shard.js';
import type { Plan as Made } from '../plan/plan.js';
import { redactLeft, redactProblems, redactResult } from '../report/redacted.js';
import { openSession as open, openForWriting as openLocked } from '../session/open.js';
import { connectionOptions } from '../session/options.js';
import type { SessionOptions as Given, Session as Opened } from '../session/session.js';
import { telling } from './errors.js';
import { checkedOptions, type Rule, someKinds, someText, someTexts, texts, yesOrNo } from './given.js';
import { type ApprovedPlan, approvedOf, knownOf, type Plan, publicPlan } from './plan.js';
import { type Inside, insideOf, type Project } from './project.js';
import { said } from './said.js';
import { readOf, type StoredPlan } from './stored.js';

/** How a session works. */
export interface SessionOptions {
  /** The server's address, in the place of `IDOPS_BASE_URL` and the configuration's. */
  readonly baseUrl?: string;
  /** A file with the bearer token, relative to `ProjectOptions.cwd`, in the place of `IDOPS_TOKEN` and `server.auth`. */
  readonly tokenFile?: string;
  /** False where the manifests have no part in what is done, as for `planUndo` and `planRegeneration`. */
  readonly manifests?: boolean;
  /**
   * The part of the objects that it plans and applies, beside other sessions of other parts; all of them where it isn't given. Such a
   * session plans what manifests declare: `planUndo` and `planRegeneration` throw a TypeError.
   */
  readonly shard?: Shard;
  /** What the sessions of one run's shards have in common and no others have, such as the id of a pipeline: by it they find their run. */
  readonly sharedRun?: string;
  /** How many requests may be under way at once, from 1; 10 where it isn't given. */
  readonly concurrency?: number;
  /** Requests a second at most; any number where it isn't given. */
  readonly rate?: number;
  /** Seconds that one request may take, 86400 at most; 30 where it isn't given. */
  readonly timeout?: number;
  /** How often a request is repeated where that may help; 3 where it isn't given. */
  readonly retries?: number;
  /** Is told how far the work is. */
  readonly progress?: Progress;
  /** Aborted where nothing new may be started; requests under way are finished and recorded. */
  readonly signal?: AbortSignal;
}

/** What a plan is about. */
export interface PlanOptions {
  /** Only objects whose address matches one of these; `*` stands for any characters. An empty list is refused. */
  readonly targets?: readonly string[];
  /** Only objects of these kinds. An empty list is refused. */
  readonly kinds?: readonly KindName[];
  /** Delete templates that idops applied and no manifest names any more. */
  readonly prune?: boolean;
  /** Send even where the recorded value already matches. */
  readonly assert?: boolean;
  /** The ids of clients whose DID is taken as it is: the declared number is recorded, nothing is sent for them. */
  readonly acceptDids?: readonly string[];
}

/** A plan that puts back what a run changed. */
export interface UndoPlan {
  /** What puts the run back. */
  readonly plan: Plan;
  /** What stays as it is. */
  readonly left: readonly Left[];
}

/** A stored plan, made anew. */
export interface Replanned {
  /** It can be shown, and is approved only where `problems` is empty. */
  readonly plan: Plan;
  /** How it differs from what was stored (`stale-plan`), or the file from what it shows (`plan-altered`). */
  readonly problems: readonly Problem[];
}

/** What applying a plan gave. */
export interface Applied {
  /** What became of each change. */
  readonly result: Result;
  /** What is wrong beside the results: a state that couldn't be saved, say. */
  readonly problems: readonly Problem[];
}

/**
 * A project, its server and its state: all that planning needs. It can't write to the server. Its functions throw a ProblemsError
 * with everything that is wrong; where requests failed, it is a ServerError.
 */
export interface Session {
  /** The project that it is for. */
  readonly project: Project;
  /** Warnings of the manifests. */
  readonly warnings: readonly Problem[];
  /** What a person should know beside: a lock that was taken over, a killed run that was settled. */
  readonly notes: readonly string[];
  /** The manifests and bodies that were read, absolute, links followed. */
  readonly files: readonly string[];
  /** Observes and compares; sends GETs alone. Throws a TypeError where an option is none. */
  plan(options?: PlanOptions): Promise<Plan>;
  /**
   * What to keep of a plan that this session made of the manifests, for `readPlan` or `idops apply FILE`: JSON without a secret in
   * it. Throws a TypeError for any other plan, and for one with `acceptDids`, which can only be applied where it was made.
   */
  storePlan(plan: Plan): Promise<string>;
  /** Makes a stored plan anew from the manifests and the server as they are now. */
  planStored(stored: StoredPlan): Promise<Replanned>;
  /** The name of the newest run of this state. Throws a ProblemsError (`no-such-run`) where there is none. */
  lastRun(): Promise<string>;
  /** A plan that puts back what a run changed, with `force` even what was changed since. `run` is its name or the beginning of it. */
  planUndo(run: string, options?: { readonly force?: boolean }): Promise<UndoPlan>;
  /** A plan that regenerates one client's DID, whatever the manifests say. Throws a TypeError for what is no id. */
  planRegeneration(clientId: string): Promise<Plan>;
  /** Starts nothing more, waits for what is under way, ends the connections to the server, and lets go of the lock. */
  close(): Promise<void>;
}

/** What a session is opened for that writes, as whoever finds the lock is told; journals say what was applied. */
export type WritingCommand = 'apply' | 'undo' | 'regenerate-did';

const writingCommands: readonly WritingCommand[] = ['apply', 'undo', 'regenerate-did'];

/** A session that holds the lock of its state until it is closed. */
export interface WritingSession extends Session {
  /**
   * Applies a plan of this session that `approve` has let through, once: a TypeError is thrown where another one is being applied, or
   * was since the plan was made. Journals each request and saves the state. What was read more than 30 seconds
   * ago, or before the plan was asked about, is read again before it is built on. That a request fails is told in the result;
   * throws a ProblemsError where nothing could be begun.
   */
  apply(approved: ApprovedPlan): Promise<Applied>;
}

/**
 * Loads the manifests, the credentials and the state of a project, all before anything is sent. What it gives can plan and
 * can't apply. Throws a ProblemsError with everything that is wrong, and a TypeError where an option is none.
 */
export async function openSession(project: Project, options: SessionOptions = {}): Promise<Session> {
  const inside = insideOf(project);
  const opened = await telling(inside.redactor, () => open(inside.project, given(options, inside)));
  return Object.freeze(publicSession(project, opened, inside));
}

/**
 * The same for a command that writes: the session holds the lock of the state until it is closed. Throws a ProblemsError
 * (`locked`) too, where somebody else holds it.
 */
export async function openForWriting(
  project: Project,
  command: WritingCommand,
  options: SessionOptions = {},
): Promise<WritingSession> {
  const inside = insideOf(project);
  const { redactor } = inside;
  const known: readonly string[] = writingCommands;
  if (!known.includes(command))
    throw new TypeError(`${said(command, redactor)} is none of ${known.join(', ')}`);
  const opened = await telling(redactor, () => openLocked(inside.project, command, given(options, inside)));
  return Object.freeze({
    ...publicSession(project, opened, inside),
    async apply(approved: ApprovedPlan) {
      const inner = approvedOf(approved, opened);
      const { result, problems } = await telling(redactor, () => opened.apply(inner));
      return { result: redactResult(result, redactor), problems: redactProblems(problems, redactor) };
    },
  });
}

/** The options of a session, as it takes them. Throws a TypeError where one is none. */
export function given(options: SessionOptions, { redactor }: Inside): Given {
  const { rate, retries, ...checked } = checkedOptions(options, sessionRules(), redactor);
  return {
    ...checked,
    redactor,
    network: { ...(rate === undefined ? {} : { rate }), ...(retries === undefined ? {} : { retries }) },
  };
}

function isShard(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { index, count, ...others } = value as { [name: string]: unknown };
  return Object.keys(others).length === 0 && parseShard(`${index}/${count}`) !== undefined;
}

/** What the command line would refuse, a program may not say either. */
export function sessionRules(): { readonly [name in keyof SessionOptions]-?: Rule } {
  const parsers = new Map(connectionOptions().map((option) => [option.attributeName(), option.parseArg]));
  const number = (name: 'concurrency' | 'rate' | 'timeout' | 'retries', takes: string): Rule => ({
    takes,
    fits(value) {
      if (typeof value !== 'number') return false;
      try {
        parsers.get(name)?.(String(value), undefined);
        return true;
      } catch {
        return false;
      }
    },
  });
  return {
    baseUrl: someText,
    tokenFile: someText,
    manifests: yesOrNo,
    shard: {
      takes: `an object with the whole numbers index, from 1, and count, ${MAX_SHARDS} at most`,
      fits: isShard,
    },
    sharedRun: someText,
    concurrency: number('concurrency', 'a whole number from 1 to 1000'),
    rate: number('rate', 'a number of more than 0'),
    timeout: number('timeout', 'a number of seconds, more than 0 and 86400 at most'),
    retries: number('retries', 'a whole number from 0 to 100'),
    progress: {
      takes: 'an object with the functions phase, step and end',
      fits: (value) =>
        typeof value === 'object' &&
        value !== null &&
        ['phase', 'step', 'end'].every((name) => typeof Reflect.get(value, name) === 'function'),
    },
    signal: { takes: 'an AbortSignal', fits: (value) => value instanceof AbortSignal },
  };
}

const planRules: { readonly [name in keyof PlanOptions]-?: Rule } = {
  targets: someTexts,
  kinds: someKinds,
  prune: yesOrNo,
  assert: yesOrNo,
  acceptDids: texts,
};

const undoRules = { force: yesOrNo };

function publicSession(project: Project, opened: Opened, inside: Inside): Session {
  const { redactor } = inside;
  const tell = <T>(work: () => Promise<T>): Promise<T> => telling(redactor, work);
  const shown = (made: Made): Plan => publicPlan(made, inside, opened);
  return {
    project,
    warnings: redactProblems(opened.warnings, redactor),
    notes: opened.notes.map(redactor.redactSentence),
    files: opened.files,
    plan: (options = {}) =>
      tell(async () => {
        return shown(await opened.plan(checkedOptions(options, planRules, redactor)));
      }),
    storePlan: (plan) => tell(() => opened.storePlan(knownOf(plan).made)),
    planStored: (stored) =>
      tell(async () => {
        const { plan, problems } = await opened.planStored(readOf(stored));
        return { plan: shown(plan), problems: redactProblems(problems, redactor) };
      }),
    lastRun: () => tell(() => opened.lastRun()),
    planUndo: (run, options = {}) =>
      tell(async () => {
        if (typeof run !== 'string') throw new TypeError(`${said(run, redactor)} is not the name of a run`);
        const checked = checkedOptions<{ readonly force?: boolean }>(options, undoRules, redactor);
        const { plan, left } = await opened.planUndo(run, checked);
        return {
          plan: shown(plan),
          left: left.map((one) => redactLeft(one, redactor)),
        };
      }),
    planRegeneration: (clientId) => tell(async () => shown(await opened.planRegeneration(clientId))),
    close: () => tell(() => opened.close()),
  };
}
