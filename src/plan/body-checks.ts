import { emailsIn } from '../kinds/index.js';
import type { Declared, Email } from '../kinds/kind.js';
import type { CheckedTemplate, TemplateFinding } from '../mail/checks.js';
import { KnownPlaceholders } from '../mail/known.js';
import type { ChecksSettings, EmailSettings } from '../mail/settings.js';

/** What the checks of email bodies go by. */
export interface BodyChecks {
  /** Checks one template; left out where no manifest declares any, since it takes longer to load than all of `validate`. */
  readonly checkTemplate?: ((template: CheckedTemplate) => TemplateFinding[]) | undefined;
  /** What becomes of a finding. */
  readonly levels: ChecksSettings;
  /** Placeholders that the server fills in beside those that are known. */
  readonly placeholders?: readonly string[] | undefined;
}

/** The checks that a configuration asks for. */
export async function bodyChecks(
  project: { checks(): ChecksSettings; email(): EmailSettings },
  declared: readonly Declared[],
): Promise<BodyChecks> {
  const levels = project.checks();
  const { placeholders } = project.email();
  if (emailsIn(declared).length === 0) return { levels, placeholders };
  const { checkTemplate } = await import('../mail/checks.js');
  return { levels, placeholders, checkTemplate };
}

/** What the checks say about one template, which was among the declared ones that they were made for. */
export function findingsOf(
  template: Pick<Declared, 'identity'>,
  email: Email,
  bodies: Pick<CheckedTemplate, 'before' | 'after'>,
  checks: BodyChecks,
): TemplateFinding[] {
  if (checks.checkTemplate === undefined) throw new Error('the checks were made for no template');
  return checks.checkTemplate({ ...bodies, known: knownOf(template, email, checks) });
}

/** The placeholders of a template's type; undefined if none are known. */
export function knownOf(
  { identity }: Pick<Declared, 'identity'>,
  { type, placeholders }: Email,
  checks: BodyChecks,
): KnownPlaceholders | undefined {
  const name = identity[type] ?? '';
  return Object.hasOwn(placeholders, name)
    ? new KnownPlaceholders(name, [...(placeholders[name] ?? []), ...(checks.placeholders ?? [])])
    : undefined;
}
