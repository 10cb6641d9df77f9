import { cleanHtml } from '../mail/clean.js';
import { formatNumber, limits } from '../mail/limits.js';
import { type Mail, type NamedSample, type RenderedBody, renderMails } from '../mail/samples.js';
import { isPage, type ServerMail } from '../mail/servers.js';
import type { TemplateBodies } from '../mail/template.js';
import type { RejectedBody } from '../mail/tree.js';
import { frameSource, type Insertable, type Markup, markup, markupLines } from './markup.js';
import { scrollable } from './page.js';

/** The start of every email and page in a frame: a policy of its own, and styles that make emails scrollable and links visible. */
const framePrefix =
  '<!DOCTYPE html>' +
  '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'; img-src data:">' +
  '<meta http-equiv="x-dns-prefetch-control" content="off">' +
  '<style>:root, :root > body { position: static !important; height: auto !important; max-height: none !important; overflow: visible !important; }' +
  ' :root { min-height: 100% !important; transform: translate(0) !important; }' +
  ' :where(a[title]) { color: #0000ee; text-decoration: underline; cursor: pointer; }</style>';

/** An email or a page for a frame, and what was removed from it; or why it can't be shown. */
type Frame =
  | {
      readonly source: Markup;
      readonly removed: readonly string[];
      /** The visible HTML: equal for emails that look the same. */
      readonly visible: string;
    }
  | RejectedBody;

interface FrameOptions {
  /** Whether it is a further variant of a template's sections. */
  readonly isVariant: boolean;
  readonly page: boolean;
}

/** The rendered emails of a report, limited so that browsers can open it. */
export class Emails {
  readonly #limit: number;
  #characters: number;
  #frames: number = limits.pageFrames;
  readonly #frameByBody = new Map<string, Frame>();

  constructor(limit: number = limits.pageCharacters) {
    this.#limit = limit;
    this.#characters = limit;
  }

