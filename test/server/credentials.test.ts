import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createRedactor } from '../../src/secrets/redactor.js';
import {
  bearerToken,
  type Credentials,
  headerCredentials,
  headerFault,
  RenewingCredentials,
  type Token,
  tokenCommand,
  tokenFile,
} from '../../src/server/credentials.js';
import type { Scope } from '../../src/server/operations.js';
import { neededVariables, runTokenCommand } from '../../src/server/token-command.js';
import { temporaryFolder } from '../cleanups.js';
import { deadlines } from '../deadlines.js';
import { problemOf } from './serving.js';

const scope = 'users:manage:all';

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder('credentials');
});

async function headerValue(credentials: Credentials): Promise<string> {
  return (await credentials.current(scope)).value;
}

async function renew(credentials: Credentials): Promise<boolean> {
  return await credentials.renew(await credentials.current(scope), scope);
}

describe('a bearer token', () => {
  test('becomes an Authorization header', async () => {
    const credentials = bearerToken('abc.DEF-1~+/==');
    const value = 'Bearer abc.DEF-1~+/==';
    expect(await credentials.current(scope)).toEqual({ name: 'authorization', value });
    expect(await renew(credentials)).toBe(false);
  });

  test.each([
    ['', 'empty'],
    ['hunter2\n', 'white space'],
    ['hunter2\r\nX-Other: 1', 'white space'],
    ['Bearer hunter2', 'white space'],
    ['hunter2\u0000', 'not visible'],
    ['hunter2\u200b', 'not visible'],
    ['hunter2é', 'not visible'],
    ['s', 'has fewer than 4 characters'],
    ['xyz', 'has fewer than 4 characters'],
  ])('%j is refused before anything is sent, and not repeated', async (token, why) => {
    const problem = await problemOf(() => bearerToken(token));
    expect(problem.code).toBe('bad-token');
    expect(problem.message).toContain(why);
    expect(JSON.stringify(problem)).not.toContain('hunter2');
  });
});

describe('a chosen header', () => {
  test('is sent unchanged', async () => {
    const value = 'abc defg';
    expect(await headerCredentials('X-Api-Key', value).current(scope)).toEqual({ name: 'x-api-key', value });
  });

  test.each([
    ['X-Api-Key', 'abc defg', null],
    ['Authorization', 'Basic YTpi', null],
    ['', 'abc', 'name'],
    ['X Api', 'abc', 'name'],
    ['X-Api:', 'abc', 'name'],
    ['Host', 'abc', 'name'],
    ['content-length', '1', 'name'],
    ['Proxy-Authorization', 'abc', 'name'],
    ['X-Api-Key', '', 'value'],
    ['X-Api-Key', 'a\r\nb: c', 'value'],
    ['X-Api-Key', ' abc', 'value'],
    ['X-Api-Key', 'é', 'value'],
  ])('%j with %j: the invalid part is %j', (name, value, part) => {
    expect(headerFault(name, value)?.part ?? null).toBe(part);
  });
});

describe('a token file', () => {
  test('is trimmed, and read again when its token is refused', async () => {
    const path = join(folder, 'token');
    const secrets: string[] = [];
    const credentials = tokenFile(path, 'token', (secret) => secrets.push(secret));
    await writeFile(path, '\uFEFF  first\r\n');
    expect(await headerValue(credentials)).toBe('Bearer first');
    await writeFile(path, 'second');
    expect(await headerValue(credentials)).toBe('Bearer first');
    const refused = await credentials.current(scope);
    expect(await credentials.renew(refused, scope)).toBe(true);
    expect(await headerValue(credentials)).toBe('Bearer second');
    // A second request that was refused with the first token reuses the renewed one.
    await writeFile(path, 'third');
    expect(await credentials.renew(refused, scope)).toBe(true);
    expect(await headerValue(credentials)).toBe('Bearer second');
    expect(secrets).toEqual(['first', 'second']);
  });

  test('that still contains the refused token gives no renewal', async () => {
    const path = join(folder, 'token');
    await writeFile(path, 'same');
    expect(await renew(tokenFile(path, 'token', () => {}))).toBe(false);
  });

  test('that is missing when its token is refused is reported, and the token stays', async () => {
    const path = join(folder, 'token');
    await writeFile(path, 'first');
    const credentials = tokenFile(path, 'token', () => {});
    await headerValue(credentials);
    await rm(path);
    expect(await problemOf(() => renew(credentials))).toMatchObject({ code: 'token-unreadable' });
    expect(await headerValue(credentials)).toBe('Bearer first');
  });

  test('that is missing is named', async () => {
    const credentials = tokenFile(join(folder, 'none'), 'secrets/token', () => {});
    expect(await problemOf(() => credentials.current(scope))).toMatchObject({
      code: 'token-unreadable',
      message: "the token file secrets/token can't be read: it does not exist (ENOENT)",
    });
  });

  test.each(['', ' \n', ' xyz\n', 'hunter2\nhunter3'])('that contains %j is refused', async (content) => {
    const path = join(folder, 'token');
    await writeFile(path, content);
    const problem = await problemOf(() => tokenFile(path, 'x', () => {}).current(scope));
    expect(problem.code).toBe('bad-token');
    expect(problem.message).toContain('the token in x');
    expect(problem.message).not.toContain('hunter');
  });
});

