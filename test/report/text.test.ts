import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChangeResult, Result } from '../../src/apply/result.js';
import { HashedSecret, Sensitive, type Value } from '../../src/base/values.js';
import type { FieldChange } from '../../src/plan/plan.js';
import { resultText } from '../../src/report/result-text.js';
import { planText } from '../../src/report/text.js';
import { often } from '../often.js';
import { hostileText, marker } from './hostile.js';
import { hostilePlan } from './hostile-plans.js';
import { changeOf, fieldOf, mixedPlan, planOf, resultOf } from './plans.js';

const plain = { color: false, debug: false };

function fieldText(parts: Partial<FieldChange>, debug = false): string {
  const text = planText(planOf([changeOf({ fields: [fieldOf(parts)] })]), { color: false, debug });
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.includes('update Organization/acme')) + 1;
  return lines
    .slice(start, lines.indexOf('', start))
    .map((line) => line.slice(4))
    .join('\n');
}

describe('the text of a plan', () => {
  it('reads as a whole', () => {
    expect(planText(mixedPlan, plain)).toBe(`Server:      https://id.example.com
Profile:     documented
Environment: production

~ update Organization/acme  at manifests/organizations.yaml:3
    label: "ACME" → "ACME Corp"

~ update User/9b1d
    recorded 2026-01-30T12:00:00Z, not read from the server
    destructive: removes the membership of globex
    organizations:
      - globex (id 2)
      (1 unchanged)
    backend.smtp_password: (unknown) → (sensitive)

! blocked Organization/initech
    reason: the server has no organization "initech", and no operation creates
      one

warning[too-large]: this is a large plan

Required scopes: users:manage:all
Digest: sha256:0123
Plan: 2 to update, 0 to delete, 0 to regenerate, 1 blocked, 2 unchanged, 1 of them by record. 1 is destructive: User/9b1d.
`);
  });

  it('ends with only the summary if there is nothing else to count', () => {
    const text = planText(planOf([changeOf(), ...Array(3).fill(changeOf({ action: 'unchanged' }))]), plain);
    expect(text).toMatch(/\nPlan: 1 to update, 0 to delete, 0 to regenerate, 3 unchanged\.\n$/);
  });

  it('counts adoptions before blocked and unchanged objects', () => {
    const actions = ['delete', 'regenerate', 'adopt', 'blocked', 'unchanged'] as const;
    expect(planText(planOf(actions.map((action) => changeOf({ action }))), plain)).toContain(
      '\nPlan: 0 to update, 1 to delete, 1 to regenerate, 1 to adopt, 1 blocked, 1 unchanged.\n',
    );
  });

  it('says that an undo has nothing to restore', () => {
    const text = planText({ ...planOf([]), undoes: 'r1' }, plain);
    expect(text).toContain('\nUndoes:      run r1\n');
    expect(text).toContain('\nNothing to put back.\n');
  });

  it('lists unchanged objects and requests with debug', () => {
    const plan = planOf([
      changeOf({ requests: [{ operation: 'updateOrganization', params: { organization_id: 'a/b' } }] }),
      changeOf({ action: 'unchanged', address: 'User/1' }),
    ]);
    expect(planText(plan, plain)).not.toContain('User/1');
    expect(planText(plan, plain)).not.toContain('PATCH');
    const debug = planText(plan, { color: false, debug: true });
    expect(debug).toContain('\n    sends PATCH /api/organizations/a%2Fb\n');
    expect(debug).toContain('\n= unchanged User/1\n');
  });

  it('explains an unknown present value and an adoption', () => {
    const apply = { ...changeOf().apply, generation: 2 };
    const adopted = changeOf({ kind: 'Client', action: 'adopt', observed: 'unknown', apply });
    const text = planText(planOf([changeOf({ observed: 'unknown' }), adopted]), plain);
    expect(text).toContain('\n    present value unknown: will be asserted\n');
    expect(text).toContain('\n    did_generation 2 will be recorded, nothing is sent\n');
  });

  it('colours the marks if allowed, and says the same without colours', () => {
    const plan = planOf([changeOf({ destructions: ['x'], fields: [fieldOf()] })]);
    const colored = planText(plan, { color: true, debug: false });
    expect(colored).toContain('\u001b[33m~ update\u001b[39m');
    // biome-ignore lint/complexity/useRegexLiterals: the escape is clearer in a string
    expect(colored.replace(new RegExp('\u001b\\[\\d+m', 'g'), '')).toBe(planText(plan, plain));
  });

  it('colours removed lines red and added lines green', () => {
    const globex = { before: [{ id: '2', name: 'globex' }], after: [], confirmed: true };
    const fields = [
      fieldOf({ before: 'Old', after: 'New' }),
      fieldOf({ path: 'organizations', type: 'set', ...globex }),
      fieldOf({ path: 'group', before: undefined, after: 'staff' }),
    ];
    const text = planText(planOf([changeOf({ fields })]), { color: true, debug: false });
    const [red, green, end] = ['\u001b[31m', '\u001b[32m', '\u001b[39m'];
    expect(text).toContain(`label: ${red}"Old"${end} → ${green}"New"${end}\n`);
    expect(text).toContain(`group: (unknown) → ${green}"staff"${end}\n`);
    expect(text).toContain(`\n      ${red}- globex${end}\n`);
  });

  it('names at most five destructive changes in its last line, by display name', () => {
    const changes = Array.from({ length: 7 }, (_, index) =>
      changeOf({ address: `User/${index}`, destructions: ['a', 'b'] }),
    );
    expect(planText(planOf(changes), plain)).toContain(
      '\nPlan: 7 to update, 0 to delete, 0 to regenerate, 0 unchanged. ' +
        '7 are destructive (14 things in all): User/0, User/1, User/2, User/3, User/4 and 2 more.\n',
    );
    const ada = changeOf({ address: 'User/0', label: 'ada@acme.example', destructions: ['a'] });
    expect(planText(planOf([ada]), plain)).toMatch(/ 1 is destructive: User\/0 \(ada@acme\.example\)\.\n$/);
  });

  it('shows equal warnings of many objects once, after the changes, and each one with debug', () => {
    const ids = ['4000', '4001', '4002', '4003'].map((start) => `${start}0000-0000-4000-8000-000000000001`);
    const unknown = { code: 'unknown-set', message: "the present roles aren't known" } as const;
    const changes = ids.map((id, at) =>
      changeOf({
        address: `User/${id}`,
        kind: 'User',
        ...(at === 0 ? { label: 'ada@acme.example' } : {}),
        warnings: at === 1 ? [unknown, { code: 'restores', message: `${id}: only this one` }] : [unknown],
      }),
    );
    const ignored = ids.map((id, at) => ({
      code: 'ignored-field' as const,
      message: `User/${id}: the server takes no notice of "uid" (a.yaml:${at})`,
      place: { file: 'a.yaml', line: at },
    }));
    const plan = planOf(changes, { warnings: [...ignored, { code: 'too-large', message: 'large' }] });
    const text = planText(plan, plain);
    expect(text.match(/unknown-set/g)).toHaveLength(1);
    expect(text).toContain(
      `warning[unknown-set]: 4 objects: the present roles aren't known\n    User/${ids[0]} (ada@acme.example),\n`,
    );
    expect(text.match(/ignored-field/g)).toHaveLength(1);
    expect(text).toMatch(/\n {4}at a\.yaml:0, 1, 2[^\n]*\n/);
    expect(text).toContain(`\n    warning[restores]: ${ids[1]}: only this one\n`);
    expect(text).toContain('\nwarning[too-large]: large\n');
    const debug = planText(plan, { color: false, debug: true });
    expect(debug.match(/unknown-set/g)).toHaveLength(4);
    expect(debug.match(/ignored-field/g)).toHaveLength(4);
  });

  it('quotes an address that could be mistaken for other text', () => {
    const change = changeOf({ address: 'Organization/acme  at fake.yaml:1' });
    expect(planText(planOf([change]), plain)).toContain('\n~ update "Organization/acme  at fake.yaml:1"\n');
  });
});

