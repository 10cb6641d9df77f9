import * as z from 'zod';
import { defaulted } from '../base/members.js';
import type { ProblemCode } from '../base/problems.js';

/** The checks of email bodies, described for users. */
export const checkDescriptions = {
  'lost-placeholder': 'The live body has a placeholder that the new body lacks.',
  'changed-link':
    'A link leads to another host than in the live body, or passes a server address to another site.',
  'template-syntax': 'The body is no valid template, or the server would send no mail.',
  'missing-link': 'No body contains the link or the code that the email is for.',
  'body-too-large': 'The body is too large to check.',
  'placeholder-mismatch': 'Text and HTML have different placeholders.',
  'unknown-placeholder': 'The server leaves the placeholder empty.',
  'html-script': 'The HTML contains scripts or embedded documents, which mail clients block.',
  'html-too-large': 'The HTML is larger than 102 KB, so mail clients clip it.',
  'html-charset': 'The HTML declares no character set, or another one than UTF-8.',
  'html-nesting': 'The HTML is nested too deeply.',
  'image-without-alt': 'An image has no alternative text.',
  'insecure-link': 'A link begins with http:.',
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

/**
 * The level of a finding under these settings. By default, a finding with which no mail is sent, or one without its link, is an error in a
 * new body.
 */
export function levelOf(
  { code, live, fatal }: { readonly code: CheckCode; readonly live?: true; readonly fatal?: true },
  settings: ChecksSettings,
  isNew: boolean,
): CheckLevel {
  const level = settings[code] ?? (fatal && isNew ? 'error' : 'warning');
  return live && level === 'error' ? 'warning' : level;
}
