import { hash } from 'node:crypto';
import { applyPlan } from '../apply/apply.js';
import { findRun } from '../apply/history.js';
import { othersOf, refuseOther } from '../apply/owner.js';
import { mayBeUndone, type Result } from '../apply/result.js';
import { newestRun } from '../apply/resume.js';
import { type Left, undoRun } from '../apply/undo.js';
import { quote } from '../base/escape.js';
import { error, ProblemsError, refuse } from '../base/problems.js';
import { noProgress, withoutHarm } from '../base/progress.js';
import { createRedactor } from '../base/redact.js';
import { partCalled, runOf, shardText } from '../base/shard.js';
import { version } from '../base/version.js';
import type { Declared } from '../kinds/kind.js';
import { identifier } from '../kinds/schema.js';
import { pruneRefusals } from '../manifests/index.js';
import { ApprovedPlan, markStale } from '../plan/approve.js';
import { bodyChecks } from '../plan/body-checks.js';
import { buildPlan, type Planned, regenerationPlan } from '../plan/build.js';
import { warnOfMasks } from '../plan/masked.js';
import type { BuildOptions, PlanHeader } from '../plan/options.js';
import type { Plan } from '../plan/plan.js';
import type { Replan } from '../plan/replan.js';
import { staleness } from '../plan/stored.js';
import type { Project } from '../project/index.js';
import { type Probed, probe } from '../server/probe.js';
import { Hasher } from '../state/secrets.js';
import { withSlowHashes } from '../state/slow-hash.js';
import { workingBackendOf } from './backend.js';
import { DEFAULT_TIMEOUT, openConnection } from './connection.js';
import { declaredHash } from './declared-hash.js';
import { otherServer, undeclaredClient } from './guard.js';
import { settleState } from './hold.js';
import { leftBehind } from './left-behind.js';
import { Life } from './life.js';
import { loadAll } from './load.js';
import { type StoredOptions, storedPlanText } from './plan-file.js';
import type {
  PlanOptions,
  Session,
  SessionOptions,
  UndoPlan,
  WritingCommand,
  WritingSession,
} from './session.js';
import { unshared } from './shard.js';
import { sharedReader } from './shared-reader.js';
import { shownOtherwise } from './shown.js';
import { saysOtherwise, undoingOf, undoPlan } from './undoing.js';

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
  const { session, apply } = await open(project, command, options);
  return { ...session, apply };
}

/** Plans that a session made. */
class Plans {
  readonly #made = new WeakMap<Plan, { readonly replan: Replan; readonly command: WritingCommand }>();

  /** Gives the plan. */
  remember({ plan, replan }: Planned, command: WritingCommand): Plan {
    this.#made.set(plan, { replan, command });
    return plan;
  }

  find(plan: Plan): { readonly replan: Replan; readonly command: WritingCommand } | undefined {
    return this.#made.get(plan);
  }
}

