import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstFew } from '../../src/base/words.js';
import type { Change, PlanWarning } from '../../src/plan/plan.js';
import { allWarnings } from '../../src/report/review.js';
import { groupWarnings } from '../../src/report/warnings.js';
import { placeList } from '../../src/report/words.js';
import { hostilePlan } from './hostile-plans.js';
import { changeOf, planOf } from './plans.js';

const id = (index: number) => `4000000${index}-2f5d-4a58-9a51-6b1f8a1d7c11`;

function users(...warnings: readonly (readonly PlanWarning[])[]): Change[] {
  return warnings.map((own, index) =>
    changeOf({
      kind: 'User',
      address: `User/${id(index)}`,
      label: `user${index}@acme.example`,
      warnings: own,
    }),
  );
}

const unknown = (field: string): PlanWarning => ({
  code: 'unknown-set',
  message: `the present ${field} aren't known: what is there and not in the manifest will be lost`,
});

describe('equal warnings', () => {
  it('become one, with all their objects', () => {
    const changes = users(...Array.from({ length: 5 }, () => [unknown('organizations')]));
    const groups = groupWarnings(planOf(changes));
    expect(groups).toEqual([
      {
        warnings: expect.toSatisfy((given: unknown[]) => given.length === 5),
        ...unknown('organizations'),
        objects: changes,
        places: [],
      },
    ]);
    expect(groups.map((group) => firstFew(group.objects.map(({ label = '' }) => label)))).toEqual([
      'user0@acme.example, user1@acme.example, user2@acme.example and 2 more',
    ]);
  });

  it('are not grouped if the field or the code differs, or for the whole plan', () => {
    const [one, other] = [unknown('organizations'), unknown('authorized_scopes')];
    const recoded: PlanWarning = { ...one, code: 'not-there' };
    const plan = planOf(users([one, other], [one, recoded]), { warnings: [one] });
    expect(groupWarnings(plan).map(({ code, message, objects }) => [code, message, objects.length])).toEqual([
      [one.code, one.message, 0],
      [one.code, one.message, 2],
      [other.code, other.message, 1],
      [recoded.code, recoded.message, 1],
    ]);
  });

  it("are grouped if only their objects' ids differ, and keep one of the ids", () => {
    const gone = (backend: string, type = 'tx_code'): PlanWarning => ({
      code: 'not-there',
      message: `it has no backend with the id ${backend}, or no email template of the type ${type}`,
    });
    const template = (backend: string, type = 'tx_code') =>
      changeOf({
        kind: 'EmailTemplate',
        address: `EmailTemplate/${backend}/${type}`,
        warnings: [gone(backend, type)],
      });
    const changes = [template(id(1)), template(id(2)), template(id(3), 'confirmation')];
    expect(groupWarnings(planOf(changes)).map(({ message, objects }) => [message, objects.length])).toEqual([
      ['it has no backend with the id …, or no email template of the type tx_code', 2],
      [gone(id(3), 'confirmation').message, 1],
    ]);
  });

  it("don't mistake a word for an object's name", () => {
    const changes = ['organizations', 'authorized_scopes'].map((name) =>
      changeOf({ kind: 'User', address: `User/${name}`, warnings: [unknown(name)] }),
    );
    expect(groupWarnings(planOf(changes))).toHaveLength(2);
  });

  it("don't mistake part of an id for a name", () => {
    const changes = [1, 2].map((index) => {
      const warning = { code: 'by-server', message: `${id(index)}-${index} is another one` } as const;
      return changeOf({ address: `Organization/${id(index)}`, warnings: [warning] });
    });
    expect(groupWarnings(planOf(changes))).toHaveLength(2);
  });

  it('keep each of their places once', () => {
    const image = { code: 'image-without-alt', message: '1 image has no alt' } as const;
    const at = (line: number) => ({ ...image, place: { file: 'emails/reset.html', line, column: 3 } });
    const [group] = groupWarnings(planOf(users([at(1), at(9)], [at(9)], [at(12)], [at(13)])));
    expect(group?.objects).toHaveLength(4);
    expect(placeList(group?.places ?? [], group?.morePlaces)).toBe('emails/reset.html:1:3, 9:3, 12:3, 13:3');
  });

  it('of a plan belong to the object that they name with their place', () => {
    const changes = users([], [], []);
    const warnings = changes.map(({ address }, index): PlanWarning => {
      const place = { file: 'manifests/users.yaml', line: index + 3 };
      const where = `(${place.file}:${place.line})`;
      const message = `${address}: the server takes no notice of "group" ${where}, so it is neither sent nor compared`;
      return { code: 'ignored-field', message, place };
    });
    const [group, ...others] = groupWarnings(planOf(changes, { warnings }));
    expect(others).toEqual([]);
    expect(group).toMatchObject({
      message: 'the server takes no notice of "group", so it is neither sent nor compared',
      objects: changes,
    });
    expect(group?.places).toHaveLength(3);
    const [one] = groupWarnings(planOf(users([]), { warnings: warnings.slice(0, 1) }));
    expect(one?.objects).toHaveLength(1);
  });

  it('lose nothing: each is in one group, with its object and its place', () => {
    fc.assert(
      fc.property(hostilePlan, (plan) => {
        const groups = groupWarnings(plan);
        const all = allWarnings(plan);
        for (const { code, message, change, place } of all) {
          const own = groups.filter(
            (group) =>
              group.code === code &&
              group.message === message &&
              (change === null ? group.objects.length === 0 : group.objects.includes(change)),
          );
          expect(own).toHaveLength(1);
          if (place !== undefined) expect(own[0]?.places).toContainEqual(place);
        }
        expect(groups.length).toBeLessThanOrEqual(all.length);
        for (const { objects } of groups) expect(new Set(objects).size).toBe(objects.length);
      }),
    );
  });
});
