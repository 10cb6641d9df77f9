import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/base/problems.js';
import type { PlanWarning } from '../../src/plan/plan.js';
import { galleryHtml } from '../../src/report/gallery.js';
import { planGithub, problemsGithub } from '../../src/report/github.js';
import { planHtml } from '../../src/report/html.js';
import { planJson, problemsJson } from '../../src/report/json.js';
import { planMarkdown } from '../../src/report/markdown.js';
import { problemsText } from '../../src/report/problems.js';
import { planText } from '../../src/report/text.js';
import { placeList } from '../../src/report/words.js';
import { changeOf, planOf } from './plans.js';

const at = (line: number, file = 'emails/a.html') => ({ file, line, column: 9 });
const several = [at(5), at(8), at(12)];

describe('the places of a finding', () => {
  it('are listed with their file once, and counted beyond a limit', () => {
    expect(placeList(several.slice(0, 1))).toBe('emails/a.html:5:9');
    expect(placeList(several, 3)).toBe('emails/a.html:5:9, 8:9, 12:9 and 3 more');
    expect(placeList([at(1), at(2, 'b.txt'), at(3, 'b.txt')])).toBe('emails/a.html:1:9, b.txt:2:9, 3:9');
    const many = Array.from({ length: 40 }, (_, index) => at(index + 1));
    expect(placeList(many, 7)).toMatch(/^emails\/a\.html:1:9, 2:9, .*, 10:9 and 37 more$/);
    expect(placeList([at(1, 'a b\u001b[31m')])).toBe('"a b\\u001b[31m":1:9');
  });

  const warning: PlanWarning = {
    code: 'image-without-alt',
    message: 'the html body has 6 images without alt text',
    place: at(5),
    places: several,
    morePlaces: 3,
  };
  const plan = planOf([changeOf({ warnings: [warning] })]);

  it('are all in a plan, in every format', () => {
    const list = 'emails/a.html:5:9, 8:9, 12:9 and 3 more';
    expect(planText(plan, { color: false, debug: false }).replace(/\s+/g, ' ')).toContain(`(${list})`);
    expect(planHtml(plan, { samples: new Map(), debug: false })).toContain(`(${list})`);
    expect(planMarkdown(plan, { debug: false })).toContain('`emails/a.html:5:9`, `8:9`, `12:9` and 3 more');
    expect(planGithub(plan)).toContain('alt text%0Aalso at emails/a.html:8:9, 12:9 and 3 more');
    expect(planGithub(plan)).toContain('file=emails/a.html,line=5,col=9');
    expect(planJson(plan, { debug: false }).changes[0]?.warnings).toEqual([
      { code: warning.code, message: warning.message, place: several[0], places: several, more_places: 3 },
    ]);
  });

  const problem: Problem = {
    code: 'image-without-alt',
    severity: 'warning',
    message: warning.message,
    places: [...several, at(20), at(21)].map((place) => ({ ...place, length: 1, text: '        <img>' })),
    morePlaces: 3,
  };

  it('are all in a problem, the first ones with their lines', () => {
    const text = problemsText([problem], { color: false });
    expect(text.match(/<img>/g)).toHaveLength(3);
    expect(text).toContain('--> also at emails/a.html:20:9, 21:9 and 3 more\n');
    expect(problemsGithub([problem])).toContain('also at emails/a.html:8:9, 12:9, 20:9, 21:9 and 3 more');
    expect(galleryHtml({ templates: [], problems: [problem] })).toContain(
      'emails/a.html:5:9, 8:9, 12:9, 20:9, 21:9 and 3 more',
    );
    expect(problemsJson([problem]).problems[0]).toMatchObject({ more_places: 3 });
    expect(problemsJson([problem]).problems[0]?.places).toHaveLength(5);
  });
});
