import { expect, it } from 'vitest';
import { emptyState } from '../../../src/state/state.js';
import { conforms } from '../backends.js';
import { races } from '../races.js';
import { conforming, overFile, overHttp } from './place.js';

conforms('on a branch of a git remote over HTTP', conforming(overHttp));
races('on a branch of a git remote', conforming(overFile));
races('on a branch of a git remote over HTTP', conforming(overHttp));

it('a branch keeps what others saved on it meanwhile', async () => {
  const { open, remove } = await overFile();
  const states = Array.from({ length: 6 }, (_, index) => ({
    ...emptyState('https://id.example.com'),
    serial: index,
  }));
  await Promise.all(states.map((state, index) => open(`s${index}`).save(state)));
  const found = await Promise.all(states.map((_, index) => open(`s${index}`).saved()));
  expect(found).toEqual(states);
  await remove();
});
