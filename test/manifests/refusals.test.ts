import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Problem, ProblemsError } from '../../src/base/problems.js';
import { loadManifests } from '../../src/manifests/load.js';
import { loadProject } from '../../src/project/index.js';

const projects = join(import.meta.dirname, '../projects');
const variables = { IDOPS_SECRET: 's3cr3t', AWS_SECRET_ACCESS_KEY: 'aws-s3cr3t' };

async function problemsOf(cwd: string): Promise<readonly Problem[]> {
  try {
    const project = await loadProject({ cwd, variables });
    return (await loadManifests(project, { lenient: false })).problems;
  } catch (failure) {
    if (failure instanceof ProblemsError) return failure.problems;
    throw failure;
  }
}

function line({ severity, code, places }: Problem): string {
  const where = places.map((place) => `${place.file}:${place.line}:${place.column}`).join(' and ');
  return `${severity}[${code}] ${where}`;
}

const named = readdirSync(projects).filter((name) => existsSync(join(projects, name, 'problems.txt')));

describe('every error of a project is reported at its place, and no secret is shown', () => {
  test.each(named)('%s', async (name) => {
    const cwd = join(projects, name);
    const found = await problemsOf(cwd);
    expect(found.map(line)).toEqual(readFileSync(join(cwd, 'problems.txt'), 'utf8').trimEnd().split('\n'));
    expect(JSON.stringify(found)).not.toMatch(/hunter2|s3cr3t/);
  });
});
