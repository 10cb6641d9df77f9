import type { Change, Plan } from '../../src/plan/plan.js';
import { changeOf, fieldOf, planOf } from './plans.js';

/** The id of the object with the given number. */
export function idOf(index: number): string {
  return `4${String(index).padStart(7, '0')}-2f5d-4a58-9a51-6b1f8a1d7c11`;
}

const folder = 'infrastructure/identity/production-europe/manifests/people and mail';

const unlisted = `the user has the role "auditor" (id ${idOf(9_999_999)}), which the server's list of roles doesn't show: it is sent along as it is`;

/** Changes of users under the profile `boruta`: each has a name, several fields and a warning; the last is destructive. */
export function manyUsers(count: number): Plan {
  const changes = Array.from({ length: count }, (_, index) =>
    changeOf({
      kind: 'User',
      address: `User/${idOf(index)}`,
      label: `firstname.lastname${index}@subsidiary.acme.example`,
      destructions: index === count - 1 ? ['removes the membership of globex'] : [],
      fields: [
        fieldOf({ path: 'blocked', before: false, after: true }),
        fieldOf({
          path: 'authorized_scopes',
          type: 'set',
          before: [{ id: idOf(1), name: 'billing:read' }],
          after: [{ id: idOf(2), name: 'billing:write' }],
        }),
        fieldOf({
          path: 'metadata.department',
          before: 'R&D',
          after: `Research ${index}`,
          drift: { recorded: 'Research', run: '20260131T120000Z-abc123' },
        }),
      ],
      warnings: [{ code: 'not-in-list', message: unlisted }],
      declaredAt: { file: `${folder}/users of the whole company.yaml`, line: index * 12 + 1 },
    }),
  );
  return planOf(changes, { profile: 'boruta', environment: 'production' });
}

/** Texts that could end the markup around them. */
const hostileLines =
  '</details></summary>|``` ~~~ ````|<!-- @everyone #1 -->|[x](https://evil.example)|::error::x'.split('|');

/** Changes of templates with long hostile bodies, of which few fit into a comment; each has two warnings. */
export function manyTemplates(count: number): Plan {
  const types =
    'reset_password_instructions confirmation_instructions webauthn_verification_code tx_code'.split(' ');
  const body = (index: number, word: string) =>
    Array.from(
      { length: 60 },
      (_, line) => `${word} ${line} ${hostileLines[(line + index) % hostileLines.length]}`,
    ).join('\n');
  const changes = Array.from({ length: count }, (_, index): Change => {
    const file = `${folder}/backend ${index >> 2}/emails/${types[index % 4]}.html`;
    return changeOf({
      kind: 'EmailTemplate',
      address: `EmailTemplate/${idOf(index >> 2)}/${types[index % 4]}`,
      label: `Backend number ${index >> 2} of ACME`,
      fields: ['txt_content', 'html_content'].map((path) =>
        fieldOf({ path, type: 'body', before: `${body(index, 'old')}\n`, after: `${body(index, 'new')}\n` }),
      ),
      warnings: [
        {
          code: 'image-without-alt',
          message: '2 images have no alt, which is what many readers see of them',
          place: { file, line: index + 2, column: 7 },
        },
        {
          code: 'html-too-large',
          message: `the HTML is ${100 + index} kB large, and Gmail cuts it at 102 kB`,
        },
      ],
      declaredAt: { file: `${folder}/backend ${index >> 2}.yaml`, line: index + 1 },
    });
  });
  return planOf(changes, { profile: 'boruta', environment: 'production' });
}
