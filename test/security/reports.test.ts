import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgetfulRedactor } from '../../src/base/forgetful.js';
import { createRedactor, type Redactor, type SecretKind } from '../../src/base/redact.js';
import type { Fields } from '../../src/base/values.js';
import type { FieldChange, Plan } from '../../src/plan/plan.js';
import { planGithub } from '../../src/report/github.js';
import { planHtml } from '../../src/report/html.js';
import { jsonText, planJson } from '../../src/report/json.js';
import { planMarkdown } from '../../src/report/markdown.js';
import { redactPlan } from '../../src/report/redacted.js';
import { planText } from '../../src/report/text.js';
import { often } from '../often.js';
import { hostilePlan } from '../report/hostile-plans.js';

/** Secrets that are markup, words or commands of our own reports. */
const secrets = [
  'sandbox=""',
  'Content-Security-Policy',
  '````',
  '```diff',
  '"action"',
  'update',
  'delete',
  '::notice file=',
  '::error',
  'title=idops',
  '<iframe',
  '<details>',
  '</summary>',
  '<code>',
  '&lt;',
  '&#58;',
  '%0A::error',
  'class=',
  'srcdoc="',
  "default-src 'none'",
  'script-src',
  '"before"',
  '{"sensitive": true}',
  'sha256:0123',
  'Organization/',
  'EmailTemplate',
  'documented',
  'https://id.example.com',
  'Required scopes',
  'Digest',
  'Plan: ',
  '  "changes": [',
  'html_content',
  'https://phish.example.com/reset',
  '## idops plan',
] as const;

const formats: { readonly [format: string]: (plan: Plan) => string } = {
  text: (plan) => planText(plan, { color: false, debug: true }),
  json: (plan) => jsonText(planJson(plan, { debug: true })),
  markdown: (plan) => planMarkdown(plan, { debug: true }),
  html: (plan) => planHtml(plan, { samples: new Map(), debug: true }),
  github: (plan) => planGithub(plan),
};

function knowing(secret: string, kind?: SecretKind): Redactor {
  const redactor = createRedactor();
  redactor.add(secret, kind);
  return redactor;
}

/** The plan with a text put into every value that is a text, and one into every sentence of idops. */
function withText(plan: Plan, added: string, said = added): Plan {
  const add = (text: string): string => `${text} ${added} `;
  const say = (text: string): string => `${text} ${said} `;
  const field = (one: FieldChange): FieldChange =>
    typeof one.after === 'string' ? { ...one, after: add(one.after) } : one;
  const bodies = (fields: Fields): Fields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, body]) => [name, typeof body === 'string' ? add(body) : body]),
    );
  return {
    ...plan,
    changes: plan.changes.map((change) => ({
      ...change,
      reason: change.reason === null ? null : say(change.reason),
      destructions: change.destructions.map(say),
      warnings: change.warnings.map(({ code, message }) => ({ code, message: say(message) })),
      fields: change.fields.map(field),
      apply: { ...change.apply, expected: bodies(change.apply.expected) },
    })),
    warnings: plan.warnings.map(({ code, message }) => ({ code, message: say(message) })),
  };
}

/** Whether a secret stands in no value of a plan by chance. */
function lacks(plan: Plan, redactor: Redactor): boolean {
  return JSON.stringify(redactPlan(plan, redactor)) === JSON.stringify(plan);
}

const secret = fc.constantFrom(...secrets);
const credentialKind = fc.constantFrom<SecretKind>('token', 'variable');

describe('a secret changes nothing of a report but the values that it stands in', () => {
  test.each(Object.keys(formats))('%s: what is reported is as if the masks had been the values', (format) => {
    const render = formats[format] ?? String;
    fc.assert(
      fc.property(hostilePlan, secret, credentialKind, (plan, hidden, kind) => {
        const redactor = knowing(hidden, kind);
        fc.pre(lacks(plan, redactor));
        const shown = render(redactPlan(withText(plan, hidden), redactor));
        // A variable's value that is a mere word stays in sentences, which may be made of it.
        const isWord = kind === 'variable' && /^[A-Z]?[a-z]+$/.test(hidden);
        expect(shown).toBe(render(withText(plan, '(sensitive)', isWord ? hidden : '(sensitive)')));
      }),
      { numRuns: often(120) },
    );
  });

  test.each(Object.keys(formats))('%s: what a manifest declares secret hides nothing elsewhere', (format) => {
    const render = formats[format] ?? String;
    fc.assert(
      fc.property(hostilePlan, secret, (plan, hidden) => {
        const before = withText(plan, hidden);
        expect(render(redactPlan(before, knowing(hidden, 'declared')))).toBe(render(before));
      }),
      { numRuns: often(40) },
    );
  });
});

/** Attributes that hold no value of a plan. */
const own =
  /^(?:class|data-(?!email)|http-equiv|type|content|open|checked|scope|colspan|lang|charset|id|for)/;

