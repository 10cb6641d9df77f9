import { describe, expect, it } from 'vitest';
import { markerLine, noPlan } from '../../src/action/marker.js';
import {
  commentLimit,
  partsOf,
  sectionText,
  shortened,
  undoText,
  withResult,
} from '../../src/action/sections.js';

const [one, two] = ['1'.repeat(16), '2'.repeat(16)] as const;
const marker = (key: string): string => markerLine({ kind: 'plan', key, run: null, ...noPlan });
const lead = `${marker(one)}\n${marker(two)}\n`;
const both = `${lead}# Both\n\n${sectionText(one, 'plan one')}\n${sectionText(two, 'plan two')}`;
const link = 'https://github.example/run';
const told = (text: string, sent = true) => ({ text, sent, link });

describe('the parts of a comment', () => {
  it('are found by their lines, and all of a comment that lost them', () => {
    expect(partsOf(both, two)).toMatchObject({ planned: 'plan two', result: null });
    expect(partsOf(both.replaceAll('\n', '\r\n'), one)).toMatchObject({ planned: 'plan one' });
    expect(partsOf(`${marker(one)}\n## old\n\ntext\n`, one)).toEqual({
      before: `${marker(one)}\n`,
      planned: '## old\n\ntext',
      result: null,
      former: [],
      unsent: null,
      after: '',
    });
  });

  it('get a result each, which takes the place of the one before', () => {
    let body = withResult(partsOf(both, two), two, told('result of two'));
    body = withResult(partsOf(body, one), one, told('result of one'));
    body = withResult(partsOf(body, two), two, told('second result of two'));
    expect(body.startsWith(`${lead}# Both\n`)).toBe(true);
    expect(body).not.toContain('\nresult of two');
    for (const text of ['result of one', 'second result of two', 'plan one', 'plan two'])
      expect(body.split(`\n${text}\n`), text).toHaveLength(2);
    expect(partsOf(body, one)).toMatchObject({ planned: 'plan one', result: 'result of one' });
    expect(partsOf(body, two)).toMatchObject({ planned: 'plan two', result: 'second result of two' });
  });

  it('keep a result that sent something below the latest that sent nothing, and a line of each before it', () => {
    const result = (run: string): string =>
      `## idops apply: ${run}\n\nRun \`${run}\`\n\n${undoText(one, [`Back: \`idops undo ${run}\``])}\n\n- applied x`;
    let body = `${marker(one)}\n${sectionText(one, 'plan')}`;
    const step = (text: string, sent: boolean): void => {
      body = withResult(partsOf(body, one), one, told(text, sent));
    };
    step('no 1', false);
    expect(partsOf(body, one)).toMatchObject({ planned: 'plan', result: null, unsent: 'no 1' });
    step(result('r1'), true);
    step('no 2', false);
    step('no 3', false);
    expect(partsOf(body, one)).toMatchObject({ result: result('r1'), former: [], unsent: 'no 3' });
    expect(body).not.toMatch(/no [12]/);
    expect(body.indexOf('no 3')).toBeLessThan(body.indexOf('## idops apply: r1'));
    step(result('r2'), true);
    step(result('r3'), true);
    expect(partsOf(body, one)).toMatchObject({
      planned: 'plan',
      result: result('r3'),
      former: ['r2', 'r1'].map((run) => `- idops apply: ${run}. Run \`${run}\`. Back: \`idops undo ${run}\``),
      unsent: null,
    });
    for (let count = 4; count < 200; count += 1) step(result(`r${count}`), true);
    step(`no\n\n\`\`\`diff\n${'z\n'.repeat(40_000)}\`\`\`\n`, false);
    expect(body.length).toBeLessThanOrEqual(commentLimit);
    expect(body).toContain('idops undo r199');
    expect(body).not.toContain('```');
  });

  it('are not begun or ended by what only holds such a line', () => {
    const planned = `- \`<!-- /idops-section key=${one} -->\`\n+<!-- /idops-section key=${one} -->`;
    const body = `${marker(one)}\n${sectionText(one, planned)}`;
    expect(partsOf(withResult(partsOf(body, one), one, told('result')), one).planned).toBe(planned);
  });
});

describe('a plan that has too little room', () => {
  const entry = (name: string): string =>
    `<details><summary><code>${name}</code></summary>\n\n${'x'.repeat(100)}\n<details><summary>y</summary>\n\nz\n\n</details>\n\n</details>\n`;
  const plan = `## title\n\n${['a', 'b', 'c'].map(entry).join('\n')}\n- last\n`;

  it('loses what is folded from its end on, and then lines', () => {
    expect(shortened(plan, plan.length, link)).toBe(plan);
    const less = shortened(plan, plan.length - 1, link);
    expect(less).toContain('- <code>c</code>\n');
    expect(less).toContain('<details><summary><code>a</code>');
    const names = shortened(plan, 250, link);
    for (const name of ['a', 'b', 'c']) expect(names).toContain(`- <code>${name}</code>\n`);
    expect(names).toContain(`](${link})`);
  });

  it('stays within any room, with all that is folded closed', () => {
    for (let room = 0; room < plan.length; room += 7) {
      const text = shortened(plan, room, link);
      expect(text.length).toBeLessThanOrEqual(room);
      expect(text.match(/<details>/g)?.length).toBe(text.match(/<\/details>/g)?.length);
    }
  });

  it('leaves a comment as long as GitHub takes it', () => {
    const long = `${lead}${sectionText(one, 'x\n'.repeat(30_000))}\n${sectionText(two, 'y')}`;
    const body = withResult(partsOf(long, one), one, told('r'.repeat(10_000)));
    expect(body.length).toBeLessThanOrEqual(commentLimit);
    expect(partsOf(body, two).planned).toBe('y');
  });
});
