import { describe, expect, it, test } from 'vitest';
import type { Result } from '../../../src/apply/result.js';
import { commandLine, nextStepLines } from '../../../src/cli/commands/apply-plan.js';
import { resultOf } from '../../report/plans.js';

type Part = Pick<Result['results'][number], 'status' | 'action'>;

const ofParts = (...parts: Part[]): Result => ({
  run: 'r1',
  interrupted: false,
  results: parts.map((part) => resultOf(part)),
});

const updated = { status: 'applied', action: 'update' } as const;
const failed = { status: 'failed', action: 'update' } as const;
const global = { color: true };

describe('the next steps after a run', () => {
  const here = { environment: null };
  const undone = { environment: null, undoes: 'r0', again: ['undo', 'r0'] };
  const back = 'To undo this run: idops undo r1';
  const on = 'To send what is left, after a new plan: idops apply';
  const settle = 'idops runs settle r1 Organization/acme';
  it.each([
    ['that succeeded', ofParts(updated), here, [back]],
    ['that failed partly', ofParts(updated, failed), here, [on, back]],
    ['that did nothing', ofParts(failed), here, [on]],
    ['with an unknown outcome', ofParts({ status: 'unknown', action: 'update' }), here, [on, back]],
    ['that only recorded', ofParts({ status: 'applied', action: 'adopt' }), here, []],
    ['that regenerated', ofParts({ status: 'applied', action: 'regenerate' }), here, []],
    [
      'with an unknown regeneration',
      ofParts({ status: 'unknown', action: 'regenerate' }),
      here,
      [
        `Look at Organization/acme on the server. If it was regenerated: ${settle} --done`,
        `If it was not: ${settle} --not-done`,
      ],
    ],
    [
      'of undo',
      ofParts(updated),
      undone,
      ['If the manifests still declare the change, the next apply makes it again: update them too.'],
    ],
    ['of undo that failed', ofParts(failed), undone, ['To put back what is left: idops undo r0']],
    ['with nothing to do', { ...ofParts(), run: null }, here, []],
  ])('%s', (_, result, plan, sentences) => {
    expect(nextStepLines(result, plan, global)).toEqual(sentences);
  });

  it('contain the environment and the options of the project', () => {
    const options = { ...global, config: "it's/idops.yaml", baseUrl: 'https://id.example.com' };
    expect(nextStepLines(ofParts(updated), { environment: 'production' }, options)).toEqual([
      `To undo this run: idops undo r1 --config 'it'\\''s/idops.yaml' --env production --base-url https://id.example.com`,
    ]);
  });
});

test('a command is quoted for a shell', () => {
  expect(commandLine('plan', null, global)).toBe('idops plan');
  expect(commandLine('plan', 'a b', global)).toBe("idops plan --env 'a b'");
});

test('the next step after a partial plan repeats its selection', () => {
  const again = ['apply', '--target', 'Organization/acme', '--target', 'User/*', '--kind', 'User', '--prune'];
  expect(nextStepLines(ofParts(failed), { environment: 'eu', again }, global)).toEqual([
    "To send what is left, after a new plan: idops apply --target Organization/acme --target 'User/*' --kind User --prune --env eu",
  ]);
});