/**
 * The elements of a page and their attributes, with the values of those that hold none of the plan's; without the emails, since two that
 * differ in what is hidden are one afterwards.
 */
function elementsOf(html: string): string[] {
  const found: string[] = [];
  const visit = (node: DefaultTreeAdapterTypes.Node, depth: number): void => {
    if ('tagName' in node) {
      if (node.attrs.some(({ value }) => value === 'application/json')) return;
      const attributes = node.attrs.map(({ name, value }) => (own.test(name) ? `${name}=${value}` : name));
      found.push(`${depth} ${node.tagName} ${attributes.join(' ')}`);
    }
    if (node.nodeName === '#comment') found.push(`${depth} comment`);
    if ('childNodes' in node) for (const child of node.childNodes) visit(child, depth + 1);
  };
  visit(parse(html), 0);
  return found;
}

const markdown = new MarkdownIt({ html: true });

/** The blocks of a Markdown text: headings, fences, lists, blocks of HTML with their elements. */
function blocksOf(text: string): string[] {
  return markdown.parse(text, {}).map(({ type, tag, info, markup, content }) => {
    if (type === 'fence') return `fence ${info}`;
    return type === 'html_block' ? `html ${elementsOf(content).join('; ')}` : `${type} ${tag} ${markup}`;
  });
}

/** The commands of a workflow's log: their level, title, file and line. */
function commandsOf(text: string): string[] {
  return text.split('\n').map((line) => /^::(?:error|warning|notice) [^:]*::/.exec(line)?.[0] ?? '');
}

/** The shape of JSON: its keys, and its texts where nothing in them is masked. */
function shapeOf(value: unknown, other: unknown): unknown {
  if (Array.isArray(value)) return value.map((item, index) => shapeOf(item, (other as unknown[])?.[index]));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        key,
        shapeOf(member, (other as { [key: string]: unknown })?.[key]),
      ]),
    );
  }
  const masked = (one: unknown): boolean =>
    typeof one === 'string' && (one.includes('(sensitive)') || one.includes(ordinary));
  return masked(value) || masked(other) ? 'a value' : value;
}

/** What nobody masks, of the length of a mask. */
const ordinary = 'an-ordinary';

describe('a report with masks has the structure of the report without', () => {
  /** Markup of templates, in bodies, decides which variants of an email there are. */
  const plain = fc.constantFrom(...secrets.filter((text) => !text.includes('{')));

  function compare(see: (shown: Plan, open: Plan) => readonly [unknown, unknown]): void {
    fc.assert(
      fc.property(hostilePlan, plain, credentialKind, (plan, hidden, kind) => {
        const redactor = knowing(hidden, kind);
        fc.pre(lacks(plan, redactor));
        // As wide as a mask, since the width of a value decides whether it is shown on a line.
        const [shown, was] = see(redactPlan(withText(plan, hidden), redactor), withText(plan, ordinary));
        expect(shown).toEqual(was);
      }),
      { numRuns: often(100) },
    );
  }

  test('JSON', () => {
    compare((shown, open) => {
      const [one, other] = [shown, open].map((plan) => JSON.parse(jsonText(planJson(plan, { debug: true }))));
      return [shapeOf(one, other), shapeOf(other, one)];
    });
  });

  test('annotations', () => {
    compare((shown, open) => [commandsOf(planGithub(shown)), commandsOf(planGithub(open))]);
  });

  test('Markdown', () => {
    const of = (plan: Plan) => blocksOf(planMarkdown(plan, { debug: false, budget: 10_000_000 }));
    compare((shown, open) => [of(shown), of(open)]);
  });

  test('HTML', () => {
    // Which words of a line are marked as changed depends on the words, and a mask is another one.
    const of = (plan: Plan) =>
      elementsOf(planHtml(plan, { samples: new Map(), debug: false })).filter(
        (element) => !/^\d+ (ins|del) $/.test(element),
      );
    compare((shown, open) => [of(shown), of(open)]);
  });
});

describe('what is masked in a finished file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idops-reports-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test.each(Object.keys(formats))(
    '%s goes to its file as it was rendered, whatever the secrets are',
    async (name) => {
      const { show } = await import('../../src/cli/formats.js');
      const { createContext } = await import('../../src/cli/context.js');
      const context = createContext(
        { color: false, quiet: true },
        new AbortController().signal,
        forgetfulRedactor([]),
        process,
        [],
      );
      for (const text of secrets) context.redactor.add(text);
      const [plan = null] = fc.sample(hostilePlan, { numRuns: 1, seed: 7 });
      if (plan === null) throw new Error('there is no plan');
      const file = join(folder, name);
      const render = formats[name] ?? String;
      const report = {
        redact: redactPlan,
        formats: { [name]: async () => (made: Plan) => render(made) },
      };
      await show([{ name, file }], report, plan, context);
      expect(await readFile(file, 'utf8')).toBe(render(redactPlan(plan, context.redactor)));
    },
  );
});