describe('a field', () => {
  const secret = { after: new Sensitive('s3cret'), sensitive: true };

  it.each<[string, Partial<FieldChange>, string]>([
    ['a text', { before: 'a', after: 'b' }, 'label: "a" → "b"'],
    ['null', { before: 'a', after: null }, 'label: "a" → null'],
    ['an unknown value', { before: undefined, after: true }, 'label: (unknown) → true'],
    ['a key that goes', { before: 'a', after: null, becomes: 'removed' }, 'label: "a" → (removed)'],
    ['a key that comes', { before: null, was: 'absent', after: 'b' }, 'label: (absent) → "b"'],
    [
      'a text of several lines that goes with its key',
      { before: 'a\nb', after: null, becomes: 'removed' },
      'label: removed\n  │ @@ -1,2 +0,0 @@\n  │ -a\n  │ -b',
    ],
    ['a map', { before: null, after: { a: [1, 'x'] } }, 'label: null → {"a": [1, "x"]}'],
    ['a secret', { before: new HashedSecret('h', () => false), ...secret }, 'label: (sensitive)'],
    [
      'a secret in place of what is unknown',
      { before: undefined, ...secret },
      'label: (unknown) → (sensitive)',
    ],
    ['a secret inside', { before: null, after: { a: secret.after } }, 'label: null → {"a": (sensitive)}'],
  ])('shows %s', (_, parts, text) => {
    expect(fieldText(parts)).toBe(text);
  });

  it('shows long values whole with debug', () => {
    const text = fieldText({ before: 'a'.repeat(300), after: null }, true);
    expect(text).toBe(`label: "${'a'.repeat(300)}"\n  → null`);
  });
});

