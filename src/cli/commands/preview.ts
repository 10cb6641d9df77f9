import { refuse } from '../../base/problems.js';
import type { Redactor } from '../../base/redact.js';
import { writeResult } from '../../base/through.js';
import { Sensitive } from '../../base/values.js';
import { addressOf } from '../../kinds/address.js';
import { emailsIn } from '../../kinds/emails.js';
import type { Declared, Email } from '../../kinds/kind.js';
import { levelOf } from '../../mail/settings.js';
import { loadManifests, tellSecrets } from '../../manifests/index.js';
import { loadSamples } from '../../manifests/samples.js';
import { type BodyChecks, bodyChecks, findingsOf } from '../../plan/body-checks.js';
import { planWarning } from '../../plan/findings.js';
import { isMasked, maskedBody } from '../../plan/masked.js';
import type { Project } from '../../project/index.js';
import { type Gallery, type GalleryTemplate, galleryHtml } from '../../report/gallery.js';
import { redactGallery } from '../../report/redacted.js';
import { plural } from '../../report/words.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';

/** `idops preview`: every declared email template with sample data, as a page. */
export async function preview(
  context: Context,
  { out = 'preview.html' }: { readonly out?: string } & GlobalOptions,
): Promise<ExitCode> {
  const gallery = await loadGallery(context, await context.project());
  refuse(gallery.problems);
  if (gallery.problems.length > 0) context.output.problems(gallery.problems);
  const page = galleryHtml(redactGallery(gallery, context.redactor));
  if (out === '-') {
    context.output.result(page);
    return exit.done;
  }
  await context.refuseOutputs([out]);
  await writeResult(out, page);
  context.output.result(`${out}: ${plural(gallery.templates.length, 'email template')}\n`);
  return exit.done;
}

async function loadGallery(context: Context, project: Project): Promise<Gallery> {
  const loaded = await loadManifests(project, { lenient: true, signal: context.signal });
  tellSecrets(loaded, context.redactor.add);
  const declared = emailsIn(loaded.declared);
  const samples = await loadSamples(
    project,
    declared.map(({ template, email }) => ({
      address: addressOf(template.kind, template.identity),
      type: template.identity[email.type] ?? '',
      manifest: template.place.file,
    })),
  );
  const checks = await bodyChecks(project, loaded.declared);
  return {
    templates: declared.map(({ template, email }) => ({
      ...galleryTemplate(template, email, checks, context.redactor),
      samples: samples.found.get(addressOf(template.kind, template.identity)) ?? [],
    })),
    problems: [...loaded.problems, ...samples.problems],
  };
}

function galleryTemplate(
  template: Declared,
  email: Email,
  checks: BodyChecks,
  { redact }: Redactor,
): Omit<GalleryTemplate, 'samples'> {
  const { [email.txt]: txt, [email.html]: html } = template.fields;
  const bodies = {
    txt: typeof txt === 'string' ? txt : null,
    html: typeof html === 'string' ? html : null,
  };
  return {
    address: addressOf(template.kind, template.identity),
    type: template.identity[email.type] ?? '',
    declaredAt: template.place,
    bodies,
    held: txt instanceof Sensitive || html instanceof Sensitive,
    warnings: [
      ...findingsOf(template, email, { after: bodies }, checks)
        .filter(({ code }) => levelOf(code, checks.levels) !== 'off')
        .map((finding) => planWarning(template, email, finding)),
      ...(['txt', 'html'] as const).flatMap((body) =>
        isMasked(bodies[body], redact) ? [maskedBody(`the ${body} body`)] : [],
      ),
    ],
  };
}
