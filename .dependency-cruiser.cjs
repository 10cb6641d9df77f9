/**
 * Which room of src may use which: one rule and its reason each. `npm run imports` checks them, and `npm run rooms` draws
 * the rooms into CONTRIBUTING.md.
 */

/** A rule that a room uses the named ones and itself, and nothing else of src. */
const uses = (room, others, comment) => ({
  name: `${room}-uses`,
  comment,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: `^src/(${[room, ...others].join('|')})/` },
});

/** A rule that a room leaves the named ones alone. */
const leaves = (room, others, comment) => ({
  name: `${room}-leaves`,
  comment,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: `^src/(${others.join('|')})/` },
});

module.exports = {
  forbidden: [
    {
      name: 'no-circle',
      comment: 'Two files that need each other are one file, or share a third: types count as well.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'empty-hall',
      comment:
        'A file at the root of src has no room, so no rule guards it: index.ts alone stands there, and nothing uses it.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/[^/]+$' },
    },
    {
      name: 'pure',
      comment:
        'Comparing, reports, bodies and kinds are functions of data: they touch no file, no process and no network.',
      severity: 'error',
      from: { path: '^src/(plan/(compare|order|select|approve)\\.ts|(report|mail|kinds)/)' },
      to: { dependencyTypes: ['core'] },
    },
    uses('base', [], 'Every room may use it, so it uses none.'),
    uses('secrets', ['base'], 'It hides values, whatever they are called and wherever they are shown.'),
    uses('yaml', ['base', 'secrets'], 'It reads YAML and knows nothing of what it means.'),
    uses('server', ['base', 'secrets'], 'It speaks HTTP and knows nothing of what is declared or planned.'),
    uses('state', ['base'], 'It keeps what it is given and knows nothing of kinds or of servers.'),
    uses(
      'kinds',
      ['base', 'secrets', 'server'],
      'A kind says what is peculiar to it; who compares, applies and shows comes after it.',
    ),
    uses('mail', ['base'], 'Emails are checked and rendered whoever declares or shows them.'),
    uses(
      'project',
      ['base', 'secrets', 'yaml', 'server', 'mail'],
      'The configuration is read before there is anything declared.',
    ),
    uses(
      'manifests',
      ['base', 'secrets', 'yaml', 'server', 'kinds', 'mail', 'project'],
      'Files become declared objects here, without a look at a server or a state.',
    ),
    uses(
      'plan',
      ['base', 'secrets', 'server', 'state', 'kinds', 'mail'],
      'A plan is made of declared objects and observations, wherever these come from.',
    ),
    {
      name: 'plan-reads',
      comment: 'Planning is handed a reader: what hands out a writer is not for it.',
      severity: 'error',
      from: { path: '^src/(plan|kinds)/' },
      to: { path: '^src/server/(client|writer|transport)\\.ts$' },
    },
    uses(
      'pull',
      ['base', 'secrets', 'server', 'kinds', 'yaml', 'project', 'manifests', 'plan'],
      'It turns what a server has into manifests, and asks the planner whether they say just that; who connects and who is told comes after it.',
    ),
    uses(
      'apply',
      ['base', 'secrets', 'server', 'state', 'kinds', 'plan'],
      'It carries out a plan, and neither makes nor shows one.',
    ),
    uses(
      'report',
      ['base', 'secrets', 'server', 'state', 'kinds', 'mail', 'plan', 'apply'],
      'Reports are functions of plans, results, journals and records, which they get.',
    ),
    leaves(
      'session',
      ['cli', 'action', 'sandbox'],
      'It is what the command, the action and programs stand on.',
    ),
    leaves('cli', ['action'], 'The command and the action are two ends: neither is built on the other.'),
    leaves(
      'action',
      ['cli', 'sandbox', 'server', 'yaml', 'mail'],
      'The action goes through the session, as a program would.',
    ),
    uses('sandbox', [], 'It is written from the API document, so it shares no code with the client.'),
  ],
  options: {
    // The parser of TypeScript is a program of its own from version 7 on.
    parser: 'swc',
    // Types are imports too: a room that knows the types of another knows that room.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.js'] },
  },
};