  /** Subtracts characters from those that remain; false if too few remain. */
  spend(characters: number): boolean {
    if (characters > this.#characters) return false;
    this.#characters -= characters;
    return true;
  }

  /** The frame of an email; undefined at the limit. Variants get at most half of the limit, so that each template has an email. */
  frame(body: string, { isVariant, page }: FrameOptions): Frame | undefined {
    if (this.#frames <= (isVariant ? limits.pageFrames / 2 : 0)) return undefined;
    const frame = this.#frameByBody.get(`${page} ${body}`) ?? this.#clean(body, { isVariant, page });
    if (frame === undefined || 'rejection' in frame) return frame;
    if (!this.#fits(frame.source.text.length, isVariant)) return undefined;
    this.#frames -= 1;
    this.spend(frame.source.text.length);
    return frame;
  }

  /** Whether bodies look the same; call it after `frame`. */
  lookSame(bodies: readonly (RenderedBody | null)[], page: boolean): boolean {
    const visible = bodies.map((body) => {
      if (body === null || !('text' in body)) return body;
      const frame = this.#frameByBody.get(`${page} ${body.text}`);
      return frame !== undefined && 'visible' in frame ? frame.visible : body.text;
    });
    return new Set(visible).size === 1;
  }

  #clean(body: string, { isVariant, page }: FrameOptions): Frame | undefined {
    if (!this.#fits(body.length, isVariant)) return undefined;
    const cleaned = cleanHtml(body, { page });
    this.spend(body.length);
    const frame =
      'rejection' in cleaned
        ? cleaned
        : {
            source: frameSource(`${framePrefix}${cleaned.html}`),
            removed: cleaned.removed,
            visible: cleaned.html.replace(/ title="[^"]*"(?=[^<>]*>)/g, ''),
          };
    this.#frameByBody.set(`${page} ${body}`, frame);
    return frame;
  }

  #fits(characters: number, isVariant: boolean): boolean {
    return characters <= this.#characters - (isVariant ? this.#limit / 2 : 0);
  }
}

export interface EmailSide {
  readonly label: string;
  readonly bodies: TemplateBodies;
  /** What a missing body is replaced with. */
  readonly emptyText: string;
}

/** Emails or pages side by side, as HTML and text, with each sample and each variant of sections. */
export function emailViews(
  sides: readonly EmailSide[],
  mail: ServerMail | undefined,
  samples: readonly NamedSample[],
  emails: Emails,
): { readonly rendered: Insertable; readonly text: Insertable; readonly looksSame: boolean } {
  const { variants, omitted } = labelledVariants(
    sides.map(({ bodies }) => bodies),
    mail,
    samples,
  );
  const page = isPage(mail);
  const view = (show: (mail: Mail, side: EmailSide, isVariant: boolean) => Insertable): Insertable => [
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
    moreVariants(omitted, page),
  ];
  const rendered = view(({ html }, side, isVariant) =>
    htmlFigure(html, side.label, side.emptyText, emails, { isVariant, page }),
  );
  return {
    rendered,
    looksSame: variants.every(({ mails }) =>
      emails.lookSame(
        mails.map(({ html }) => html),
        page,
      ),
    ),
    text: view(({ txt }, side) => textFigure(txt, side.label, side.emptyText, emails)),
  };
}

export function samplesText(samples: readonly NamedSample[], mail: ServerMail | undefined): Insertable {
  const files = [...new Set(samples.map(({ file }) => file))];
  if (files.length === 0)
    return mail === undefined ? 'made up from the names of the placeholders' : 'as this server fills it in';
  return ['from ', ...files.map((file, at) => [at === 0 ? null : ', ', markup`<code>${file}</code>`])];
}

/** An email or a page in a wide and a narrow frame, and an email as text, with each variant of sections. */
export function emailGallery(
  bodies: TemplateBodies,
  mail: ServerMail | undefined,
  samples: readonly NamedSample[],
  emails: Emails,
): Insertable {
  const none = 'not declared';
  const { variants, omitted } = labelledVariants([bodies], mail, samples);
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
<div class="wide">${htmlFigure(made.html, wide, none, emails, { isVariant: index > 0, page })}</div>
<div class="narrow">${htmlFigure(made.html, narrow, none, emails, { isVariant: index > 0, page })}</div>
${page ? null : textFigure(made.txt, 'Text', none, emails)}</div>`,
    );
  });
  return [...boxes, moreVariants(omitted, page)];
}

/** The variants of emails for each sample, with labels if there are several. */
function labelledVariants(
  sides: readonly TemplateBodies[],
  mail: ServerMail | undefined,
  samples: readonly NamedSample[],
) {
  const { variants, omitted } = renderMails(
    sides,
    mail,
    samples.map(({ data }) => data),
  );
  const isSingleFile = new Set(samples.map(({ file }) => file)).size === 1;
  const nameOf = ({ name, file }: NamedSample) => (isSingleFile || name === file ? name : `${name}, ${file}`);
  return {
    omitted,
    variants: variants.map(({ sample, label, mails }) => {
      const parts = [
        ...(samples.length > 1 ? samples.slice(sample, sample + 1).map(nameOf) : []),
        ...(label === null ? [] : [label]),
      ];
      return { label: parts.length === 0 ? null : parts.join(': '), mails };
    }),
  };
}

function moreVariants(omitted: number, page: boolean): Insertable {
  if (omitted === 0) return null;
  return markup`<p class="note">Not shown: up to ${formatNumber(omitted)} more ${page ? 'pages' : 'mails'}, with other sections present or absent.</p>`;
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
  options: FrameOptions,
): Markup {
  return figure(body, label, none, (text) => {
    const frame = emails.frame(text, options);
    if (frame === undefined) return options.isVariant ? variantLimitNote : limitNote;
    if ('rejection' in frame) return markup`<p class="note">not shown: it is ${frame.rejection}</p>`;
    return markup`<div class="mail"><iframe sandbox="" loading="lazy" referrerpolicy="no-referrer" title="${label}" srcdoc="${frame.source}"></iframe></div>${removedNote(frame.removed)}`;
  });
}

function removedNote(removed: readonly string[]): Insertable {
  return removed.length === 0 ? null : markup`<p class="note">Left out here: ${removed.join('; ')}</p>`;
}

const limitNote = markup`<p class="note">not shown: a page shows ${formatNumber(limits.pageFrames)} emails at most, with ${formatNumber(limits.pageCharacters)} characters in all; look at fewer at once</p>`;

const variantLimitNote = markup`<p class="note">not shown: with so many emails, this page shows the first mail of each template; look at fewer at once</p>`;

function textFigure(body: RenderedBody | null, label: string, none: string, emails: Emails): Markup {
  return figure(body, label, none, (text) =>
    emails.spend(text.length) ? scrollable('mail-text', label, markupLines(text)) : limitNote,
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
