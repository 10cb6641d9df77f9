import { emailsIn } from '../kinds/index.js';
import type { Declared, Email } from '../kinds/kind.js';
import type { CheckedTemplate, TemplateFinding } from '../mail/checks.js';
import { mailOf } from '../mail/servers.js';
import type { ChecksSettings } from '../mail/settings.js';
import type { ProfileName } from '../server/profiles.js';

/** What the checks of email bodies go by. */
export interface BodyChecks {
  /** Checks one template; left out where no manifest declares any, since it takes longer to load than all of `validate`. */
  readonly checkTemplate?: ((template: CheckedTemplate) => TemplateFinding[]) | undefined;
  /** What becomes of a finding. */
  readonly levels: ChecksSettings;
  /** The profile whose server makes the mails. */
  readonly profile: ProfileName;
}

/** The checks that a configuration asks for. */
export async function bodyChecks(
  project: {
    checks(): ChecksSettings;
    readonly profile: { readonly name: ProfileName };
  },
  declared: readonly Declared[],
): Promise<BodyChecks> {
  const levels = project.checks();
  const settings = { levels, profile: project.profile.name };
  if (emailsIn(declared).length === 0) return settings;
  const { checkTemplate } = await import('../mail/checks.js');
  return { ...settings, checkTemplate };
}

/** What the checks say about one template, which was among the declared ones that they were made for. */
export function findingsOf(
  template: Pick<Declared, 'identity'>,
  email: Email,
  bodies: Pick<CheckedTemplate, 'before' | 'after'>,
  checks: BodyChecks,
): TemplateFinding[] {
  if (checks.checkTemplate === undefined) throw new Error('the checks were made for no template');
  const type = template.identity[email.type] ?? '';
  return checks.checkTemplate({ ...bodies, mail: mailOf(checks.profile, type) });
}
