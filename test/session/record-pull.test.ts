import { expect, it } from 'vitest';
import { loadProject } from '../../src/project/index.js';
import { createRedactor } from '../../src/secrets/redactor.js';
import { recordPull } from '../../src/session/record-pull.js';
import { emptyState } from '../../src/state/state.js';
import { project } from '../e2e/running.js';

it("a pull doesn't record what it read before a run changed the state", async () => {
  const made = await project({});
  const server = made.sandbox.url;
  const state = { ...emptyState(server), serial: 2 };
  await made.write({ '.idops/state.json': JSON.stringify(state) });
  const fields = { name: 'acme' };
  const one = { key: 'Organization/o', kind: 'Organization' as const, identity: { id: 'o' } };
  const record = async (serial: number) =>
    await recordPull(
      loadProject({ cwd: made.folder, variables: {} }),
      [{ ...one, expected: fields, managed: ['name'], fields }],
      { server, before: { ...state, serial }, files: [], redactor: createRedactor() },
    );
  expect(await record(1)).toMatchObject([{ code: 'not-recorded', severity: 'warning' }]);
  expect(JSON.parse(await made.read('.idops/state.json'))).toEqual(state);
  expect(await record(2)).toEqual([]);
  expect(JSON.parse(await made.read('.idops/state.json'))).toMatchObject({ serial: 3 });
});