describe('a set', () => {
  const set = (before: Value | undefined, after: Value, confirmed = false) =>
    fieldText({ path: 'organizations', type: 'set', before, after, confirmed });
  const viewer = { id: 'v', name: 'viewer' };
  const editor = { id: 'e', name: 'editor' };
  const acme = { id: '1', name: 'acme' };
  const initech = { id: '2', name: 'initech' };
  const umbrella = { id: '4', name: 'umbrella' };
  const before = [{ ...acme, roles: [viewer] }, initech, umbrella];
  const after = [{ id: '1', roles: [editor] }, { id: '3', name: 'globex', roles: [editor] }, umbrella];

  it('shows ids next to names that no list confirmed, within elements too', () => {
    expect(set(before, after)).toBe(`organizations:
  + globex (id 3) (roles: editor (id e))
  - initech (id 2)
  ~ acme (id 1) (roles: + editor (id e) - viewer (id v))
  (1 unchanged)`);
  });

  it('names added, removed and changed elements', () => {
    expect(set(before, after, true)).toBe(`organizations:
  + globex (roles: editor)
  - initech
  ~ acme (roles: + editor - viewer)
  (1 unchanged)`);
  });

  it('names elements by id if they have no name, and by both if the name is ambiguous', () => {
    expect(set([], [{ id: '7d' }])).toBe('organizations:\n  + 7d');
    const twins = 'organizations:\n  + acme (id 2)\n  - acme (id 1)';
    expect(set([acme], [{ ...acme, id: '2' }])).toBe(twins);
  });

  it('shows the new elements if the present ones are unknown', () => {
    expect(set(undefined, [acme])).toBe('organizations: (unknown) → exactly these\n  = acme (id 1)');
    expect(set(undefined, [])).toBe('organizations: (unknown) → none');
  });

  it('treats null as the empty set', () => {
    expect(set(null, [{ name: 'acme' }])).toBe('organizations:\n  + acme');
    expect(set([{ name: 'acme' }], null)).toBe('organizations:\n  - acme');
  });

  it('shows a changed and an unknown label inside an element', () => {
    const relabelled = set([{ ...acme, label: 'Old' }], [{ ...acme, label: 'New' }]);
    expect(relabelled).toBe('organizations:\n  ~ acme (id 1) (label: "Old" → "New")');
    const unknown = set([acme], [{ ...acme, roles: [{ name: 'r' }] }]);
    expect(unknown).toBe('organizations:\n  ~ acme (id 1) (roles: (unknown) → r)');
  });

  it('quotes a name that contains markup', () => {
    expect(set([], [{ name: 'acme (roles: + admin)' }])).toBe('organizations:\n  + "acme (roles: + admin)"');
  });

  it('shows plain values if they are not sets of objects', () => {
    expect(set(['a'], ['b'])).toBe('organizations: ["a"] → ["b"]');
  });
});

