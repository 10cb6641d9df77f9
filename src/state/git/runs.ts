import { stringifyJson } from '../../base/json.js';
import { isJournalName } from '../../base/shard.js';
import type { RunStore } from '../backend.js';
import {
  batchedJournal,
  isRunning,
  type Journal,
  journalError,
  parseJournal,
  runningError,
} from '../journal.js';
import type { Branch } from './branch.js';
import type { Store } from './store.js';

/** The journals in a folder of the branch: a folder for each run, with a file for each batch of lines. */
export function gitRuns(store: Store, runs: string, place: string): RunStore {
  const folder = (run: string): string => `${runs}/${run}`;
  const batches = async (head: string, branch: Branch, run: string): Promise<string[]> =>
    (await branch.list(head, folder(run), 'blob')).filter((name) => /^\d{8}\.jsonl$/.test(name));
  const names = async (): Promise<string[]> =>
    (await store.read((head, branch) => branch.list(head, runs, 'tree'))) ?? [];
  const read = async (run: string): Promise<string> => {
    const found = await store.read(async (head, branch) => {
      const names = await batches(head, branch, run);
      return await branch.texts(
        head,
        names.map((name) => `${folder(run)}/${name}`),
        (why) => journalError(`${run} in ${place}`, `it ${why}`),
      );
    });
    return (found ?? []).join('');
  };
  return {
    list: async () => (await names()).filter(isJournalName),
    otherFiles: async () => (await names()).filter((name) => !isJournalName(name)),
    read: async (run) => parseJournal(await read(run), run, `${run} in ${place}`),
    async hasEnd(run) {
      const text = await store.read(async (head, branch) => {
        const last = (await batches(head, branch, run)).at(-1);
        return last === undefined ? undefined : await branch.text(head, `${folder(run)}/${last}`);
      });
      return (text ?? '').trimEnd().split('\n').at(-1)?.startsWith('{"type":"end"') === true;
    },
    buffered: async () => [],
    async create(first) {
      const { run } = first;
      await store.change(async (head, branch) => {
        if (head !== null && (await batches(head, branch, run)).length > 0) {
          throw new Error(`there is a journal of ${run} already`);
        }
        const files = new Map([[`${folder(run)}/${numbered(0)}`, `${stringifyJson(first)}\n`]]);
        return { files, message: `idops: run ${run} begins` };
      });
      return gitJournal(store, folder(run), run, 1);
    },
    async reopen(content) {
      if (isRunning(content)) throw runningError(content.run);
      const { run } = content.run;
      const last = await store.read(async (head, branch) => (await batches(head, branch, run)).at(-1));
      return gitJournal(store, folder(run), run, Number.parseInt(last ?? '-1', 10) + 1);
    },
    async remove(names) {
      if (names.length === 0) return;
      const what = names.length === 1 ? `the journal of ${names[0]}` : `${names.length} journals`;
      const files = new Map(names.map((run) => [folder(run), null]));
      await store.change(() => ({ files, message: `idops: ${what} removed` }));
    },
  };
}

function numbered(number: number): string {
  return `${String(number).padStart(8, '0')}.jsonl`;
}

/** A journal whose next batch has this number. */
function gitJournal(store: Store, folder: string, run: string, next: number): Journal {
  let number = next;
  return batchedJournal(async (lines) => {
    // A batch that seemed to fail may have arrived, so its number is never used again.
    const path = `${folder}/${numbered(number)}`;
    number += 1;
    const files = new Map([[path, lines.map((line) => `${line}\n`).join('')]]);
    await store.change(() => ({ files, message: `idops: run ${run}` }));
  });
}
