import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  approve,
  loadProject,
  openForWriting,
  openSession,
  ProblemsError,
  planGithub,
  planHtml,
  planJson,
  planMarkdown,
  planText,
  problemsOf,
  readPlan,
  ServerError,
  stringifyJson,
  validateProject,
} from '../../src/index.js';
import { ids, site } from '../boruta/site.js';

const password = 'correct-horse-battery-staple';

/** Everything that can be got at from a thing without calling its functions. */
function reachable(thing: unknown): string {
  const seen = new Set<unknown>();
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      return;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) {
      texts.push(String(key));
      walk(Object.getOwnPropertyDescriptor(value, key)?.value);
    }
    if (value instanceof Map || value instanceof Set) [...value].forEach(walk);
    walk(Object.getPrototypeOf(value));
  };
  walk(thing);
  return texts.join('\n');
}

/** A thing in all the ways in which a program may print or keep it. */
function shown(thing: unknown): string {
  return [
    inspect(thing, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true }),
    JSON.stringify(thing) ?? '',
    String(thing),
    reachable(thing),
  ].join('\n');
}

async function declared() {
  const at = await site();
  await at.declare({ kind: 'Organization', id: ids.acme, label: '${IDOPS_LABEL}' });
  const variables = { IDOPS_TOKEN: at.sandbox.token, IDOPS_LABEL: password };
  return { ...at, options: { cwd: at.folder, variables } };
}

describe('what a program is given', () => {
  test('holds no credential, however it is printed', async () => {
    const { options, sandbox } = await declared();
    const project = await loadProject(options);
    const session = await openForWriting(project, 'apply');
    const plan = await session.plan();
    const approved = approve(plan, { maxDestructive: 0 });
    const text = await session.storePlan(plan);
    const applied = await session.apply(approved);
    await session.close();
    const given = { project, session, plan, approved, stored: readPlan(text), applied };
    for (const [name, thing] of Object.entries({ ...given, text })) {
      for (const secret of [sandbox.token, password]) {
        expect(shown(thing), name).not.toContain(secret);
        expect(stringifyJson(thing), name).not.toContain(secret);
      }
    }
    expect(applied.result.results.map(({ status }) => status)).toEqual(['applied']);
    expect(sandbox.data.organizations.some(({ label }) => label === password)).toBe(true);
  });

  test('gives no way to the settings of the server', async () => {
    const { options } = await declared();
    const project = await loadProject(options);
    const session = await openSession(project);
    await session.close();
    expect(Object.keys(project).sort()).toEqual(['environment', 'file', 'maxDestructive', 'profile', 'root']);
    expect(Object.keys(session)).not.toContain('apply');
    expect(session.project).toBe(project);
    // @ts-expect-error: what is secret in it is not for programs.
    expect(project.server).toBeUndefined();
  });

  test('is reported without a credential in any format', async () => {
    const { options, sandbox } = await declared();
    const session = await openSession(await loadProject(options));
    const plan = await session.plan();
    await session.close();
    const reports = [
      planText(plan, { debug: true }),
      planMarkdown(plan, { debug: true }),
      await planHtml(plan, { debug: true }),
      planGithub(plan),
      stringifyJson(planJson(plan, { debug: true })),
    ];
    for (const report of reports) {
      expect(report).toContain('acme');
      expect(report).not.toContain(password);
      expect(report).not.toContain(sandbox.token);
    }
  });

  test('and what is thrown holds none either', async () => {
    const { options, sandbox, declare } = await declared();
    const wrong = 'not-the-token-of-anybody';
    const session = await openSession(
      await loadProject({ ...options, variables: { ...options.variables, IDOPS_TOKEN: wrong } }),
    );
    const failure = await session.plan().catch((error: unknown) => error);
    await session.close();
    expect(failure).toBeInstanceOf(ServerError);
    expect(shown(failure)).not.toContain(wrong);
    await declare({ kind: 'Organization', id: ids.acme, label: '${IDOPS_TOKEN}', lable: sandbox.token });
    const { problems } = await validateProject(options);
    expect(problems.length).toBeGreaterThan(1);
    expect(shown(problems)).not.toContain(sandbox.token);
    const project = await loadProject(options);
    const refused = await openSession(project).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ProblemsError);
    expect(problemsOf(refused).map(({ code }) => code)).toEqual(problems.map(({ code }) => code));
    expect(shown(refused)).not.toContain(sandbox.token);
  });
});
