import { error, type Place, type Problem, type Span, warning } from '../base/problems.js';
import {
  type Fields,
  revealReadable,
  Sensitive,
  same,
  UNKNOWN_TEXT,
  type Value,
  withoutUndefined,
} from '../base/values.js';
import { emailsIn, kindOf } from '../kinds/index.js';
import type { Declared, Email } from '../kinds/kind.js';
import type { BodyName, CheckedTemplate, TemplateFinding } from '../mail/checks.js';
import { serverMail } from '../mail/servers.js';
import { type ChecksSettings, levelOf } from '../mail/settings.js';
import type { TemplateBodies } from '../mail/template.js';
import type { ProfileName } from '../server/profiles.js';
import type { Change, PlanWarning } from './plan.js';

export interface BodyChecks {
  /** Checks one template. Loaded only if manifests declare templates, since loading takes longer than the rest of `validate`. */
  readonly checkTemplate?: ((template: CheckedTemplate) => TemplateFinding[]) | undefined;
  /** Which findings are errors, warnings or off. */
  readonly levels: ChecksSettings;
  /** The profile of the server that renders the mails. */
  readonly profile: ProfileName;
}

export async function bodyChecks(
  project: { checks(): ChecksSettings; readonly profile: { readonly name: ProfileName } },
  declared: readonly Declared[],
): Promise<BodyChecks> {
  const levels = project.checks();
  const settings = { levels, profile: project.profile.name };
  if (emailsIn(declared).length === 0) return settings;
  const { checkTemplate } = await import('../mail/checks.js');
  return { ...settings, checkTemplate };
}

/**
 * The findings in one template, given its fields before and after the change. They quote nothing from a body that contains a secret.
 * Throws if the checks were loaded without a template.
 */
export function findingsOf(
  template: Pick<Declared, 'identity'>,
  email: Email,
  { before, after }: { readonly before?: Fields; readonly after: Fields },
  checks: BodyChecks,
): TemplateFinding[] {
  if (checks.checkTemplate === undefined) throw new Error('the checks were made for no template');
  const mail = serverMail(checks.profile, template.identity[email.type] ?? '');
  const known = before === undefined ? {} : { before: bodies(email, before) };
  const found = checks.checkTemplate({ ...known, after: bodies(email, after), mail });
  const shown = found.map((finding) => {
    const about = bodiesOf(finding.body).map((body) => email[body]);
    const wasSecret = about.some((field) => before?.[field] instanceof Sensitive);
    if (!wasSecret && !about.some((field) => after[field] instanceof Sensitive)) return finding;
    const { at: _, ...placeless } = finding;
    const { code, body } = finding;
    if (code === 'missing-link' || (code === 'lost-placeholder' && !wasSecret)) return placeless;
    const what = body === null ? 'a body' : email[body];
    const message = `${what} fails the check ${code}; the details are hidden because it contains a secret`;
    return { ...placeless, message };
  });
  return [...new Map(shown.map((finding) => [JSON.stringify(finding), finding])).values()];
}

export interface TemplateWarnings {
  readonly warnings: readonly PlanWarning[];
  /** Findings that are errors by the settings. They block the change. */
  readonly errors: readonly PlanWarning[];
}

/** The findings in the bodies of a template that the plan updates, with their places in the declared bodies. */
export function templateWarnings(change: Change, declared: Declared, checks: BodyChecks): TemplateWarnings {
  const { email } = kindOf(change.kind);
  if (email === undefined || change.action !== 'update') return { warnings: [], errors: [] };
  const { before, expected } = change.apply;
  const findings = findingsOf(declared, email, { before, after: { ...before, ...expected } }, checks);
  // An undo may restore any former body.
  const isNew = (body: BodyName) => declared.remembered !== true && isNewBody(change, email[body]);
  const atLevel = (level: 'warning' | 'error') =>
    findings
      .filter((finding) => levelOf(finding, checks.levels, bodiesOf(finding.body).some(isNew)) === level)
      .map((finding) => planWarning(declared, email, finding));
  return { warnings: atLevel('warning'), errors: atLevel('error') };
}

