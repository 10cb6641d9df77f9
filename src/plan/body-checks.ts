import { emailsIn } from '../kinds/emails.js';
import type { Declared, Email } from '../kinds/kind.js';
import type { CheckedTemplate, TemplateFinding } from '../mail/checks.js';
import { KnownPlaceholders } from '../mail/known.js';
import { usualPrograms } from '../mail/programs.js';
import { type ChecksSettings, type EmailSettings, levelOf } from '../mail/settings.js';
import { loadMailSupport, type MailSupport } from '../mail/support.js';

/** What the checks of email bodies go by. */
export interface BodyChecks {
  /** Checks one template; left out where no manifest declares any, since it takes longer to load than all of `validate`. */
  readonly checkTemplate?: ((template: CheckedTemplate) => TemplateFinding[]) | undefined;
  /** What becomes of a finding. */
  readonly levels: ChecksSettings;
  /** Placeholders that the server fills in beside those that are known. */
  readonly placeholders?: readonly string[] | undefined;
  /** What the mail programs that matter don't understand; left out where nothing needs it. */
  readonly support?: MailSupport | undefined;
}

/** The checks that a configuration asks for. What is known of mail programs is loaded where there is HTML to check. */
export async function bodyChecks(
  project: { checks(): ChecksSettings; email(): EmailSettings },
  declared: readonly Declared[],
): Promise<BodyChecks> {
  const levels = project.checks();
  const { programs = usualPrograms, placeholders } = project.email();
  const emails = emailsIn(declared);
  if (emails.length === 0) return { levels, placeholders };
  const { checkTemplate } = await import('../mail/checks.js');
  const hasHtml = emails.some(({ template, email }) => typeof template.fields[email.html] === 'string');
  const asked = hasHtml && programs.length > 0 && levelOf('mail-programs', levels) !== 'off';
  return {
    levels,
    placeholders,
    checkTemplate,
    support: asked ? await loadMailSupport(programs) : undefined,
  };
}

/** What the checks say about one template, which was among the declared ones that they were made for. */
export function findingsOf(
  template: Pick<Declared, 'identity'>,
  email: Email,
  bodies: Pick<CheckedTemplate, 'before' | 'after'>,
  checks: BodyChecks,
): TemplateFinding[] {
  if (checks.checkTemplate === undefined) throw new Error('the checks were made for no template');
  return checks.checkTemplate({ ...bodies, ...knownOf(template, email, checks) });
}

/** What is known of a template beside its bodies. */
export function knownOf(
  { identity }: Pick<Declared, 'identity'>,
  { type, placeholders }: Email,
  checks: BodyChecks,
): Pick<CheckedTemplate, 'known' | 'support'> {
  const name = identity[type] ?? '';
  const known = Object.hasOwn(placeholders, name)
    ? new KnownPlaceholders(name, [...(placeholders[name] ?? []), ...(checks.placeholders ?? [])])
    : undefined;
  return { known, support: checks.support };
}
