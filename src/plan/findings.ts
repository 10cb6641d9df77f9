import { error, type Problem, warning } from '../base/problems.js';
import type { Value } from '../base/values.js';
import { emailsIn } from '../kinds/emails.js';
import { kindOf } from '../kinds/index.js';
import type { Declared, Email } from '../kinds/kind.js';
import { checkTemplate, type TemplateBodies, type TemplateFinding } from '../mail/checks.js';
import { type ChecksSettings, levelOf } from '../mail/settings.js';
import type { Change, PlanWarning } from './plan.js';

/** What the checks of bodies say about one change. */
export interface TemplateWarnings {
  readonly warnings: readonly PlanWarning[];
  /** Those that the settings make errors: with one of them nothing may be sent. */
  readonly errors: readonly PlanWarning[];
}

/** What a reviewer should know about the bodies of a template that is to be updated. */
export function templateWarnings(change: Change, settings: ChecksSettings): TemplateWarnings {
  const { email } = kindOf(change.kind);
  if (email === undefined || change.action !== 'update') return { warnings: [], errors: [] };
  const { before, expected } = change.apply;
  const findings = checkTemplate({
    before: bodies(email, before),
    after: bodies(email, { ...before, ...expected }),
  });
  const told = (level: 'warning' | 'error') =>
    findings
      .filter(({ code, live }) => {
        const set = levelOf(code, settings);
        return (live && set === 'error' ? 'warning' : set) === level;
      })
      .map(({ code, message }) => ({ code, message }));
  return { warnings: told('warning'), errors: told('error') };
}

/** What is questionable about declared templates, as far as manifests alone can tell. */
export function checkDeclaredTemplates(declared: readonly Declared[], settings: ChecksSettings): Problem[] {
  return emailsIn(declared).flatMap(({ template, email }) =>
    checkTemplate({ after: bodies(email, template.fields) }).flatMap((finding) => {
      const level = levelOf(finding.code, settings);
      if (level === 'off') return [];
      const build = level === 'error' ? error : warning;
      return [build(finding.code, finding.message, places(template, email, finding))];
    }),
  );
}

function places(template: Declared, email: Email, { body }: TemplateFinding): Problem['places'] {
  const fields = body === null ? [email.txt, email.html] : [email[body]];
  return fields.map((field) => template.placeOf(field));
}

/** The bodies as far as they may be shown: a message quotes names from them. */
function bodies({ txt, html }: Email, fields: { readonly [field: string]: Value }): TemplateBodies {
  return { txt: readable(fields[txt]), html: readable(fields[html]) };
}

function readable(body: Value | undefined): string | null | undefined {
  return typeof body === 'string' || body === null ? body : undefined;
}
