import { expect, it } from 'vitest';
import { readRuns } from '../../src/apply/find-runs.js';
import { pastRun } from '../../src/report/past.js';
import { runText } from '../../src/report/runs.js';
import { fileRuns } from '../../src/state/file/runs.js';
import { ids, site } from '../boruta/site.js';

it('describes an adoption as done', async () => {
  const at = await site();
  await at.apply({ kind: 'Client', id: ids.portal, did_generation: 1 });
  const { runs } = await readRuns(fileRuns(`${at.folder}/.idops/runs`));
  const [found] = runs;
  if (found === undefined) throw new Error('no run');
  const text = runText(await pastRun(found), { color: false, debug: false });
  expect(text).toContain('    recorded, nothing was sent\n    applied ');
  expect(text).not.toContain('will be');
});