describe('a body', () => {
  const body = (before: Value | undefined, after: Value, debug = false) =>
    fieldText({ path: 'txt_content', type: 'body', before, after }, debug);

  it('is shown as a diff with three lines of context', () => {
    const lines = (fifth: string) => `1\n2\n3\n4\n${fifth}\n6\n7\n8\n9\n`;
    const shown = ['@@ -2,7 +2,7 @@', ' 2', ' 3', ' 4', '-old', '+new', ' 6', ' 7', ' 8'];
    const diff = ['txt_content:', ...shown.map((line) => `  │ ${line}`)].join('\n');
    expect(body(lines('old'), lines('new'))).toBe(diff);
  });

  it.each([
    ['line endings', 'a\r\nb\r\n', 'a\nb\n', 'line endings: CRLF → LF'],
    ['a final newline that comes', 'a\nb', 'a\nb\n', 'a final newline is added'],
    ['a final newline that goes', 'a\nb\n', 'a\nb', 'the final newline is removed'],
    ['a byte order mark', '\ufeffa\nb\n', 'a\nb\n', 'the byte order mark is removed'],
  ])('describes %s only in words', (_, before, after, words) => {
    expect(body(before, after)).toBe(`txt_content:\n  ${words}`);
  });

  it('shows which lines change their ending if endings are mixed', () => {
    expect(body('a\r\nb\n', 'a\nb\n')).toBe(
      'txt_content:\n  line endings: mixed → LF\n  │ @@ -1,2 +1,2 @@\n  │ -a\\r\n  │ +a\n  │  b',
    );
    expect(body('a\r\nb\nc\n', 'a\nb\r\nc\n')).toContain('-a\\r\n  │ -b\n  │ +a\n  │ +b\\r\n');
  });

  it("distinguishes escaped characters from a line's own text", () => {
    expect(body('a\\u200bz\nb\n', 'a\u200bz\nb\n')).toContain('-a\\\\u200bz\n  │ +a\\u200bz\n');
  });

  it('says that accents are encoded differently, in addition to other changes', () => {
    const text = body('caf\u00e9 x\nb\n', 'cafe\u0301 y\nb\n');
    expect(text).toContain('the Unicode normal form changes as well');
  });

  it('shows several such descriptions above the diff of the rest', () => {
    expect(body('a\r\nb', '\ufeffA\nb\n')).toBe(`txt_content:
  a byte order mark is added
  line endings: CRLF → LF
  a final newline is added
  │ @@ -1,2 +1,2 @@
  │ -a
  │ +A
  │  b`);
  });

  it('shows spaces at the end of a changed line', () => {
    expect(body('a\nb\n', 'a  \nb\n')).toContain('  │ -a\n  │ +a\\u0020\\u0020\n');
  });

  it('is shown whole if the present one is unknown', () => {
    expect(body(undefined, 'a\nb\n')).toBe('txt_content: (unknown) → 2 lines\n  │ +a\n  │ +b');
  });

  it('says that it was null or becomes null', () => {
    expect(body(null, 'a\nb\n')).toBe('txt_content: was null\n  │ @@ -0,0 +1,2 @@\n  │ +a\n  │ +b');
    expect(body('a\nb\n', null)).toBe('txt_content: cleared (null)\n  │ @@ -1,2 +0,0 @@\n  │ -a\n  │ -b');
  });

  it('of one short line is shown as a value', () => {
    expect(body('Hello', 'Hi')).toBe('txt_content: "Hello" → "Hi"');
    expect(body('', null)).toBe('txt_content: "" → null');
  });
});

