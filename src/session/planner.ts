import { findRun } from '../apply/find-runs.js';
import { otherStateError, otherStateTest, type StateLocation } from '../apply/owner.js';
import { type Left, undoRun } from '../apply/undo.js';
import { quote } from '../base/escape.js';
import { kindNames } from '../base/kind-names.js';
import { problemError, refuse } from '../base/problems.js';
import type { Safety } from '../base/safety.js';
import { type Shard, shardText } from '../base/shard.js';
import { version } from '../base/version.js';
import type { Declared } from '../kinds/kind.js';
import type { ReadLists } from '../kinds/references.js';
import { identifier } from '../kinds/schema.js';
import { type LoadedManifests, pruneRefusals } from '../manifests/load.js';
import { markStale } from '../plan/approve.js';
import { bodyChecks } from '../plan/body-checks.js';
import { buildPlan, type Planned, regenerationPlan } from '../plan/build.js';
import type { BuildOptions, PlanHeader } from '../plan/options.js';
import type { Plan } from '../plan/plan.js';
import type { Replan } from '../plan/replan.js';
import { warnOfMasks } from '../plan/review-warnings.js';
import { type StoredPlan, settingsHashes, staleness } from '../plan/stored.js';
import type { AuthSettings, Project, ServerSettings } from '../project/index.js';
import { labelPlan } from '../report/names.js';
import { Hasher } from '../secrets/hash.js';
import type { Redactor } from '../secrets/redactor.js';
import { withSlowHashes } from '../secrets/slow-hash.js';
import type { Scope } from '../server/operations.js';
import { type ProbeResult, probe } from '../server/recognise.js';
import type { State } from '../state/state.js';
import { type StoredOptions, storedPlanText } from './plan-file.js';
import type { PlanOptions, Session, UndoPlan, WritingCommand } from './session.js';
import { storedPlanDiff } from './stored-plan-diff.js';
import { partsLeft, undoPlan } from './undo.js';

export interface PlannerOptions {
  /** How to read the server. */
  readonly reading: Pick<BuildOptions, 'reader' | 'concurrency' | 'progress' | 'signal'>;
  readonly project: Project;
  readonly server: ServerSettings;
  readonly manifests: LoadedManifests;
  readonly home: StateLocation;
  readonly redactor: Redactor;
  readonly shard: Shard | undefined;
  readonly asOf: Date | undefined;
  readonly safety: Safety;
}

/** How apply rebuilds a plan, and which command applies it. */
interface PlanRecipe {
  readonly replan: Replan;
  readonly command: WritingCommand;
}

/** Milliseconds. A plan can reuse a list that was read to settle a killed run, if it is not older. */
const MAX_LIST_AGE = 5000;

/** Makes the plans of a session, and tracks which of them may still be applied. */
export class Planner {
  readonly #options: PlannerOptions;
  /** The state after all applies so far. */
  state: State;
  /** Only for the first plan. */
  #read: ReadLists | undefined;
  /** The plans that may be applied. A plan that was begun before an apply ended may not. */
  #applicable = new WeakMap<Plan, PlanRecipe>();
  readonly #storedOptions = new WeakMap<Plan, StoredOptions>();
  #probe: Promise<ProbeResult> | undefined;

  /** `read` are the lists that were read to settle killed runs. */
  constructor(options: PlannerOptions, state: State, read: ReadLists | undefined) {
    this.#options = options;
    this.state = state;
    this.#read = read;
  }

  /** Probes once what the server is; null if the configuration trusts the profile. */
  get recognise(): PlanHeader['recognise'] {
    return this.#options.server.profileTrusted ? null : (scope) => this.#probeOnce(scope);
  }

