import { expect, it } from 'vitest';
import { Catalog } from '../../src/kinds/catalog.js';
import { Decider } from '../../src/plan/decider.js';
import type { BuildOptions } from '../../src/plan/options.js';
import { profiles } from '../../src/server/profiles.js';

it('while a plan is applied, the former name of an object that it has renamed still finds the object', () => {
  const earlier = new Catalog([{ id: '1', name: 'acme' }]).afterPlan({
    changed: new Map([['1', { name: 'globex' }]]),
  });
  const options = { declared: [], state: { resources: {} }, profile: profiles.boruta };
  const now = { organizations: new Catalog([{ id: '1', name: 'globex' }]) };
  const { references } = new Decider(options as unknown as BuildOptions, now, { organizations: earlier });
  expect(references.organizations?.findNamed('acme')).toMatchObject({ id: '1' });
});
