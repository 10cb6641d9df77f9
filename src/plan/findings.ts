import { error, type Problem, warning } from '../base/problems.js';
import type { Value } from '../base/values.js';
import type { Declared } from '../kinds/kind.js';
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
  if (change.kind !== 'EmailTemplate' || change.action !== 'update') return { warnings: [], errors: [] };
  const { before, expected } = change.apply;
  const findings = checkTemplate({ before: bodies(before), after: bodies({ ...before, ...expected }) });
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
  return declared
    .filter(({ kind, absent }) => kind === 'EmailTemplate' && !absent)
    .flatMap((template) =>
      checkTemplate({ after: bodies(template.fields) }).flatMap((finding) => {
        const level = levelOf(finding.code, settings);
        if (level === 'off') return [];
        const build = level === 'error' ? error : warning;
        return [build(finding.code, finding.message, places(template, finding))];
      }),
    );
}

function places(template: Declared, { body }: TemplateFinding): Problem['places'] {
  const fields = body === null ? ['txt_content', 'html_content'] : [`${body}_content`];
  return fields.map((field) => template.placeOf(field));
}

/** The bodies as far as they may be shown: a message quotes names from them. */
function bodies(fields: { readonly [field: string]: Value }): TemplateBodies {
  return { txt: readable(fields.txt_content), html: readable(fields.html_content) };
}

function readable(body: Value | undefined): string | null | undefined {
  return typeof body === 'string' || body === null ? body : undefined;
}