  /** If a probe fails or tells nothing, the next one asks again. */
  async #probeOnce(scope: Scope): Promise<ProbeResult> {
    this.#probe ??= probe(this.#options.reading.reader, scope);
    const result = await this.#probe.catch((failure: unknown) => {
      this.#probe = undefined;
      throw failure;
    });
    if (result.kind === 'unclear') this.#probe = undefined;
    return result;
  }

  /** How to apply a plan; undefined if it may not be applied. */
  recipeOf(plan: Plan): PlanRecipe | undefined {
    return this.#applicable.get(plan);
  }

  /** Called after an apply: no earlier plan may be applied. */
  invalidatePlans(): void {
    this.#applicable = new WeakMap();
  }

  /** A plan of what manifests declare. */
  async plan(asked: PlanOptions = {}): Promise<Plan> {
    const plans = this.#applicable;
    const { shard, manifests, project, safety } = this.#options;
    const { targets = [], kinds = [], prune = false, assert = false, ended = false } = asked;
    if (prune && ended) {
      const message = '--ended only removes access that has ended, so it prunes nothing';
      throw problemError('wrong-option', message, 'leave out one of the two');
    }
    const unknown = kinds.filter((kind) => !kindNames.some((name) => name === kind));
    if (unknown.length > 0)
      throw problemError(
        'wrong-option',
        `there is no kind ${unknown.map((kind) => quote(kind)).join(', ')}`,
        `the kinds are ${kindNames.join(', ')}`,
      );
    if (prune) refuse(await pruneRefusals(manifests));
    const selection = { targets, kinds, shard };
    const { declared } = manifests;
    const restores = ended ? 'none' : 'all';
    const built = await this.#build({ declared, selection, prune, assert, restores, endedOnly: ended });
    const given: StoredOptions = {
      targets: [...targets],
      kinds: [...kinds],
      prune,
      assert,
      ...(shard === undefined ? {} : { shard }),
      settings: settingsHashes(project.checks(), safety),
    };
    const made = { ...built.plan, again: [...argumentsOf(given), ...(ended ? ['--ended'] : [])] };
    plans.set(made, { replan: built.replan, command: 'apply' });
    this.#storedOptions.set(made, given);
    return made;
  }

  /** The text of a plan that this session made. Throws a TypeError for another plan. */
  async store(plan: Plan): Promise<string> {
    const given = this.#storedOptions.get(plan);
    if (given === undefined)
      throw new TypeError('only a plan of the manifests from this session can be stored');
    return await storedPlanText(plan, given, this.#options.redactor);
  }

  /** Plans a stored plan again; the problems say how the new plan differs. */
  async stored(stored: StoredPlan, left?: readonly string[]): ReturnType<Session['planStored']> {
    const plan = await this.plan(stored.apply);
    const stale = await staleness(stored, plan, left);
    const settings = this.#storedOptions.get(plan)?.settings;
    const { redactor } = this.#options;
    const problems = stale.length > 0 ? stale : storedPlanDiff(stored, plan, redactor, left, settings);
    if (problems.length > 0) markStale(plan, problems);
    return { plan, problems };
  }

  /** A plan that restores what a run changed, and what it can't restore. */
  async undo(run: string, force: boolean): Promise<UndoPlan> {
    this.#requireNoShard();
    const plans = this.#applicable;
    const { home, server } = this.#options;
    const content = await findRun(home.backend.runs, run);
    if (content.run.server !== server.baseUrl) {
      const message = `run ${content.run.run} was on ${content.run.server}, and this is ${server.baseUrl}`;
      const hint = 'choose the environment of that run';
      throw problemError('run-other-server', message, hint);
    }
    const isOther = await otherStateTest(this.state, home);
    if (isOther(content.run)) throw otherStateError(content.run, home);
    const ends = { now: this.#options.asOf ?? new Date(), resources: this.state.resources };
    const undo = await withSlowHashes(() => undoRun(content, force, ends));
    // An object may be compared more than once.
    const leftOf = new Map<Declared, readonly Left[]>();
    const made = await this.#build({
      declared: undo.declared,
      restores: { run: content.run.run },
      adjust: (document, now, refusal) => {
        const adjusted = undo.adjust(document, now, refusal);
        leftOf.set(document, adjusted.left);
        return adjusted.document;
      },
    });
    const again = ['undo', content.run.run, ...(force ? ['--force'] : [])];
    const undone = undoPlan(
      { ...made.plan, undoes: content.run.run, again },
      [...undo.left, ...[...leftOf.values()].flat(), ...partsLeft(undo.declared, this.state)],
      content,
    );
    plans.set(undone.plan, { replan: made.replan, command: 'undo' });
    return undone;
  }

  /** A plan that regenerates one client's DID. */
  async regeneration(clientId: string): Promise<Plan> {
    this.#requireNoShard();
    const { redactor, reading } = this.#options;
    if (!identifier().safeParse(clientId).success)
      throw new TypeError(`${quote(redactor.redactEcho(String(clientId)))} is not the id of a client`);
    const plans = this.#applicable;
    const made = await regenerationPlan(clientId, { ...reading, ...this.#header(), state: this.state });
    const plan = labelPlan(made, this.state);
    plans.set(plan, { replan: made.replan, command: 'regenerate-did' });
    return plan;
  }

  async #build(what: Pick<BuildOptions, 'declared'> & Partial<BuildOptions>): Promise<Planned> {
    const { project, redactor, reading } = this.#options;
    const read = this.#read;
    this.#read = undefined;
    const made = await buildPlan({
      ...reading,
      read: read !== undefined && performance.now() - read.at < MAX_LIST_AGE ? read : undefined,
      state: this.state,
      hasher: new Hasher(this.state, redactor.holds),
      selection: { targets: [], kinds: [] },
      prune: false,
      assert: false,
      restores: 'none',
      asOf: this.#options.asOf,
      checks: await bodyChecks(project, what.declared),
      ...this.#header(),
      ...(what.prune === true ? { prunes: project.prunes() } : {}),
      ...what,
    });
    // After observing, the redactor knows all secrets.
    return { ...made, plan: warnOfMasks(labelPlan(made, this.state), redactor.redact) };
  }

  #header(): PlanHeader {
    const { server, project, safety } = this.#options;
    return {
      server: server.baseUrl,
      profile: server.profile,
      environment: project.environment,
      toolVersion: version,
      now: new Date(),
      recognise: this.recognise,
      safety,
      ownUser: subjectOf(server.auth),
    };
  }

  #requireNoShard(): void {
    if (this.#options.shard !== undefined)
      throw new TypeError('a session of a shard can only plan what manifests declare');
  }
}

/** The arguments of the command that makes the same plan again. */
function argumentsOf({ targets, kinds, prune, assert, shard }: StoredOptions): readonly string[] {
  return [
    'apply',
    ...targets.flatMap((target) => ['--target', target]),
    ...kinds.flatMap((kind) => ['--kind', kind]),
    ...(prune ? ['--prune'] : []),
    ...(assert ? ['--assert'] : []),
    ...(shard === undefined ? [] : ['--shard', shardText(shard)]),
  ];
}

/** The user of a token, if it is a JWT; otherwise undefined. */
function subjectOf(auth: AuthSettings): string | undefined {
  if (auth.way !== 'token') return undefined;
  const [, payload = '', signature] = String(auth.token.reveal()).split('.');
  if (signature === undefined) return undefined;
  try {
    const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof sub === 'string' ? sub : undefined;
  } catch {
    return undefined;
  }
}
