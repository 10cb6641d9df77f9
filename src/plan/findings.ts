import { error, type Place, type Problem, warning } from '../base/problems.js';
import type { Value } from '../base/values.js';
import { emailsIn } from '../kinds/emails.js';
import { kindOf } from '../kinds/index.js';
import type { Declared, Email } from '../kinds/kind.js';
import { type BodyName, checkTemplate, type TemplateBodies, type TemplateFinding } from '../mail/checks.js';
import { levelOf } from '../mail/settings.js';
import { type BodyChecks, knownOf } from './body-checks.js';
import type { Change, PlanWarning } from './plan.js';

/** What the checks of bodies say about one change. */
export interface TemplateWarnings {
  readonly warnings: readonly PlanWarning[];
  /** Those that the settings make errors: with one of them nothing may be sent. */
  readonly errors: readonly PlanWarning[];
}

/**
 * What a reviewer should know about the bodies of a template that is to be updated. What is said of a body that the
 * document declares stands where it is written.
 */
export function templateWarnings(change: Change, declared: Declared, checks: BodyChecks): TemplateWarnings {
  const { email } = kindOf(change.kind);
  if (email === undefined || change.action !== 'update') return { warnings: [], errors: [] };
  const { before, expected } = change.apply;
  const findings = checkTemplate({
    before: bodies(email, before),
    after: bodies(email, { ...before, ...expected }),
    ...knownOf(declared, email, checks),
  });
  const told = (level: 'warning' | 'error') =>
    findings
      .filter(({ code, live }) => {
        const set = levelOf(code, checks.levels);
        return (live && set === 'error' ? 'warning' : set) === level;
      })
      .map((finding) => planWarning(declared, email, finding));
  return { warnings: told('warning'), errors: told('error') };
}

/** A finding with the first of its places that a document has. */
export function planWarning(template: Declared, email: Email, finding: TemplateFinding): PlanWarning {
  const { code, message, body, at } = finding;
  const about = (body === null ? (['txt', 'html'] as const) : [body]).filter(
    (name) => template.fields[email[name]] !== undefined,
  );
  const name = about.find((one) => at?.[one] !== undefined) ?? about[0];
  if (name === undefined || finding.live) return { code, message };
  const { file, inProject, line, column } = template.placeWithin(email[name], at?.[name]);
  return {
    code,
    message,
    place: { file, ...(inProject === undefined ? {} : { inProject }), line, column },
  };
}

/** What is questionable about declared templates, as far as manifests alone can tell. */
export function checkDeclaredTemplates(declared: readonly Declared[], checks: BodyChecks): Problem[] {
  return emailsIn(declared).flatMap(({ template, email }) =>
    checkTemplate({ after: bodies(email, template.fields), ...knownOf(template, email, checks) }).flatMap(
      (finding) => {
        const level = levelOf(finding.code, checks.levels);
        if (level === 'off') return [];
        const build = level === 'error' ? error : warning;
        return [build(finding.code, finding.message, places(template, email, finding))];
      },
    ),
  );
}

/** Where a finding stands: in the body that it is about, or in both. */
function places(template: Declared, email: Email, { body, at }: TemplateFinding): Place[] {
  const about: readonly BodyName[] = body === null ? ['txt', 'html'] : [body];
  return about.map((name) => template.placeWithin(email[name], at?.[name]));
}

/** The bodies as far as they may be shown: a message quotes names from them. */
function bodies({ txt, html }: Email, fields: { readonly [field: string]: Value }): TemplateBodies {
  return { txt: readable(fields[txt]), html: readable(fields[html]) };
}

function readable(body: Value | undefined): string | null | undefined {
  return typeof body === 'string' || body === null ? body : undefined;
}
