import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonText } from '../../src/base/escape.js';
import type { Fields } from '../../src/base/values.js';
import type { FieldChange, Plan } from '../../src/plan/plan.js';
import { planGithub } from '../../src/report/github.js';
import { planHtml } from '../../src/report/html.js';
import { planJson } from '../../src/report/json.js';
import { planMarkdown } from '../../src/report/markdown.js';
import { redactPlan } from '../../src/report/redact-plan.js';
import { planText } from '../../src/report/text.js';
import {
  createRedactor,
  type Redactor,
  resettableRedactor,
  type SecretKind,
} from '../../src/secrets/redactor.js';
import { temporaryFolder } from '../cleanups.js';
import { often } from '../often.js';
import { hostilePlan } from '../report/hostile-plans.js';

/** Secrets that are markup, words or commands of idops's reports. */
const secrets = [
  ...'sandbox=""|Content-Security-Policy|````|```diff|"action"|update|delete|::notice file='.split('|'),
  ...'::error|title=idops|<iframe|<details>|</summary>|<code>|&lt;|&#58;|%0A::error|class='.split('|'),
  ...'srcdoc="|default-src \'none\'|script-src|"before"|{"sensitive": true}|sha256:0123'.split('|'),
  ...'Organization/|EmailTemplate|documented|https://id.example.com|Required scopes|Digest'.split('|'),
  ...'Plan: |  "changes": [|html_content|https://phish.example.com/reset|## idops plan'.split('|'),
] as const;

const formats: { readonly [format: string]: (plan: Plan) => string } = {
  text: (plan) => planText(plan, { color: false, debug: true }),
  json: (plan) => jsonText(planJson(plan, { debug: true })),
  markdown: (plan) => planMarkdown(plan, { debug: true }),
  html: (plan) => planHtml(plan, { samples: new Map(), debug: true }),
  github: (plan) => planGithub(plan),
};

function redactorOf(secret: string, kind?: SecretKind): Redactor {
  const redactor = createRedactor();
  redactor.add(secret, kind);
  return redactor;
}

/** The plan with a text added to every string value, and another to every sentence of idops. */
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

/** Whether no value of the plan contains the secret by chance. */
function lacks(plan: Plan, redactor: Redactor): boolean {
  return JSON.stringify(redactPlan(plan, redactor)) === JSON.stringify(plan);
}

const secret = fc.constantFrom(...secrets);
const credentialKind = fc.constantFrom<SecretKind>('token', 'variable');

describe('a secret changes only the values of a report that contain it', () => {
  test.each(Object.keys(formats))('%s: a masked plan renders as if its values were the masks', (format) => {
    const render = formats[format] ?? String;
    fc.assert(
      fc.property(hostilePlan, secret, credentialKind, (plan, hidden, kind) => {
        const redactor = redactorOf(hidden, kind);
        fc.pre(lacks(plan, redactor));
        const shown = render(redactPlan(withText(plan, hidden), redactor));
        // A variable's value that is a plain word stays in sentences, which may contain it by chance.
        const isWord = kind === 'variable' && /^[A-Z]?[a-z]+$/.test(hidden);
        expect(shown).toBe(render(withText(plan, '(sensitive)', isWord ? hidden : '(sensitive)')));
      }),
      { numRuns: often(120) },
    );
  });

  test.each(Object.keys(formats))('%s: a secret declared in a manifest masks nothing elsewhere', (format) => {
    const render = formats[format] ?? String;
    fc.assert(
      fc.property(hostilePlan, secret, (plan, hidden) => {
        const before = withText(plan, hidden);
        expect(render(redactPlan(before, redactorOf(hidden, 'declared')))).toBe(render(before));
      }),
      { numRuns: often(40) },
    );
  });
});

describe('a finished report', () => {
  test.each(Object.keys(formats))('%s is written to its file as rendered, with any secrets', async (name) => {
    const { show } = await import('../../src/cli/formats.js');
    const { createContext } = await import('../../src/cli/context.js');
    const context = createContext(
      { color: false, quiet: true },
      new AbortController().signal,
      resettableRedactor([]),
      process,
      [],
    );
    for (const text of secrets) context.redactor.add(text);
    const [plan = null] = fc.sample(hostilePlan, { numRuns: 1, seed: 7 });
    if (plan === null) throw new Error('there is no plan');
    const file = join(await temporaryFolder('reports'), name);
    const render = formats[name] ?? String;
    const report = { redact: redactPlan, formats: { [name]: async (made: Plan) => render(made) } };
    await show([{ name, file }], report, plan, context);
    expect(await readFile(file, 'utf8')).toBe(render(redactPlan(plan, context.redactor)));
  });
});
