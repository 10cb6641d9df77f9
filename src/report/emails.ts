import { cleanHtml } from '../mail/clean.js';
import { limits, shown } from '../mail/limits.js';
import { type Mail, type NamedSample, type RenderedBody, renderMails } from '../mail/samples.js';
import { isPage, type MailOf } from '../mail/servers.js';
import type { TemplateBodies } from '../mail/template.js';
import { frameSource, type Insertable, type Markup, markup, markupLines } from './markup.js';
import { scrollable } from './page.js';

/** Precedes every email and page in its frame: a policy beside the page's, and styles that make emails scrollable and links visible. */
const framePrefix =
  '<!DOCTYPE html>' +
  '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'; img-src data:">' +
  '<meta http-equiv="x-dns-prefetch-control" content="off">' +
  '<style>:root, :root > body { position: static !important; height: auto !important; max-height: none !important; overflow: visible !important; }' +
  ' :root { min-height: 100% !important; transform: translate(0) !important; }' +
  ' :where(a[title]) { color: #0000ee; text-decoration: underline; cursor: pointer; }</style>';

/** An email for a frame, and what was removed from it; or why it can't be shown. */
type Shown =
  | {
      readonly source: Markup;
      readonly left: readonly string[];
      /** Equal for emails that look the same. */
      readonly visible: string;
    }
  | { readonly refused: string };

/** The rendered emails of a page, limited so that browsers can open it. */
export class Emails {
  readonly #limit: number;
  #left: number;
  #frames: number = limits.pageFrames;
  readonly #known = new Map<string, Shown>();

  constructor(characters: number = limits.pageCharacters) {
    this.#limit = characters;
    this.#left = characters;
  }

