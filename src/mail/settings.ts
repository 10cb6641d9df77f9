import * as z from 'zod';
import { defaulted } from '../base/members.js';
import type { ProblemCode } from '../base/problems.js';

/** The checks of email bodies, described for users. */
export const checkDescriptions = {
  'lost-placeholder': 'A placeholder that the live body has and the new one lost.',
  'changed-link':
    'A link of the new body that leads to another host than that of the live one, or that puts an address of the server into another one.',
  'template-syntax':
    'A body that does not parse as a Mustache template, such as one with an open section, or with which the server sends no mail.',
  'missing-link': 'An email of which no body shows the link, or the code, that it is for.',
  'body-too-large':
    'A body beyond the limits of what idops checks and renders, or a live one that the new one could not be compared with.',
  'placeholder-mismatch': 'Text and HTML with different placeholders.',
  'unknown-placeholder':
    'A placeholder that the server leaves empty, or that the configuration does not name.',
  'html-script': 'HTML that runs scripts or embeds other documents, which mail clients remove or distrust.',
  'html-too-large': 'HTML of more than 102 KB, where mail clients clip.',
  'html-charset': 'HTML without a declared character set, or with another one than UTF-8.',
  'html-nesting':
    'HTML that is nested deeper than browsers and mail clients go, or that makes them repeat elements without end.',
  'image-without-alt': 'Images without a text for readers who do not see them.',
  'insecure-link': 'Addresses that begin with http:, which anybody on the way can read and change.',
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
    description: 'What is made of findings in email bodies: each can be an error, a warning or off.',
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