describe('the text of a result', () => {
  it('groups objects with equal results', () => {
    const many = (status: ChangeResult['status'], error: (id: string) => string): ChangeResult[] =>
      Array.from({ length: 5 }, (_, at) =>
        resultOf({ address: `User/user-${at}`, status, httpStatus: null, error: error(`user-${at}`) }),
      );
    const results = [
      ...many('failed', (id) => `update a user: PATCH /api/users/${id} got no connection`),
      ...many('skipped', () => 'interrupted before it was sent'),
      ...many('skipped', () => 'not sent: the credentials were refused (401)').slice(0, 1),
    ];
    expect(resultText({ run: null, interrupted: false, results }, plain)).toBe(`✗ update User/user-0 failed
    error: update a user: PATCH /api/users/user-0 got no connection
    4 more like this: User/user-1, User/user-2, User/user-3 and 1 more
- 5 interrupted before it was sent
    User/user-0, User/user-1, User/user-2 and 2 more
- update User/user-0 skipped
    error: not sent: the credentials were refused (401)
Applied: 0 applied, 5 failed, 6 skipped.
`);
    const text = resultText({ run: null, interrupted: false, results }, { ...plain, debug: true });
    for (const { address } of results) expect(text).toContain(address);
  });

  it('groups objects whose results differ only in names and values', () => {
    const many = (part: (id: string) => Partial<ChangeResult>): ChangeResult[] =>
      Array.from({ length: 5 }, (_, at) =>
        resultOf({ address: `User/user-${at}`, httpStatus: null, ...part(`user-${at}`) }),
      );
    const results = [
      ...many((id) => {
        const own = `asked "a", the server has "${id}s"`;
        return { status: 'failed', error: `PATCH ${id} failed: group: ${own}`, ownValues: [own] };
      }),
      ...many((id) => ({ status: 'skipped', error: `not sent: GET /api/users/${id} got no connection` })),
    ];
    expect(resultText({ run: null, interrupted: false, results }, plain)).toBe(`✗ update User/user-0 failed
    error: PATCH user-0 failed: group: asked "a", the server has "user-0s"
    4 more like this, each with its own values: User/user-1, User/user-2,
      User/user-3 and 1 more
- 5 not sent: GET /api/users/… got no connection
    User/user-0, User/user-1, User/user-2 and 2 more
Applied: 0 applied, 5 failed, 5 skipped.
`);
  });

  it('shows all that is known about each failure', () => {
    const result: Result = {
      run: 'r1',
      interrupted: true,
      results: [
        resultOf({ unverified: ['group', 'metadata'] }),
        resultOf({ status: 'failed', httpStatus: 503, attempts: 4, error: 'update an organization: 503' }),
        resultOf({ status: 'not_converged', error: 'label is still "x"' }),
        resultOf({ status: 'unknown', action: 'regenerate', httpStatus: null, error: 'connection reset' }),
        resultOf({ status: 'skipped', attempts: 0, httpStatus: null, error: 'interrupted' }),
      ],
    };
    expect(resultText(result, plain)).toBe(
      `✓ Organization/acme updated
    not in the answer, so unverified: group, metadata
✗ update Organization/acme failed (HTTP 503, 4 attempts)
    error: update an organization: 503
≠ update Organization/acme not converged (HTTP 200)
    error: label is still "x"
? regenerate Organization/acme outcome unknown
    error: connection reset
- update Organization/acme skipped
    error: interrupted
Interrupted: requests in flight were finished and recorded, no more were sent.

Run: r1
Applied: 1 applied, 1 failed, 1 not converged, 1 unknown, 1 skipped.
`,
    );
  });
});

const ours =
  /^(|Server: .*|Profile: .*|Environment: .*|[~↻*!=✓✗≠?-] .*| {2}.*|warning\[.*|Required scopes: .*|Digest: .*|Drift: [\w ,]+\.|Nothing .*|Interrupted: .*|Run: .*|Plan: [\w ,]+\.( \d+ (is|are) destructive( \(\d+ things in all\))?: .*\.)?|Applied: [\w ,]+\.)$/u;

function expectHarmless(text: string): void {
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\ufeff]/u);
  expect(text).not.toMatch(/##(\[|vso\[|teamcity\[)/i);
  const lines = text.split('\n');
  for (const line of lines) {
    expect(line).toMatch(ours);
    expect(line.trimStart().startsWith('::')).toBe(false);
    expect(line.startsWith(marker)).toBe(false);
  }
  expect(lines.filter((line) => /^(Plan|Applied): /.test(line))).toHaveLength(1);
}

describe('hostile text', () => {
  it('forges nothing in a plan', () => {
    fc.assert(
      fc.property(hostilePlan, fc.boolean(), (plan, debug) => {
        expectHarmless(planText(plan, { color: false, debug }));
      }),
      { numRuns: often(500) },
    );
  });

  it('forges nothing in a result', () => {
    const result: fc.Arbitrary<Result> = fc.record({
      run: fc.option(hostileText),
      interrupted: fc.boolean(),
      results: fc.array(
        fc.record({
          address: hostileText,
          action: fc.constantFrom('update', 'delete', 'regenerate', 'adopt'),
          status: fc.constantFrom('applied', 'failed', 'not_converged', 'unknown', 'skipped'),
          httpStatus: fc.option(fc.nat()),
          attempts: fc.nat(),
          unverified: fc.array(hostileText, { maxLength: 3 }),
          error: fc.option(hostileText),
        }),
        { maxLength: 4 },
      ),
    });
    fc.assert(fc.property(result, (it) => expectHarmless(resultText(it, plain))));
  });
});