interface Opened {
  readonly session: Session;
  readonly apply: WritingSession['apply'];
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
    await held.lock?.release();
  });
  const signal = options.signal === undefined ? life.signal : AbortSignal.any([options.signal, life.signal]);
  const redactor = options.redactor ?? createRedactor();
  const { server, declared, warnings, manifests } = await loadAll(project, options, redactor.add);
  const backend = await workingBackendOf(project, redactor.add);
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
  const alone = isAlone ? [unshared(backend.place)] : [];
  const shared = { reader, profile: server.profile, concurrency, progress, signal };
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
  let { state } = held;
  const behind = await leftBehind(project, state);
  const planning = {
    ...shared,
    reader:
      shard === undefined || backend.pages === undefined
        ? reader
        : sharedReader(reader, {
            pages: backend.pages,
            list: hash('sha256', server.baseUrl, 'hex').slice(0, 16),
            shard,
            concurrency,
            signal,
          }),
  };
  /** What each plan was made for, and how it is made anew; nothing of what was begun before an apply had ended. */
  let current = new Plans();
  const madeWith = new WeakMap<Plan, { readonly options: StoredOptions; readonly storable: boolean }>();
  const build = async (what: Pick<BuildOptions, 'declared'> & Partial<BuildOptions>): Promise<Planned> => {
    const made = await buildPlan({
      ...planning,
      state,
      hasher: new Hasher(state, redactor.holds),
      selection: { targets: [], kinds: [] },
      prune: false,
      assert: false,
      restores: 'none',
      checks: await bodyChecks(project, what.declared),
      ...header(),
      ...what,
    });
    // All that observing taught of secrets is known by now.
    return { ...made, plan: warnOfMasks(made.plan, redactor.redact) };
  };
  let probed: Promise<Probed> | undefined;
  // The server is asked once; where that failed, the next plan asks again.
  const recognise: PlanHeader['recognise'] = (scope) => {
    probed ??= probe(reader, scope).catch((failure: unknown) => {
      probed = undefined;
      throw failure;
    });
    return probed;
  };
  const header = (): PlanHeader => ({
    server: server.baseUrl,
    profile: server.profile,
    environment: project.environment,
    toolVersion: version,
    now: new Date(),
    recognise: server.profileWritten ? null : recognise,
  });
  const plan = async (asked: PlanOptions = {}): Promise<Plan> => {
    const plans = current;
    const { targets, kinds, prune, assert } = withDefaults(asked);
    const { acceptDids = [] } = asked;
    refuse(acceptDids.flatMap((id) => undeclaredClient(id, declared)));
    if (prune) refuse(await pruneRefusals(manifests));
    const built = await build({
      declared,
      selection: { targets, kinds, shard },
      prune,
      assert,
      acceptDids,
      restores: 'all',
    });
    const given = { targets, kinds, prune, assert, ...(shard === undefined ? {} : { shard }) };
    const again = againOf(given, acceptDids);
    const made = plans.remember({ ...built, plan: { ...built.plan, again } }, 'apply');
    madeWith.set(made, { options: given, storable: acceptDids.length === 0 });
    return made;
  };
  const ofAll = (): void => {
    if (shard !== undefined)
      throw new TypeError('a session of a shard plans what manifests declare, and nothing else');
  };
  const planUndo = async (run: string, force: boolean): Promise<UndoPlan> => {
    ofAll();
    const plans = current;
    const content = await findRun(backend.runs, run);
    if (content.run.server !== server.baseUrl) throw otherServer(content.run, server.baseUrl);
    const isOther = await othersOf(state, home);
    if (isOther(content.run)) throw refuseOther(content.run, home);
    const undo = await withSlowHashes(() => undoRun(content, force));
    // What is left of an object, which may be compared more than once.
    const leftOf = new Map<Declared, readonly Left[]>();
    const made = await build({
      declared: undo.declared,
      restores: { run: content.run.run },
      adjust: (document, now) => {
        const adjusted = undo.adjust(document, now);
        leftOf.set(document, adjusted.left);
        return adjusted.document;
      },
    });
    const again = ['undo', content.run.run, ...(force ? ['--force'] : [])];
    const undone = undoPlan(
      { ...made.plan, undoes: content.run.run, again },
      [...undo.left, ...[...leftOf.values()].flat()],
      content,
    );
    plans.remember({ plan: undone.plan, replan: made.replan }, 'undo');
    return undone;
  };
  const session: Session = {
    project,
    warnings: [...alone, ...warnings],
    notes: behind === null ? held.notes : [...held.notes, behind],
    declared,
    files: manifests.files,
    plan: (given) => life.does(() => plan(given)),
    storePlan: (made) =>
      life.does(async () => {
        const given = madeWith.get(made);
        if (given === undefined)
          throw new TypeError('only a plan that this session made of the manifests can be stored');
        if (!given.storable) {
          throw new TypeError(
            'a plan with acceptDids is not stored, since applying it reads the manifests again and takes no DID: apply it here',
          );
        }
        return await storedPlanText(made, given.options, redactor);
      }),
    planStored: (stored) =>
      life.does(async () => {
        const made = await plan(stored.apply);
        const stale = await staleness(stored, made);
        const problems = stale.length > 0 ? stale : shownOtherwise(stored, made, redactor);
        if (problems.length > 0) markStale(made, problems);
        return { plan: made, problems };
      }),
    lastRun: () =>
      life.does(async () => {
        const run = await newestRun(backend.runs, state);
        if (run !== undefined) return runOf(run);
        throw new ProblemsError([
          error(
            'no-such-run',
            'this state has no runs',
            [],
            'a run is what idops apply leaves; which state this is, --env and state in the configuration say',
          ),
        ]);
      }),
    planUndo: (run, { force = false } = {}) => life.does(() => planUndo(run, force)),
    planRegeneration: (clientId) =>
      life.does(async () => {
        ofAll();
        if (!identifier().safeParse(clientId).success)
          throw new TypeError(`${quote(redactor.redactEcho(String(clientId)))} is not the id of a client`);
        const plans = current;
        return plans.remember(
          await regenerationPlan(clientId, { ...shared, ...header(), state }),
          'regenerate-did',
        );
      }),
    close: () => life.end(),
  };
  /** A result with what can be done about it. */
  const told = async (result: Result, made: Plan): Promise<Result> => {
    const { undoes } = made;
    if (undoes !== undefined) {
      const sure = manifests.problems.length === 0;
      const otherwise = saysOtherwise(manifests.besides ?? declared, sure, made, result);
      return { ...result, undoes, ...(otherwise === undefined ? {} : { otherwise }) };
    }
    if (result.run === null || !mayBeUndone(result)) return result;
    // The run is done: a journal that can't be read doesn't change that.
    const content = await findRun(backend.runs, partCalled(result.journal ?? result.run)).catch(() => null);
    const undoing = await undoingOf(content);
    return undoing === undefined ? result : { ...result, undoing };
  };
  const apply: WritingSession['apply'] = (approved) =>
    life.applies(async () => {
      if (!ApprovedPlan.is(approved))
        throw new TypeError('this plan was not approved: approve(plan, limits) does it');
      const made = current.find(approved.plan);
      if (made === undefined) {
        throw new TypeError(
          'this plan was made in another session, or before something was applied in this one, and what is there may have ' +
            'changed since: make it in this one, or store it and let planStored make it anew',
        );
      }
      const applied = await applyPlan(approved, {
        ...shared,
        confirm: async () => await held.lock?.confirm(),
        fenced: held.lock?.fenced === true,
        replan: made.replan,
        recognise,
        writer,
        backend,
        state,
        shard,
        sharedRun: options.sharedRun,
        declaring: () => declaredHash(declared),
        hasher: new Hasher(state, redactor.holds),
        command: made.command,
        now: () => new Date(),
        redactor,
      }).finally(() => {
        // Whatever came of it, no plan from before tells any more what there is to do.
        current = new Plans();
      });
      state = applied.state;
      return { ...applied, result: await told(applied.result, approved.plan) };
    });
  return { session, apply };
}

function withDefaults({
  targets = [],
  kinds = [],
  prune = false,
  assert = false,
}: PlanOptions = {}): StoredOptions {
  return { targets: [...targets], kinds: [...kinds], prune, assert };
}

/** What plans the same once more, as it is typed: what was left out stays out. */
function againOf(
  { targets, kinds, prune, assert, shard }: StoredOptions,
  acceptDids: readonly string[],
): readonly string[] {
  const repeated = (option: string, values: readonly string[]): string[] =>
    values.flatMap((value) => [option, value]);
  return [
    'apply',
    ...repeated('--target', targets),
    ...repeated('--kind', kinds),
    ...(prune ? ['--prune'] : []),
    ...(assert ? ['--assert'] : []),
    ...(shard === undefined ? [] : ['--shard', shardText(shard)]),
    ...repeated('--accept-did', acceptDids),
  ];
}