  /** Takes characters from the limit; false if not enough are left. */
  take(characters: number): boolean {
    if (characters > this.#left) return false;
    this.#left -= characters;
    return true;
  }

  /** An email for a frame; undefined at the limit. Further mails of a template get half of it at most, so that each template has one. */
  framed(
    body: string,
    { further, page }: { readonly further: boolean; readonly page: boolean },
  ): Shown | undefined {
    if (this.#frames <= (further ? limits.pageFrames / 2 : 0)) return undefined;
    const shown = this.#known.get(`${page} ${body}`) ?? this.#clean(body, { further, page });
    if (shown === undefined || 'refused' in shown) return shown;
    if (!this.#fits(shown.source.text.length, further)) return undefined;
    this.#frames -= 1;
    this.take(shown.source.text.length);
    return shown;
  }

  alike(bodies: readonly (RenderedBody | null)[], page: boolean): boolean {
    const looks = bodies.map((body) => {
      if (body === null || !('text' in body)) return body;
      const shown = this.#known.get(`${page} ${body.text}`);
      return shown !== undefined && 'visible' in shown ? shown.visible : body.text;
    });
    return new Set(looks).size === 1;
  }

  #clean(
    body: string,
    { further, page }: { readonly further: boolean; readonly page: boolean },
  ): Shown | undefined {
    if (!this.#fits(body.length, further)) return undefined;
    const cleaned = cleanHtml(body, { page });
    this.take(body.length);
    const shown =
      'refused' in cleaned
        ? cleaned
        : {
            source: frameSource(`${framePrefix}${cleaned.html}`),
            left: cleaned.left,
            visible: cleaned.html.replace(/ title="[^"]*"(?=[^<>]*>)/g, ''),
          };
    this.#known.set(`${page} ${body}`, shown);
    return shown;
  }

  #fits(characters: number, further: boolean): boolean {
    return characters <= this.#left - (further ? this.#limit / 2 : 0);
  }
}

export interface EmailSide {
  readonly label: string;
  readonly bodies: TemplateBodies;
  readonly none: string;
}

/** Emails or pages side by side, as HTML and text, with each sample and each variant of sections; `alike` if all sides look the same. */
export function emailViews(
  sides: readonly EmailSide[],
  mail: MailOf | undefined,
  samples: readonly NamedSample[],
  emails: Emails,
): { readonly rendered: Insertable; readonly text: Insertable; readonly alike: boolean } {
  const { variants, left } = mailsOf(
    sides.map(({ bodies }) => bodies),
    mail,
    samples,
  );
  const page = isPage(mail);
  const view = (show: (mail: Mail, side: EmailSide, further: boolean) => Insertable): Insertable => [
    ...variants.map(({ label, mails }, index) =>
      variantBox(
        label,
        index === 0,
        markup`<div class="pair">${mails.map((mail, at) => {
          const side = sides[at];
          return side === undefined ? null : show(mail, side, index > 0);
        })}</div>`,
      ),
    ),
    moreVariants(left, page),
  ];
  const rendered = view(({ html }, side, further) =>
    htmlFigure(html, side.label, side.none, emails, { further, page }),
  );
  return {
    rendered,
    alike: variants.every(({ mails }) =>
      emails.alike(
        mails.map(({ html }) => html),
        page,
      ),
    ),
    text: view(({ txt }, side) => textFigure(txt, side.label, side.none, emails)),
  };
}

export function samplesText(samples: readonly NamedSample[], mail: MailOf | undefined): Insertable {
  const files = [...new Set(samples.map(({ file }) => file))];
  if (files.length === 0)
    return mail === undefined ? 'made up from the names of the placeholders' : 'as this server fills it in';
  return ['from ', ...files.map((file, at) => [at === 0 ? null : ', ', markup`<code>${file}</code>`])];
}

/** An email or a page in a wide and a narrow frame, and an email as text, with each variant of sections. */
export function emailGallery(
  bodies: TemplateBodies,
  mail: MailOf | undefined,
  samples: readonly NamedSample[],
  emails: Emails,
): Insertable {
  const none = 'not declared';
  const { variants, left } = mailsOf([bodies], mail, samples);
  const page = isPage(mail);
  const [wide, narrow] = page
    ? ['Wide', 'Narrow, as on a phone']
    : ['HTML, wide', 'HTML, narrow as on a phone'];
  const boxes = variants.map(({ label, mails }, index) => {
    const [made] = mails;
    if (made === undefined) return null;
    return variantBox(
      label,
      index === 0,
      markup`<div class="trio">
<div class="wide">${htmlFigure(made.html, wide, none, emails, { further: index > 0, page })}</div>
<div class="narrow">${htmlFigure(made.html, narrow, none, emails, { further: index > 0, page })}</div>
${page ? null : textFigure(made.txt, 'Text', none, emails)}</div>`,
    );
  });
  return [...boxes, moreVariants(left, page)];
}

/** The mails with each sample, labelled if there are several. */
function mailsOf(
  sides: readonly TemplateBodies[],
  mail: MailOf | undefined,
  samples: readonly NamedSample[],
) {
  const { variants, left } = renderMails(
    sides,
    mail,
    samples.map(({ data }) => data),
  );
  const isOneFile = new Set(samples.map(({ file }) => file)).size === 1;
  const nameOf = ({ name, file }: NamedSample) => (isOneFile || name === file ? name : `${name}, ${file}`);
  return {
    left,
    variants: variants.map(({ sample, label, mails }) => {
      const parts = [
        ...(samples.length > 1 ? samples.slice(sample, sample + 1).map(nameOf) : []),
        ...(label === null ? [] : [label]),
      ];
      return { label: parts.length === 0 ? null : parts.join(': '), mails };
    }),
  };
}

function moreVariants(left: number, page: boolean): Insertable {
  if (left === 0) return null;
  return markup`<p class="note">Not shown: up to ${shown(left)} more ${page ? 'pages' : 'mails'}, in which other sections are there and not there.</p>`;
}

function variantBox(label: string | null, open: boolean, content: Markup): Markup {
  if (label === null) return content;
  const start = open ? markup`<details class="variant" open>` : markup`<details class="variant">`;
  return markup`${start}<summary>${label}</summary>${content}</details>\n`;
}

function htmlFigure(
  body: RenderedBody | null,
  label: string,
  none: string,
  emails: Emails,
  how: { readonly further: boolean; readonly page: boolean },
): Markup {
  return figure(body, label, none, (text) => {
    const email = emails.framed(text, how);
    if (email === undefined) return how.further ? noFurther : noRoom;
    if ('refused' in email) return markup`<p class="note">not shown: it is ${email.refused}</p>`;
    return markup`<div class="mail"><iframe sandbox="" loading="lazy" referrerpolicy="no-referrer" title="${label}" srcdoc="${email.source}"></iframe></div>${leftOut(email.left)}`;
  });
}

function leftOut(left: readonly string[]): Insertable {
  return left.length === 0 ? null : markup`<p class="note">Left out here: ${left.join('; ')}</p>`;
}

const noRoom = markup`<p class="note">not shown: a page shows ${shown(limits.pageFrames)} emails at most, with ${shown(limits.pageCharacters)} characters in all; look at fewer at once</p>`;

const noFurther = markup`<p class="note">not shown: of so many emails this page shows the first mail of each template; look at fewer at once</p>`;

function textFigure(body: RenderedBody | null, label: string, none: string, emails: Emails): Markup {
  return figure(body, label, none, (text) =>
    emails.take(text.length) ? scrollable('mail-text', label, markupLines(text)) : noRoom,
  );
}

function figure(
  body: RenderedBody | null,
  label: string,
  none: string,
  show: (text: string) => Markup,
): Markup {
  const content =
    body === null
      ? markup`<p class="note">${none}</p>`
      : 'syntax' in body
        ? markup`<p class="warning">${body.syntax}</p>`
        : 'tooLong' in body
          ? markup`<p class="warning">not shown: ${body.tooLong}; shorten the body or the lists of its sample data</p>`
          : show(body.text);
  return markup`<figure><figcaption>${label}</figcaption>${content}</figure>`;
}
