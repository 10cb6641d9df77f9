import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  approve,
  createRedactor,
  loadProject,
  openForWriting,
  openSession,
  planReport,
  problemsOf,
  problemsReport,
  resultReport,
  show,
  validateProject,
} from '../../src/index.js';
import { ids, site } from '../boruta/site.js';

const password = 'correct-horse-battery-staple';

/** All texts that a program may print of a value. */
function printed(thing: unknown): string {
  return [
    inspect(thing, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true }),
    JSON.stringify(thing) ?? '',
    String(thing),
  ].join('\n');
}

async function declared() {
  const at = await site();
  await at.declare({ kind: 'Organization', id: ids.acme, label: '${IDOPS_LABEL}' });
  const variables = { IDOPS_TOKEN: at.sandbox.token, IDOPS_LABEL: password };
  return { ...at, options: { cwd: at.folder, variables } };
}

describe('what a program receives', () => {
  test('never prints credentials or secrets', async () => {
    const { options, sandbox } = await declared();
    const project = await loadProject(options);
    const session = await openForWriting(project, 'apply');
    const plan = await session.plan();
    const approved = approve(plan, { maxDestructive: 0 });
    const stored = await session.storePlan(plan);
    const { result } = await session.apply(approved);
    await session.close();
    const given = { project, server: await project.server(), session, plan, approved, stored, result };
    for (const [name, thing] of Object.entries(given)) {
      for (const secret of [sandbox.token, password]) expect(printed(thing), name).not.toContain(secret);
    }
    expect(result.results.map(({ status }) => status)).toEqual(['applied']);
    expect(sandbox.data.organizations.some(({ label }) => label === password)).toBe(true);
  });

  test('never shows them in any format, nor texts of the server with them', async () => {
    const { options, sandbox } = await declared();
    const organization = sandbox.data.organizations.find(({ id }) => id === ids.acme);
    Object.assign(organization ?? {}, { label: `was ${password}` });
    const redactor = createRedactor();
    const session = await openForWriting(await loadProject(options), 'apply', { redactor });
    const plan = await session.plan();
    const { result } = await session.apply(approve(plan, { maxDestructive: 0 }));
    await session.close();
    const reports: string[] = [];
    for (const name of Object.keys(planReport.formats))
      reports.push(await show(planReport, name, { plan }, redactor, { debug: true }));
    for (const name of Object.keys(resultReport.formats))
      reports.push(await show(resultReport, name, { result, plan }, redactor));
    expect(reports[0]).toContain('~ update Organization/acme');
    for (const report of reports) {
      expect(report).not.toContain(password);
      expect(report).not.toContain(sandbox.token);
    }
  });

  test('never shows them in errors', async () => {
    const { options, sandbox, declare } = await declared();
    const redactor = createRedactor();
    const wrong = 'not-the-token-of-anybody';
    const variables = { ...options.variables, IDOPS_TOKEN: wrong };
    const session = await openSession(await loadProject({ ...options, variables }), { redactor });
    const failure = await session.plan().catch((error: unknown) => error);
    await expect(session.planRegeneration(`${wrong}\u001b[31m`)).rejects.toThrow('is not the id of a client');
    expect(printed(await session.planRegeneration(`${wrong}\u001b[31m`).catch(String))).not.toMatch(
      /not-the-token|\u001b/,
    );
    await session.close();
    expect(printed(failure)).not.toContain(wrong);
    expect(await show(problemsReport, 'text', problemsOf(failure), redactor)).toContain(
      'server-unauthorized',
    );
    await declare({ kind: 'Organization', id: ids.acme, label: '${IDOPS_TOKEN}', lable: sandbox.token });
    const refused = await openSession(await loadProject(options), { redactor }).catch(
      (error: unknown) => error,
    );
    const { problems } = await validateProject(() => loadProject(options), { onSecret: redactor.add });
    expect(problemsOf(refused).map(({ code }) => code)).toEqual(problems.map(({ code }) => code));
    expect(await show(problemsReport, 'text', problems, redactor)).not.toContain(sandbox.token);
  });
});
