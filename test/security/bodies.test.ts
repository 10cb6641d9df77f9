import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostileBody, hostileElements } from '../browser/hostile-bodies.js';
import { emailsIn, treeOf } from '../report/trees.js';
import { emailProject } from './email-project.js';

describe('emails in reports open no connection', () => {
  const url = 'https://canary.example';

  it('the plan and the preview contain no element that runs code, loads, embeds or links', async () => {
    const bodies = [...fc.sample(hostileBody, { numRuns: 200, seed: 11 }), ...hostileElements].map((of) =>
      // No server accepts a NUL, so it is refused earlier.
      of(url).replaceAll('\0', ''),
    );
    const at = await emailProject([bodies.slice(0, 150).join('\n'), ...bodies.slice(150)]);
    expect((await at.idops('plan --format html=plan.html')).code).toBe(0);
    expect((await at.idops('preview')).code).toBe(0);
    for (const name of ['plan.html', 'preview.html']) {
      const text = await at.read(name);
      const emails = emailsIn(text);
      expect(emails.length).toBeGreaterThan(50);
      for (const email of emails) {
        for (const element of treeOf(email).elements) expectHarmless(element);
      }
      for (const element of treeOf(text).elements) if (element.tag !== 'iframe') expectHarmless(element);
    }
  });

  const leading = /^(?:src|srcset|action|formaction|data|background|poster|ping|cite|longdesc|xlink:href)$/;

  function expectHarmless({ tag, attributes }: ReturnType<typeof treeOf>['elements'][number]): void {
    expect('script iframe link base object embed form svg math video audio'.split(' ')).not.toContain(tag);
    if (tag === 'meta') expect(attributes['http-equiv'] ?? '').not.toMatch(/refresh/i);
    for (const [name, value] of Object.entries(attributes)) {
      expect(name).not.toMatch(/^on/);
      if (name === 'href') expect(value).toMatch(/^#/);
      if (leading.test(name)) expect(value).toMatch(/^data:image\//);
      if (name === 'style') expect(value).not.toMatch(/url\((?!"data:image)/i);
    }
  }
});
