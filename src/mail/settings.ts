import * as z from 'zod';
import { defaulted } from '../base/members.js';
import type { ProblemCode } from '../base/problems.js';

/** The checks of email bodies, described for users. */
export const checkDescriptions = {
  'lost-placeholder': 'A placeholder of the live body that the new body lacks; only in plans.',
  'changed-link':
    'A link to a host that the live body does not link to, or a server address inside another address; only in plans.',
  'template-syntax':
    'A body that is not a valid template, or with which the server sends no mail or shows no page.',
  'missing-link':
    'An email without its link or code in either body, or a layout without its page; only under boruta.',
  'missing-token': 'A form of a page without {{ _csrf_token }}; only under boruta.',
  'body-too-large': 'A body beyond the limits of the checks.',
  'placeholder-mismatch': 'Different placeholders in text and HTML.',
  'unknown-placeholder': 'A placeholder that the server leaves empty.',
  'html-script': 'Scripts, event attributes, javascript: links and embedded documents.',
  'html-too-large': 'HTML of more than 102 KB, which mail clients clip.',
  'html-charset': 'HTML that declares no character set, or another one than UTF-8.',
  'html-nesting': 'HTML nested deeper than 512 elements, or with more than 50,000.',
  'image-without-alt': 'Images without alternative text.',
  'insecure-link': 'Addresses that begin with http:.',
} as const satisfies { readonly [code in ProblemCode]?: string };

export type CheckCode = keyof typeof checkDescriptions;

const checkCodes = Object.keys(checkDescriptions) as readonly CheckCode[];

/** The severity of a finding. */
export type CheckLevel = 'error' | 'warning' | 'off';

/** The level of each check. By default a warning, or an error if a new body would break the mail. */
export type ChecksSettings = { readonly [code in CheckCode]?: CheckLevel | undefined };

const level = (code: CheckCode) =>
  defaulted(z.enum(['error', 'warning', 'off']), 'warning', checkDescriptions[code], 'error');

/** `checks` of the configuration. */
export const checksSchema = z
  .strictObject(
    Object.fromEntries(checkCodes.map((code) => [code, level(code)])) as {
      [code in CheckCode]: ReturnType<typeof level>;
    },
  )
  .meta({
    description: 'The level of each check of email bodies: error, warning or off.',
    examples: [{ 'html-script': 'error', 'image-without-alt': 'off' }],
  });

/** The level of a finding under these settings. By default, a fatal finding in a new body is an error, and others are warnings. */
export function levelOf(
  { code, live, fatal }: { readonly code: CheckCode; readonly live?: true; readonly fatal?: true },
  settings: ChecksSettings,
  isNew: boolean,
): CheckLevel {
  const level = settings[code] ?? (fatal && isNew ? 'error' : 'warning');
  return live && level === 'error' ? 'warning' : level;
}
