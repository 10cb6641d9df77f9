import { posix } from 'node:path';
import { stringifyJson } from '../../base/json.js';
import { hasProblem } from '../../base/problems.js';
import type { StateBackend, StateIdentity } from '../backend.js';
import { exclusiveLocks } from '../locks.js';
import type { State } from '../state.js';
import { mergeState, parseState, parseStateIdentity, parseStateJson, stateForServer } from '../state-text.js';
import { type Branch, type BranchSettings, withoutCredentials } from './branch.js';
import { gitRuns } from './runs.js';
import { type Change, Store } from './store.js';

export interface GitSettings extends BranchSettings {
  /** The file of the state on the branch, such as `state.json`. The folder `runs` with the journals is in the same folder. */
  readonly path: string;
}

/**
 * Keeps states and runs as commits on a branch of a remote, for runs on any machine. A push succeeds only if the branch and the lock
 * have not changed.
 */
export function gitBackend(settings: GitSettings): StateBackend {
  const { remote, branch, path } = settings;
  const place = `${path} on the branch ${branch} of ${withoutCredentials(remote)}`;
  const store = new Store(settings, path, place);
  const folder = posix.dirname(path);
  const within = (name: string): string => posix.join(folder, name);
  const saved = async (): Promise<State | undefined> => {
    const text = await store.read((head, of) => of.text(head, path));
    return text === undefined ? undefined : parseState(parseStateJson(text, place), place);
  };
  const readIdentity = async (file: string): Promise<StateIdentity | undefined> => {
    const text = await store
      .read((head, of) => of.text(head, file))
      .catch((failure: unknown) => {
        if (!hasProblem(failure, 'state-unreadable')) throw failure;
        return undefined;
      });
    return text === undefined ? undefined : parseStateIdentity(text);
  };
  const changeFor = (state: State): Change => ({
    files: new Map([[path, `${stringifyJson(state, 2)}\n`]]),
    message: `idops: ${path}, serial ${state.serial}`,
  });
  return {
    place,
    name: posix.basename(path),
    runs: gitRuns(store, within('runs'), place),
    load: async (server) => stateForServer(await saved(), place, server),
    saved,
    async save(state) {
      await store.change(() => changeFor(state));
    },
    async merge(change) {
      const merged = async (commit: string | null, of: Branch) => {
        const text = commit === null ? undefined : await of.text(commit, path);
        const there = text === undefined ? undefined : parseState(parseStateJson(text, place), place);
        const next = mergeState(there, change, place);
        const { resources: _, ...head } = next;
        return { ...changeFor(next), head };
      };
      const { head } = await store.change(merged, true);
      return head;
    },
    identity: () => readIdentity(path),
    async neighbours() {
      const files = await store.read((head, of) => of.list(head, folder === '.' ? '' : folder, 'blob'));
      const others = (files ?? []).map(within).filter((file) => file.endsWith('.json') && file !== path);
      const names = await Promise.all(others.map(readIdentity));
      return names.filter((name) => name !== undefined);
    },
    ...exclusiveLocks(store),
    // The branch of the state is never checked out.
    async check() {},
  };
}
