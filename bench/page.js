// What a page of changed email templates takes to make, and how large it is, in multiples of the one of 100.
import { planHtml } from '../dist/report/html.js';

const sizes = [100, 500, 1000];
const rounds = 3;

const row = (index) =>
  `<tr><td style="font-family:Arial;font-size:13px;color:#55575d">Paragraph ${index} for {{ user.username }}, with <a href="{{ action_url }}" style="color:#586ee0">a link</a></td></tr>\n`;

function bodies(number) {
  const rows = Array.from({ length: 25 }, (_, index) => row(index)).join('');
  return {
    txt_content: `Hello {{ user.username }},\n\ngo on at {{ action_url }}\n\nyours, number ${number}\n`,
    html_content: `<!DOCTYPE html><html><head><meta charset="utf-8"></head><body><table>${rows}</table>{{#organization}}<p>For {{ name }}</p>{{/organization}}<p>${number}</p></body></html>`,
  };
}

function change(number) {
  const before = bodies(number);
  const after = {
    txt_content: before.txt_content.replace('go on', 'continue'),
    html_content: before.html_content.replace('Paragraph 3 ', 'Section 3 '),
  };
  return {
    address: `EmailTemplate/backend-${number}/tx_code`,
    kind: 'EmailTemplate',
    action: 'update',
    observed: 'live',
    destructions: [],
    requests: [],
    fields: Object.keys(before).map((path) => ({
      path,
      type: 'body',
      before: before[path],
      after: after[path],
      sensitive: false,
    })),
    warnings: [],
    reason: null,
    declaredAt: { file: 'manifests/emails.yaml', line: number },
    apply: { key: '', identity: {}, expected: after, before, existed: true, managed: [] },
  };
}

function plan(templates) {
  return {
    toolVersion: '0.1.0',
    createdAt: '2026-01-31T12:00:00Z',
    server: 'https://id.example.com',
    profile: 'documented',
    environment: null,
    changes: Array.from({ length: templates }, (_, number) => change(number)),
    requiredScopes: [],
    warnings: [],
    digest: 'sha256:0',
  };
}

/** What the processor works for a page, and its characters: the least of some rounds, since only noise makes it more. */
function measure(templates) {
  const made = plan(templates);
  let best = Number.POSITIVE_INFINITY;
  let characters = 0;
  for (let round = 0; round < rounds; round += 1) {
    const start = process.cpuUsage();
    characters = planHtml(made, { samples: new Map(), debug: false }).length;
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, user + system);
  }
  return { time: best, characters };
}

measure(10);
const first = measure(sizes[0]);
console.log(`pages of changed email templates, in multiples of the one of ${sizes[0]}:`);
for (const size of sizes) {
  const { time, characters } = size === sizes[0] ? first : measure(size);
  const told = (part) => part.toFixed(1).padStart(6);
  console.log(
    `${told(time / first.time)} time ${told(characters / first.characters)} size  ${size} templates`,
  );
}
