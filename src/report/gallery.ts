import type { Problem } from '../base/problems.js';
import type { Email } from '../kinds/kind.js';
import type { NamedSample } from '../mail/samples.js';
import type { ServerMail } from '../mail/servers.js';
import type { TemplateBodies } from '../mail/template.js';
import type { PlanWarning } from '../plan/plan.js';
import { warningLine } from './changes.js';
import { Emails, emailGallery, samplesText } from './emails.js';
import { type Insertable, type Markup, markup, markupLines } from './markup.js';
import type { NamedObject } from './names.js';
import { type PageScript, pageText, scrollable } from './page.js';
import { placeText } from './review.js';
import { capitalized, placeList, plural, renderedWords } from './words.js';

export interface GalleryTemplate extends NamedObject {
  readonly type: string;
  readonly declaredAt: { readonly file: string; readonly line: number };
  readonly bodies: TemplateBodies;
  /** For pages: the type of their layout. */
  readonly page?: Email['page'];
  readonly mail: ServerMail | undefined;
  /** Whether a body is hidden because it contains a secret. */
  readonly hasHiddenBody: boolean;
  readonly samples: readonly NamedSample[];
  readonly warnings: readonly PlanWarning[];
}

export interface Gallery {
  readonly templates: readonly GalleryTemplate[];
  readonly problems: readonly Problem[];
  /** A script that reloads the page after changes. */
  readonly script?: PageScript;
}

export function galleryHtml({ templates, problems, script }: Gallery): string {
  const emails = new Emails();
  const words = capitalized(renderedWords(templates));
  return pageText({
    title: `${words}: ${plural(templates.length, 'template')}`,
    ...(script === undefined ? {} : { script }),
    content: markup`<header>
<h1>${templates.some(({ page }) => page !== undefined) ? words : 'Email templates'}</h1>
<p class="quiet">${plural(templates.length, 'template')}, rendered with sample data. Pictures and other things from the network are left out.</p>
${templates.length > 1 ? contents(templates) : null}
</header>
<main id="main">
${problems.map(problemBox)}
${templates.map((template, index) => templateSection(template, index, emails))}
${templates.length === 0 ? markup`<p class="note">No email template or page is declared.</p>` : null}
</main>`,
  });
}

function contents(templates: readonly GalleryTemplate[]): Markup {
  return markup`<nav aria-label="Templates"><ul>${templates.map(
    (template, index) =>
      markup`<li><a href="#template-${index + 1}">${titleOf(template)}</a> <small class="quiet">${template.address}</small>${template.warnings.length > 0 ? ` (${plural(template.warnings.length, 'warning')})` : null}</li>\n`,
  )}</ul></nav>`;
}

function titleOf({ label, type }: GalleryTemplate): string {
  return label === undefined ? type : `${label}: ${type}`;
}

function problemBox({ code, severity, message, hint, places, morePlaces }: Problem): Markup {
  return markup`<p class="${severity === 'error' ? 'loss' : 'warning'}"><strong>${severity}[${code}]:</strong> ${message}${
    places.length === 0 ? null : markup` at <code>${placeList(places, morePlaces)}</code>`
  }${hint === undefined ? null : `; ${hint}`}</p>\n`;
}

function templateSection(template: GalleryTemplate, index: number, emails: Emails): Markup {
  const { address, declaredAt, type, bodies, page, mail, hasHiddenBody, samples, warnings } = template;
  return markup`<section class="template" id="template-${index + 1}">
<h2>${titleOf(template)}</h2>
<p class="quiet"><code>${address}</code>, declared at <code>${placeText(declaredAt)}</code>, sample data ${samplesText(samples, mail)}.</p>
${warnings.map(warningLine)}
${page?.layout === undefined || page.layout === type || bodies.layout !== undefined ? null : markup`<p class="note">Shown without its layout, which no manifest declares.</p>\n`}${hasHiddenBody ? markup`<p class="note">${page === undefined ? 'A body' : 'The content'} is hidden because it contains a secret.</p>` : null}
${samples.map((sample) => sampleBox(sample, address))}
${emailGallery(bodies, mail, samples, emails)}
</section>
`;
}

function sampleBox({ name, data }: NamedSample, address: string): Insertable {
  if (Object.keys(data).length === 0) return null;
  return markup`<details class="variant"><summary>Sample data: ${name}</summary>${scrollable(
    'sample',
    `Sample data ${name} of ${address}`,
    markupLines(JSON.stringify(data, null, 2)),
  )}</details>\n`;
}
