import { applyPlan } from '../apply/apply.js';
import { findRun } from '../apply/history.js';
import { newestRun } from '../apply/resume.js';
import { error, ProblemsError } from '../base/problems.js';
import { noProgress, withoutHarm } from '../base/progress.js';
import { version } from '../base/version.js';
import { isApproved } from '../plan/approve.js';
import type { Project } from '../project/index.js';
import { Hasher } from '../secrets/hash.js';
import { createRedactor } from '../secrets/redactor.js';
import { backendOf } from './backend.js';
import { DEFAULT_TIMEOUT, openConnection } from './connection.js';
import { settleState } from './hold.js';
import { costOfLoss } from './kept-state.js';
import { leftBehind } from './left-behind.js';
import { Life } from './life.js';
import { loadAll } from './load.js';
import { Planner } from './planner.js';
import type { Session, SessionOptions, WritingCommand, WritingSession } from './session.js';
import { unshared } from './shard.js';
import { runToUndo } from './undoing.js';

const DEFAULT_CONCURRENCY = 10;

/**
 * Loads the manifests, the credentials and the state of a project, all before anything is sent. What it gives can plan
 * and can't apply. Throws a ProblemsError with everything that is wrong.
 */
export async function openSession(project: Project, options: SessionOptions = {}): Promise<Session> {
  const { session } = await open(project, undefined, options);
  return session;
}

/**
 * The same for a command that writes: the session holds the lock of the state until it is closed.
 * Throws a ProblemsError (`locked`) too, where somebody else holds it.
 */
export async function openForWriting(
  project: Project,
  command: WritingCommand,
  options: SessionOptions = {},
): Promise<WritingSession> {
  const { session, apply, approvalHistory } = await open(project, command, options);
  return { ...session, apply, approvalHistory };
}

interface Opened {
  readonly session: Session;
  readonly apply: WritingSession['apply'];
  readonly approvalHistory: WritingSession['approvalHistory'];
}

async function open(
  project: Project,
  command: WritingCommand | undefined,
  options: SessionOptions,
): Promise<Opened> {
  const { concurrency = DEFAULT_CONCURRENCY, network = {} } = options;
  const progress = withoutHarm(options.progress ?? noProgress);
  const life = new Life(async () => {
    await connection.close();
    return (await held.lock?.release()) ?? [];
  });
  const signal = options.signal === undefined ? life.signal : AbortSignal.any([options.signal, life.signal]);
  const redactor = options.redactor ?? createRedactor();
  const { server, declared, warnings, manifests } = await loadAll(project, options, redactor.add);
  const backend = await backendOf(project, redactor.add);
  await backend.check(command === undefined ? 'read' : 'write');
  const connection = openConnection(server, declared, {
    concurrency,
    timeout: options.timeout ?? DEFAULT_TIMEOUT,
    redact: redactor.redactEcho,
    onSecret: redactor.add,
    onRetry: progress.retry,
    signal,
    version,
    ...network,
  });
  const { reader, writer } = connection;
  // One part of one is all of it.
  const shard = options.shard?.count === 1 ? undefined : options.shard;
  const isAlone = shard !== undefined && options.ofJob === true && project.state().in === 'file';
  const isThrownAway =
    command !== undefined &&
    (process.env.CI ?? '') !== '' &&
    process.env.RUNNER_ENVIRONMENT !== 'self-hosted';
  const cost = isThrownAway ? costOfLoss(project, declared) : undefined;
  const alone = [...(isAlone ? [unshared(backend.place)] : []), ...(cost === undefined ? [] : [cost])];
  const shared = { reader, profile: server.profile, concurrency, progress, signal, pause: options.pause };
  const home = { backend, environment: project.environment };
  const held = await settleState(home, command, {
    ...shared,
    server: server.baseUrl,
    shard,
    holds: redactor.holds,
  }).catch(async (failure) => {
    await connection.close();
    throw failure;
  });
  const behind = await leftBehind(project, held.state);
  if (behind !== null && command !== undefined) {
    await life.end();
    throw new ProblemsError([behind]);
  }
  const planner = new Planner(
    {
      project,
      server,
      manifests,
      home,
      redactor,
      reader,
      shard,
      concurrency,
      progress,
      signal,
    },
    held.state,
    held.read,
  );
  const session: Session = {
    project,
    warnings: [...alone, ...warnings],
    notes: behind === null ? held.notes : [...held.notes, `${behind.message}: ${behind.hint}`],
    declared,
    files: manifests.files,
    plan: (asked) => life.does(() => planner.plan(asked)),
    storePlan: (made) => life.does(() => planner.store(made)),
    planStored: (stored, left) => life.does(() => planner.stored(stored, left)),
    lastRun: () =>
      life.does(async () => {
        const run = await newestRun(backend.runs, planner.state);
        if (run !== undefined) return runToUndo(await findRun(backend.runs, run));
        throw new ProblemsError([
          error(
            'no-such-run',
            'this state has no runs',
            [],
            'a run is what idops apply leaves; which state this is, --env and state in the configuration say',
          ),
        ]);
      }),
    planUndo: (run, { force = false } = {}) => life.does(() => planner.undo(run, force)),
    planRegeneration: (clientId) => life.does(() => planner.regeneration(clientId)),
    close: () => life.end(),
  };
  const apply: WritingSession['apply'] = (approved, approval) =>
    life.applies(async () => {
      if (!isApproved(approved))
        throw new TypeError('this plan was not approved: approve(plan, limits) does it');
      const made = planner.find(approved.plan);
      if (made === undefined) {
        throw new TypeError(
          'this plan was made in another session, or before something was applied in this one, and what is there may have ' +
            'changed since: make it in this one, or store it and let planStored make it anew',
        );
      }
      if (held.lock === undefined) throw new TypeError('only what holds the lock of the state applies');
      const applied = await applyPlan(approved, {
        ...shared,
        lock: held.lock,
        replan: made.replan,
        recognise: planner.recognise,
        writer,
        backend,
        state: planner.state,
        shard,
        sharedRun: options.sharedRun,
        approval,
        hasher: new Hasher(planner.state, redactor.holds),
        command: made.command,
        now: () => new Date(),
        redactor,
      }).finally(() => {
        // Whatever came of it.
        planner.forget();
      });
      planner.state = applied.state;
      const { undoes } = approved.plan;
      return undoes === undefined ? applied : { ...applied, result: { ...applied.result, undoes } };
    });
  return { session, apply, approvalHistory: () => planner.state };
}
