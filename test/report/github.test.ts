import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { error, warning } from '../../src/base/problems.js';
import { planGithub, problemsGithub } from '../../src/report/github.js';
import { often } from '../often.js';
import { hostileText } from './hostile.js';
import { hostilePlan, invisible } from './hostile-plans.js';
import { changeOf, fieldOf, planOf } from './plans.js';

interface Command {
  readonly level: string;
  readonly properties: { readonly [name: string]: string };
  readonly message: string;
}

/** Reads a line as GitHub's runner does. */
function commandOf(line: string): Command | null {
  const match = /^::(\w+) ([^:]*)::(.*)$/.exec(line);
  if (match === null) return null;
  const [, level = '', properties = '', message = ''] = match;
  const plain = (text: string) =>
    text
      .replaceAll('%0A', '\n')
      .replaceAll('%0D', '\r')
      .replaceAll('%3A', ':')
      .replaceAll('%2C', ',')
      .replaceAll('%25', '%');
  const pairs = properties.split(',').map((pair): [string, string] => {
    const [name = '', ...rest] = pair.split('=');
    return [name, plain(rest.join('='))];
  });
  return { level, properties: Object.fromEntries(pairs), message: plain(message) };
}

describe('a plan as annotations', () => {
  it('puts a warning at its place, about an object or the whole plan', () => {
    const place = { file: 'manifests/a.yaml', line: 7 };
    const warning = { code: 'ignored-field' as const, message: 'no notice', place };
    const declaredAt = { file: 'manifests/a.yaml', line: 3 };
    const plan = planOf([changeOf({ declaredAt, warnings: [warning] })], { warnings: [warning] });
    const commands = planGithub(plan, { folder: 'infra' }).split('\n').slice(0, 2).map(commandOf);
    expect(commands.map((one) => one?.properties)).toEqual([
      { file: 'infra/manifests/a.yaml', line: '7', title: 'idops ignored-field' },
      { file: 'infra/manifests/a.yaml', line: '7', title: 'idops ignored-field' },
    ]);
  });

  it('puts blocked and destructive changes first, each at its place', () => {
    const declaredAt = { file: 'manifests/a.yaml', line: 3 };
    const plan = planOf([
      changeOf({ fields: [fieldOf()], declaredAt, warnings: [{ code: 'no-list', message: '100% odd' }] }),
      changeOf({ address: 'User/1', destructions: ['blocks the user'], declaredAt }),
      changeOf({ action: 'blocked', address: 'Organization/x', reason: 'no such organization', declaredAt }),
      changeOf({ action: 'unchanged' }),
    ]);
    expect(planGithub(plan, { folder: 'infra' })).toBe(
      [
        '::error file=infra/manifests/a.yaml,line=3,title=idops blocked::Organization/x: no such organization',
        '::warning file=infra/manifests/a.yaml,line=3,title=idops destructive update::User/1: blocks the user',
        '::warning file=infra/manifests/a.yaml,line=3,title=idops no-list::Organization/acme: 100%25 odd',
        '::notice file=infra/manifests/a.yaml,line=3,title=idops update::Organization/acme: label',
        'idops plan: 2 to update, 1 blocked, 1 unchanged',
        '',
      ].join('\n'),
    );
  });

  it('puts privileged changes before all others, at the place that grants them', () => {
    const set = fieldOf({
      path: 'authorized_scopes',
      type: 'set',
      places: [{ file: 'users.yaml', line: 9 }],
    });
    const value = fieldOf({ places: [{ file: 'ada.yaml', line: 2 }] });
    const plan = planOf([
      changeOf({ action: 'blocked', reason: 'no such organization' }),
      changeOf({ address: 'User/1', fields: [value, set], privileges: ['gives users:manage:all'] }),
    ]);
    expect(planGithub(plan).split('\n').slice(0, 2)).toEqual([
      '::warning file=users.yaml,line=9,title=idops privileged update::User/1: gives users:manage:all',
      '::error title=idops blocked::Organization/acme: no such organization',
    ]);
  });

  it('contains only its own commands, whatever the plan contains', () => {
    fc.assert(
      fc.property(hostilePlan, (plan) => {
        const text = planGithub(plan);
        const lines = text.split('\n');
        expect(text.replaceAll('\n', '')).not.toMatch(invisible);
        expect(lines.pop()).toBe('');
        expect(lines.pop()).toMatch(
          /^idops plan: [\w, ]+(?:; outside it, something must still be restored(?:, \d+ unchanged)?)?$/,
        );
        for (const line of lines) {
          const command = commandOf(line);
          expect(['error', 'warning', 'notice']).toContain(command?.level);
          const names = Object.keys(command?.properties ?? {}).filter(
            (name) => !['file', 'line', 'title'].includes(name),
          );
          expect(names).toEqual([]);
          expect(command?.properties.title).toMatch(/^idops /);
        }
      }),
      { numRuns: often(500) },
    );
  });
});

describe('problems as annotations', () => {
  const place = { file: 'manifests/a.yaml', line: 4, column: 2, length: 5 };

  it('are at their first place, errors first, and name the other places', () => {
    const problems = [
      warning('no-list', 'this is odd'),
      error('duplicate-object', 'the same: twice', [place, { ...place, line: 9 }], 'remove one'),
    ];
    expect(problemsGithub(problems)).toBe(
      [
        '::error file=manifests/a.yaml,line=4,col=2,title=idops duplicate-object::the same: twice%0Aalso at manifests/a.yaml:9:2%0Ahelp: remove one',
        '::warning title=idops no-list::this is odd',
        '',
      ].join('\n'),
    );
  });

  it('are one line each, whatever they contain', () => {
    fc.assert(
      fc.property(
        fc.array(hostileText, { minLength: 3, maxLength: 3 }),
        ([message = '', hint = '', file = '']) => {
          const text = problemsGithub([error('internal', message, [{ ...place, file }], hint)]);
          expect(text.split('\n')).toHaveLength(2);
          const command = commandOf(text.trimEnd());
          expect(command?.level).toBe('error');
          expect(text.slice(0, -1)).not.toMatch(invisible);
        },
      ),
    );
  });

  it('name their file relative to the root of the repository', () => {
    const text = (folder: string, file: string) =>
      problemsGithub([error('internal', 'y', [{ ...place, file }])], { folder });
    expect(text('infra/idops', '../shared/a.yaml')).toContain('file=infra/shared/a.yaml,');
    expect(text('', './a.yaml')).toContain('file=a.yaml,');
  });
});