describe('a token command', () => {
  const node = (code: string, ...args: string[]) => ({
    argv: [process.execPath, '-e', code, ...args],
    cwd: folder,
    variables: {},
  });
  const guard = { redact: (text: string) => text.replaceAll('hunter2', '***'), onSecret: () => {} };

  test("prints the token, run in the configuration's folder without a shell", async () => {
    const credentials = tokenCommand(
      node('process.stdout.write(process.cwd() + process.argv[1] + "\\n")', '$(id);`id`'),
      guard,
    );
    expect(await headerValue(credentials)).toMatch(/^Bearer .*idops-credentials-\w+\$\(id\);`id`$/);
  });

  test('runs once for many requests, and again when its token is refused', async () => {
    const count = 'require("fs").appendFileSync("runs", "x");';
    const print = 'process.stdout.write("tok" + require("fs").readFileSync("runs").length)';
    const secrets: string[] = [];
    const credentials = tokenCommand(node(count + print), {
      ...guard,
      onSecret: (secret) => secrets.push(secret),
    });
    const values = await Promise.all([1, 2, 3].map(() => headerValue(credentials)));
    expect(new Set(values)).toEqual(new Set(['Bearer tok1']));
    expect(await renew(credentials)).toBe(true);
    expect(await headerValue(credentials)).toBe('Bearer tok2');
    expect(new Set(secrets)).toEqual(new Set(['tok1', 'tok2']));
  });

  test('that fails is reported with its output, without secrets and arguments', async () => {
    const code = 'console.error("no\\u001b[31m access with hunter2"); process.exit(3)';
    const problem = await problemOf(() => tokenCommand(node(code, 'argument'), guard).current(scope));
    expect(problem).toMatchObject({
      code: 'token-command-failed',
      message: 'the token command node exited with 3: no [31m access with ***',
    });
  });

  test('has a secret output even if it fails', async () => {
    const secrets: string[] = [];
    const options = { ...guard, onSecret: (secret: string) => void secrets.push(secret) };
    const code = 'console.log("half-a-token"); process.exit(1)';
    await problemOf(() => runTokenCommand(node(code), options));
    expect(secrets).toContain('half-a-token');
  });

  test.each([
    ['is not there', ['/nowhere/at-all'], 'the token command at-all was not found'],
    ['may not be run', ['/etc/passwd'], 'the token command passwd may not be run by this user'],
  ])('that %s is reported', async (_, argv, message) => {
    expect(await problemOf(() => runTokenCommand({ argv, cwd: folder, variables: {} }, guard))).toMatchObject(
      { code: 'token-command-failed', message },
    );
  });

  test('gets only the variables that programs need and the listed ones', async () => {
    const print =
      'process.stdout.write(Object.keys(process.env).filter((name) => name !== "PWD").sort().join("|"))';
    vi.stubEnv('IDOPS_TOKEN', 'hunter2');
    vi.stubEnv('MARKED_SECRET', 'hunter3');
    vi.stubEnv('LC_TIME', 'C');
    try {
      const command = { ...node(print), variables: { HANDED_ON: 'x' } };
      const names = (await runTokenCommand(command, guard)).split('|');
      expect(names).toEqual(expect.arrayContaining(['HANDED_ON', 'LC_TIME', 'PATH']));
      expect(names).not.toContain('IDOPS_TOKEN');
      expect(names).not.toContain('MARKED_SECRET');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('gets what Windows needs under Windows, in any case', () => {
    const given = { Path: 'p', SystemRoot: 's', 'ProgramFiles(x86)': 'f', IDOPS_TOKEN: 't', AWS_KEY: 'k' };
    expect(Object.keys(neededVariables(given, 'win32'))).toEqual(['Path', 'SystemRoot', 'ProgramFiles(x86)']);
    expect(neededVariables(given, 'linux')).toEqual({});
  });

  test("that prints its variables doesn't have them repeated", async () => {
    const redactor = createRedactor();
    const command = {
      ...node('console.error(process.env.HANDED_ON); process.exit(1)'),
      variables: { HANDED_ON: 'hunter2' },
    };
    const problem = await problemOf(() =>
      runTokenCommand(command, { redact: redactor.redactEcho, onSecret: redactor.add }),
    );
    expect(problem.message).toBe('the token command node exited with 1: (sensitive)');
  });

  test('whose path leads through a file is not found', async () => {
    const through = { ...node(''), argv: [`${process.execPath}/token`] };
    expect((await problemOf(() => runTokenCommand(through, guard))).message).toBe(
      'the token command token was not found',
    );
  });

  test("that doesn't end is killed", async () => {
    const hanging = node('setInterval(() => {}, 1000)');
    const ended = await problemOf(() => runTokenCommand(hanging, { ...guard, timeout: 0.001 }));
    expect(ended.message).toBe('the token command node did not end within 0.001 s');
  });

  test('that leaves a child with open pipes gives its token', async () => {
    const time = deadlines();
    const child = 'require("child_process").spawn("sleep", ["600"], { stdio: "inherit" })';
    const leaving = node(`const { pid } = ${child}; console.log("token" + pid); process.exit()`);
    const given = runTokenCommand(leaving, { ...guard, grace: time.seconds });
    while (!time.pass()) await turn();
    const token = (await given).trim();
    process.kill(Number(token.slice('token'.length)));
  });

  test('that is running is killed if no token is needed any more', async () => {
    const over = new AbortController();
    const waiting = node('require("fs").writeFileSync("began", ""); setInterval(() => {}, 1000)');
    const ended = problemOf(() => runTokenCommand(waiting, { ...guard, signal: over.signal }));
    while (!existsSync(join(folder, 'began'))) await turn();
    over.abort();
    expect((await ended).message).toBe('the token command node was interrupted');
  });

  test('that prints endlessly is killed', async () => {
    const endless = node('setInterval(() => process.stdout.write("x".repeat(65536)), 0)');
    expect((await problemOf(() => runTokenCommand(endless, guard))).message).toBe(
      'the token command node printed more than a token',
    );
  });

  test('that prints nothing gives no token', async () => {
    expect(await problemOf(() => tokenCommand(node(''), guard).current(scope))).toMatchObject({
      code: 'bad-token',
      message: 'the output of node is empty',
    });
    expect(
      await problemOf(() => tokenCommand(node('console.log("xyz")'), guard).current(scope)),
    ).toMatchObject({ code: 'bad-token', message: 'the output of node has fewer than 4 characters' });
  });
});

describe('credentials that are renewed', () => {
  function rig(tokens: (Token | Error)[], now: () => number = () => 0) {
    const asked: Scope[][] = [];
    const source = async (needed: ReadonlySet<Scope>): Promise<Token> => {
      asked.push([...needed]);
      await Promise.resolve();
      const next = tokens.shift();
      if (next === undefined || next instanceof Error) throw next ?? new Error('no more tokens');
      return next;
    };
    return { credentials: new RenewingCredentials(source, () => {}, now), asked };
  }
  const token = (text: string, more: Partial<Token> = {}): Token => ({
    text,
    renewAt: null,
    scopes: null,
    ...more,
  });

  test('before their token expires', async () => {
    let time = 0;
    const { credentials } = rig([token('a', { renewAt: 100 }), token('b')], () => time);
    expect(await headerValue(credentials)).toBe('Bearer a');
    time = 99;
    expect(await headerValue(credentials)).toBe('Bearer a');
    time = 100;
    expect(await headerValue(credentials)).toBe('Bearer b');
  });

  test('if a request requires another scope, then with all required scopes', async () => {
    const { credentials, asked } = rig([
      token('a', { scopes: new Set(['users:manage:all']) }),
      token('b', { scopes: new Set(['users:manage:all', 'clients:manage:all']) }),
    ]);
    expect((await credentials.current('users:manage:all')).value).toBe('Bearer a');
    expect((await credentials.current('clients:manage:all')).value).toBe('Bearer b');
    expect((await credentials.current('users:manage:all')).value).toBe('Bearer b');
    expect(asked).toEqual([['users:manage:all'], ['users:manage:all', 'clients:manage:all']]);
  });

  test('once for all requests that were refused at the same time', async () => {
    const { credentials, asked } = rig([token('a'), token('b')]);
    const refused = await credentials.current(scope);
    const renewals = [1, 2, 3].map(() => credentials.renew(refused, scope));
    expect(await Promise.all(renewals)).toEqual([true, true, true]);
    expect(asked).toHaveLength(2);
  });

  test('and keep the old token if there is no new one', async () => {
    let time = 0;
    const { credentials } = rig([token('a', { renewAt: 1 }), new Error('down')], () => time);
    await headerValue(credentials);
    time = 1;
    expect(await headerValue(credentials)).toBe('Bearer a');
  });

  test('are requested again after a failure', async () => {
    const { credentials } = rig([new Error('down'), token('a')]);
    await expect(credentials.current(scope)).rejects.toThrow('down');
    expect(await headerValue(credentials)).toBe('Bearer a');
  });
});