/** Whether a body differs both from the server's present one and from the one that idops saw last. */
function isNewBody({ fields }: Change, path: string): boolean {
  const field = fields.find((one) => one.path === path);
  return (
    field !== undefined && !(field.drift !== undefined && same(field.drift.recorded, field.after ?? null))
  );
}

/** A finding with its places in a document. */
export function planWarning(template: Declared, email: Email, finding: TemplateFinding): PlanWarning {
  const { code, message, body, at } = finding;
  const about = bodiesOf(body).filter((name) => template.fields[email[name]] !== undefined);
  const spotted = about.filter((name) => at?.[name] !== undefined);
  if (about.length === 0 || finding.live) return { code, message };
  const { places, more } = placesIn(
    template,
    email,
    finding,
    spotted.length > 0 ? spotted : about.slice(0, 1),
  );
  const all = places.map(({ length: _length, text: _text, ...place }) => place);
  return {
    code,
    message,
    ...withoutUndefined({
      place: all[0],
      places: all.length > 1 ? all : undefined,
      morePlaces: more > 0 ? more : undefined,
    }),
  };
}

/** The findings in declared templates, from the manifests alone. `recorded` gives the state's record of a template; undefined if there is no state. */
export function checkDeclaredTemplates(
  declared: readonly Declared[],
  checks: BodyChecks,
  recorded: ((template: Declared) => Fields) | undefined,
): Problem[] {
  const problems: Problem[] = [];
  for (const { template, email } of emailsIn(declared)) {
    const known = recorded?.(template);
    const isNew = (body: BodyName) => {
      const [now, was] = [template.fields[email[body]], known?.[email[body]]];
      return known !== undefined && now !== undefined && !(was !== undefined && same(was, now));
    };
    for (const finding of findingsOf(template, email, { after: template.fields }, checks)) {
      const level = levelOf(finding, checks.levels, bodiesOf(finding.body).some(isNew));
      if (level === 'off') continue;
      const build = level === 'error' ? error : warning;
      const { places, more } = placesIn(template, email, finding, bodiesOf(finding.body));
      problems.push({
        ...build(finding.code, finding.message, places),
        ...(more > 0 ? { morePlaces: more } : {}),
      });
    }
  }
  return problems;
}

function bodiesOf(body: BodyName | null): readonly BodyName[] {
  return body === null ? ['txt', 'html'] : [body];
}

/** How many places of a finding are shown; the others are counted. */
const MAX_PLACES = 50;

/** The places of a finding in these bodies: the first in each, then the others. */
function placesIn(template: Declared, email: Email, { at }: TemplateFinding, about: readonly BodyName[]) {
  const found = about.map((name) => {
    const byStart = new Map(at?.[name]?.map((spot) => [spot.start, spot]));
    return { field: email[name], spots: [...byStart.values()].sort((a, b) => a.start - b.start) };
  });
  const seen = new Map<string, Place>();
  const add = (field: string, spot: Span | undefined): void => {
    const { text, ...at } = template.places.within(field, spot);
    // No source line shows a part of a secret.
    const place = text === undefined || template.fields[field] instanceof Sensitive ? at : { ...at, text };
    const key = JSON.stringify([place.file, place.line, place.column]);
    if (!seen.has(key)) seen.set(key, place);
  };
  for (const { field, spots } of found) add(field, spots[0]);
  const firsts = seen.size;
  for (const { field, spots } of found) for (const spot of spots.slice(1, MAX_PLACES)) add(field, spot);
  const more = found.reduce((sum, { spots }) => sum + Math.max(0, spots.length - MAX_PLACES), 0);
  // A field that has no separate places for its parts has one place for all of them.
  return { places: [...seen.values()], more: seen.size === firsts ? 0 : more };
}

/** The known bodies, also those that contain a secret. */
function bodies({ txt, html }: Email, fields: { readonly [field: string]: Value }): TemplateBodies {
  return { txt: readable(fields[txt]), html: readable(fields[html]) };
}

function readable(body: Value | undefined): string | null | undefined {
  const text = body === undefined ? undefined : revealReadable(body);
  if (body instanceof Sensitive && text === UNKNOWN_TEXT) return undefined;
  return typeof text === 'string' || text === null ? text : undefined;
}
