import { describe, expect, test } from 'vitest';
import { listObjects, loadProject, openSession, ProblemsError, pull } from '../../src/index.js';
import { config, project } from '../e2e/running.js';
import { ids } from '../sandbox/asking.js';

const boruta = config.replace('server:\n', 'server:\n  profile: boruta\n');

async function place() {
  const at = await project({ 'idops.yaml': boruta }, { profile: 'boruta' });
  const variables = { IDOPS_BASE_URL: at.sandbox.url, IDOPS_TOKEN: at.sandbox.token };
  return { ...at, loaded: await loadProject({ cwd: at.folder, variables }) };
}

describe('pull', () => {
  test('works out files, writes them when it is told to, and the plan is empty then', async () => {
    const { loaded, files, writes } = await place();
    const pulling = await pull(loaded);
    expect(pulling).toMatchObject({
      profile: 'boruta',
      added: 11,
      updated: 0,
      unchanged: 0,
      left: [],
      toSet: [],
    });
    expect(Object.keys(await files())).toEqual(['idops.yaml']);
    await pulling.write();
    const session = await openSession(loaded);
    const { changes } = await session.plan().finally(() => session.close());
    expect(changes.filter(({ action }) => action !== 'unchanged')).toEqual([]);
    expect(writes()).toEqual([]);
    await expect(pulling.write()).rejects.toThrow('file-moved');
  });

  test('refuses what the command would refuse', async () => {
    const { loaded } = await place();
    await expect(pull(loaded, { kinds: ['Nobody' as never] })).rejects.toThrow(TypeError);
    await expect(pull(loaded, { out: 1 as never })).rejects.toThrow(TypeError);
    await expect(pull(loaded, { backends: ['..'] })).rejects.toThrow(ProblemsError);
  });
});

test('listObjects lists ids and names, and says what could not be found', async () => {
  const { loaded } = await place();
  const listing = await listObjects(loaded, { kinds: ['User', 'Client'], users: [ids.ada, ids.nobody] });
  expect(listing.objects).toEqual([
    {
      kind: 'User',
      address: `User/${ids.ada}`,
      identity: { id: ids.ada },
      name: 'ada@acme.example',
      remark: null,
    },
  ]);
  expect(listing.missing).toMatchObject([{ code: 'not-found' }]);
  expect(listing.notes).toHaveLength(1);
});
