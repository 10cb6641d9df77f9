import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sensitive, type Value } from '../../src/base/values.js';
import { galleryHtml } from '../../src/report/gallery.js';
import { planHtml } from '../../src/report/html.js';
import { layout, layoutText } from '../mail/layouts.js';
import { often } from '../often.js';
import { hostileText } from './hostile.js';
import { hostilePlan, invisible, workflowCommand } from './hostile-plans.js';
import { changeOf, fieldOf, galleryTemplate, planOf, templateChange } from './plans.js';
import { emailsIn, treeOf } from './trees.js';

const plain = { samples: new Map(), debug: false };

function bodyOf(document: string): string | undefined {
  return /<body[^>]*>([\s\S]*)<\/body>/.exec(document)?.[1];
}

describe('the page of a plan', () => {
  it('forbids scripts, and everything from the network', () => {
    const html = planHtml(planOf([changeOf({ fields: [fieldOf()] })]), plain);
    const { elements } = treeOf(html);
    const policy = elements.find(({ attributes }) => attributes['http-equiv'] === 'Content-Security-Policy');
    expect(policy?.attributes.content).toBe(
      `default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; script-src 'none'`,
    );
    expect(elements.filter(({ tag }) => ['script', 'link', 'img', 'form', 'iframe'].includes(tag))).toEqual(
      [],
    );
  });

  it('shows what a set loses as before, and what it has then as after', () => {
    const cells = (before: Value | undefined, after: Value): string[] => {
      const fields = [fieldOf({ path: 'organizations', type: 'set', before, after, confirmed: true })];
      const html = planHtml(planOf([changeOf({ fields })]), plain);
      return [...html.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) =>
        cell
          .replace(/<[^>]+>/g, ' ')
          .replace(/\s+/g, ' ')
          .trim(),
      );
    };
    const a = { id: '1', name: 'a' };
    const b = { id: '2', name: 'b' };
    expect(cells([a], [a, b])).toEqual(['(none removed)', '+ b (1 unchanged)']);
    expect(cells([a, b], [b])).toEqual(['− a', '(1 unchanged)']);
    expect(cells([a], [])).toEqual(['− a', '(none)']);
    expect(cells([], [a])).toEqual(['(none removed)', '+ a']);
    expect(cells(undefined, [a])).toEqual(['(unknown)', '= a']);
    expect(cells(undefined, [])).toEqual(['(unknown)', '(none)']);
  });

  it('shows an email before and after, with sample data', () => {
    const change = templateChange(
      { txt_content: 'Hi {{ name }}', html_content: '<p>Hi {{ name }}</p>' },
      { txt_content: 'Hello {{ name }}', html_content: '<p>Hello {{ name }}</p>' },
    );
    const samples = new Map([
      [change.address, [{ name: 'a.yaml', file: 'a.yaml', data: { name: 'Ada & Bob' } }]],
    ]);
    const html = planHtml(planOf([change]), { ...plain, samples });
    expect(emailsIn(html).map(bodyOf)).toEqual(['<p>Hi Ada &amp; Bob</p>', '<p>Hello Ada &amp; Bob</p>']);
    expect(html).toContain('Hello Ada &amp; Bob</pre>');
    expect(html).toContain('Rendered with sample data, from <code>a.yaml</code>; pictures are blocked.');
  });

  it('opens the source of an email that looks the same, and lists the links that changed', () => {
    const page = (before: string, after: string, txt = 'a') =>
      planHtml(
        planOf([
          templateChange(
            { html_content: before, txt_content: 'a' },
            { html_content: after, txt_content: txt },
          ),
        ]),
        plain,
      );
    const opened = (html: string) => /value="(\w+)" checked>/.exec(html)?.[1];
    const same = 'As an email it looks the same; the source differs.';
    const link = (address: string, text = 'Go on') => `<a href="${address}">${text}</a>`;
    const hidden = page(link('{{ url }}'), link('https://evil.example/?u={{ url }}'));
    expect(hidden).toContain(
      'Link in the html body: <code>{{ url }}</code> → <code>https://evil.example/?u={{ url }}</code>',
    );
    expect(hidden).toContain(same);
    expect(opened(hidden)).toBe('source');
    for (const frame of emailsIn(hidden)) expect(frame).not.toMatch(/href/);
    const seen = page(link('https://a.example'), link('https://a.example/x', 'Go'));
    expect(seen).toContain('<code>https://a.example</code> → <code>https://a.example/x</code>');
    expect(seen).not.toContain(same);
    expect(opened(seen)).toBe('rendered');
    expect(opened(page('a', 'a', 'b'))).toBe('source');
    const many = page('', [...Array(52).keys()].map((index) => link(`/${index}`)).join(''));
    expect(many.match(/Link in the html body: \(none\) → /g)).toHaveLength(50);
    expect(many).toContain('2 more links changed.');
  });

  it('removes from an email what could reach the network', () => {
    const html =
      '<base href="https://evil.example"><link rel="preconnect" href="https://evil.example"><meta http-equiv="refresh" content="0;url=https://evil.example"><p>x</p>';
    const [, frame = ''] = emailsIn(
      planHtml(planOf([templateChange({ html_content: '' }, { html_content: html })]), plain),
    );
    expect(bodyOf(frame)).toBe('<p>x</p>');
    expect(frame).not.toContain('evil');
  });

  it('hides a secret body', () => {
    const secret = new Sensitive('hunter22 {{ a }}');
    const change = {
      ...templateChange({}, { txt_content: secret, html_content: secret }),
      fields: [
        fieldOf({ path: 'txt_content', type: 'body', before: undefined, after: secret, sensitive: true }),
      ],
    };
    expect(planHtml(planOf([change]), plain)).not.toContain('hunter22');
  });

  it('unfolds all of a few changes, and a dozen important ones of many', () => {
    const folds = (count: number, destructions: readonly string[]) => {
      const changes = [...Array(count).keys()].map((index) => ({
        ...templateChange({ html_content: 'a' }, { html_content: `b${index}` }),
        destructions,
      }));
      const html = planHtml(planOf(changes), plain);
      const boxes = treeOf(html).elements.filter(({ attributes }) =>
        /^change\b/.test(attributes.class ?? ''),
      );
      expect(boxes).toHaveLength(count);
      return boxes.filter(({ attributes }) => attributes.open !== undefined).length;
    };
    expect(folds(12, [])).toBe(12);
    expect(folds(13, [])).toBe(0);
    expect(folds(200, ['deletes the template'])).toBe(12);
  });

  it('stays small for many large emails that share nothing', () => {
    const changes = [...Array(3).keys()].map((index) =>
      templateChange(
        { html_content: layout(150, `old ${index}`) },
        { html_content: layout(150).replaceAll('td', `td data-x="${index}"`) },
      ),
    );
    expect(planHtml(planOf(changes), plain).length).toBeLessThan(22_500_000);
  });

  it.each([20, 100, 200])('shows an email of %i KB as users get it', (size) => {
    const change = templateChange(
      { txt_content: layoutText, html_content: layout(size) },
      { txt_content: layoutText, html_content: layout(size).replaceAll('#586ee0', '#0f766e') },
    );
    const frames = emailsIn(planHtml(planOf([change]), plain));
    expect(frames).toHaveLength(4);
    expect(frames[0]).toContain(
      'Paragraph 0 for Jane Doe, with <a style="color: #586ee0" title="https://example.com/action">',
    );
    expect(frames[0]).not.toContain('<!--');
  });

  it('contains only its own elements, whatever the plan contains', () => {
    const tags = new Set(
      'html head meta title style body a header main footer section h1 h2 h3 p ul li strong span code div fieldset legend label input details summary table thead tbody tr th td pre figure figcaption nav iframe ins del'.split(
        ' ',
      ),
    );
    const attributes = new Set(
      'lang charset http-equiv content name class href id data-kind data-action open type value checked scope tabindex role aria-label data-status sandbox loading referrerpolicy title srcdoc'.split(
        ' ',
      ),
    );
    fc.assert(
      fc.property(hostilePlan, fc.boolean(), (plan, debug) => {
        const html = planHtml(plan, { samples: new Map(), debug });
        const { elements, comments } = treeOf(html);
        expect(elements.map(({ tag }) => tag).filter((tag) => !tags.has(tag))).toEqual([]);
        const names = elements.flatMap((element) => Object.keys(element.attributes));
        expect(names.filter((name) => !attributes.has(name))).toEqual([]);
        const links = elements.filter(({ tag }) => tag === 'a').map((link) => link.attributes.href);
        expect(links.filter((link) => !/^#(?:main|change-\d+)$/.test(link ?? ''))).toEqual([]);
        expect(comments).toBe(0);
        expect(elements.filter(({ tag }) => tag === 'html')).toHaveLength(1);
        expect(html.replaceAll('\n', '')).not.toMatch(invisible);
        expect(html).not.toMatch(workflowCommand);
      }),
      { numRuns: often(300) },
    );
  });
});

describe('the gallery', () => {
  const template = galleryTemplate({
    bodies: { txt: 'Code {{ code }}', html: '<p>{{#a}}A{{/a}}{{^a}}B{{/a}}</p>' },
  });

  it('shows each mail wide and narrow, and as text', () => {
    const html = galleryHtml({ templates: [template], problems: [] });
    const documents = emailsIn(html).map(bodyOf);
    expect(documents).toEqual(['<p>A</p>', '<p>A</p>', '<p>B</p>', '<p>B</p>']);
    expect(html).toContain('Code 493172');
    expect(html).not.toContain('<script');
  });

  it('runs only the script that it is served with', () => {
    const html = galleryHtml({ templates: [], problems: [], script: { code: 'reload()', hash: 'x' } });
    expect(html).toContain('<script>reload()</script>');
    expect(html).toContain('script-src &#39;sha256-x&#39;; connect-src &#39;self&#39;"');
  });

  it('contains only its own elements, whatever the templates contain', () => {
    fc.assert(
      fc.property(fc.array(hostileText, { minLength: 6, maxLength: 6 }), (texts) => {
        const [address = '', file = '', txt = '', htmlBody = '', message = '', key = ''] = texts;
        const html = galleryHtml({
          templates: [
            {
              ...template,
              address,
              declaredAt: { file, line: 1 },
              bodies: { txt, html: `<script>${htmlBody}` },
              samples: [{ name: file, file, data: { [key]: message } }],
              warnings: [{ code: 'html-script', message }],
            },
          ],
          problems: [],
        });
        const { elements } = treeOf(html);
        expect(elements.filter(({ tag }) => ['script', 'img', 'svg', 'b'].includes(tag))).toEqual([]);
        expect(html.replaceAll('\n', '')).not.toMatch(invisible);
        expect(html).not.toMatch(workflowCommand);
      }),
    );
  });
});
