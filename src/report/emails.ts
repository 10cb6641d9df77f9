import type { TemplateBodies } from '../mail/checks.js';
import { cleanHtml } from '../mail/clean.js';
import { limits, shown } from '../mail/limits.js';
import { type Mail, type RenderedBody, renderMails, type SampleData } from '../mail/samples.js';
import { type Insertable, type Markup, markup, markupLines, srcdoc } from './markup.js';
import { scrollable } from './page.js';

/** How many characters of rendered emails a page may hold before it is too heavy to be opened. */
export class FrameRoom {
  #left: number = limits.pageCharacters;
  #last: { readonly body: string; readonly cleaned: ReturnType<typeof cleanHtml> } | undefined;

  /** Whether there is room for so much more; if so, it is taken. */
  take(characters: number): boolean {
    if (characters > this.#left) return false;
    this.#left -= characters;
    return true;
  }

  /**
   * An email written anew, once for the frames beside each other that show it; undefined where there is no room. What is
   * left out of it counts as well, since that takes its time all the same.
   */
  clean(body: string): ReturnType<typeof cleanHtml> | undefined {
    if (body.length > this.#left) return undefined;
    if (this.#last?.body !== body) this.#last = { body, cleaned: cleanHtml(body) };
    const { cleaned } = this.#last;
    const characters = 'refused' in cleaned ? 0 : cleaned.html.length;
    return this.take(Math.max(body.length, characters)) ? cleaned : undefined;
  }
}

/** An email as it is now and as it will be, rendered. */
export interface EmailViews {
  readonly rendered: Insertable;
  readonly text: Insertable;
}

/** The bodies of an email on one side of a change, and what that side is called. */
export interface EmailSide {
  readonly label: string;
  readonly bodies: TemplateBodies;
  /** Said where a body can't be shown. */
  readonly none: string;
}

/** Emails side by side: rendered as HTML, and as text; each way that sections can go. */
export function emailViews(sides: readonly EmailSide[], sample: SampleData, room: FrameRoom): EmailViews {
  const { variants, left } = renderMails(
    sides.map(({ bodies }) => bodies),
    sample,
  );
  const view = (show: (mail: Mail, side: EmailSide) => Insertable): Insertable => [
    ...variants.map(({ label, mails }, index) =>
      variantBox(
        label,
        index === 0,
        markup`<div class="pair">${mails.map((mail, at) => {
          const side = sides[at];
          return side === undefined ? null : show(mail, side);
        })}</div>`,
      ),
    ),
    moreVariants(left),
  ];
  return {
    rendered: view(({ html }, side) => htmlFigure(html, side.label, side.none, room)),
    text: view(({ txt }, side) => textFigure(txt, side.label, side.none, room)),
  };
}

/** One email in a wide and in a narrow frame, its text beside them; each way that sections can go. */
export function emailGallery(bodies: TemplateBodies, sample: SampleData, room: FrameRoom): Insertable {
  const none = 'not declared';
  const { variants, left } = renderMails([bodies], sample);
  const boxes = variants.map(({ label, mails }, index) => {
    const [mail] = mails;
    if (mail === undefined) return null;
    return variantBox(
      label,
      index === 0,
      markup`<div class="trio">
<div class="wide">${htmlFigure(mail.html, 'HTML, wide', none, room)}</div>
<div class="narrow">${htmlFigure(mail.html, 'HTML, narrow as on a phone', none, room)}</div>
${textFigure(mail.txt, 'Text', none, room)}</div>`,
    );
  });
  return [...boxes, moreVariants(left)];
}

/** Says that sections can go in more ways than are shown. */
function moreVariants(left: number): Insertable {
  if (left === 0) return null;
  return markup`<p class="note">Not shown: up to ${shown(left)} more mails, in which other sections are there and not there.</p>`;
}

function variantBox(label: string | null, open: boolean, content: Markup): Markup {
  if (label === null) return content;
  const start = open ? markup`<details class="variant" open>` : markup`<details class="variant">`;
  return markup`${start}<summary>${label}</summary>${content}</details>\n`;
}

function htmlFigure(body: RenderedBody | null, label: string, none: string, room: FrameRoom): Markup {
  return figure(label, htmlContent(body, label, none, room));
}

function htmlContent(body: RenderedBody | null, label: string, none: string, room: FrameRoom): Markup {
  if (body === null) return markup`<p class="note">${none}</p>`;
  if ('syntax' in body) return unparsed(body.syntax);
  if ('tooLong' in body) return tooLong(body.tooLong);
  const cleaned = room.clean(body.text);
  if (cleaned === undefined) return noRoom;
  if ('refused' in cleaned) return markup`<p class="note">not shown: it is ${cleaned.refused}</p>`;
  const { html, left } = cleaned;
  const document = `<!DOCTYPE html>${framePolicy}${html}`;
  return markup`<iframe sandbox="" referrerpolicy="no-referrer" loading="lazy" title="${label}" srcdoc="${srcdoc(document)}"></iframe>${leftOut(left)}`;
}

/** What a reviewer should know of, and a frame that loads nothing can't show. */
function leftOut(left: readonly string[]): Insertable {
  return left.length === 0 ? null : markup`<p class="note">Left out here: ${left.join('; ')}</p>`;
}

/** The page's policy holds in its frames as well; this one says it again for a frame by itself. */
const framePolicy =
  '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'; img-src data:">' +
  '<meta http-equiv="x-dns-prefetch-control" content="off">';

const noRoom = markup`<p class="note">not shown: this page has ${shown(limits.pageCharacters)} characters of emails already; look at fewer at once</p>`;

function textFigure(body: RenderedBody | null, label: string, none: string, room: FrameRoom): Markup {
  if (body === null) return figure(label, markup`<p class="note">${none}</p>`);
  if ('syntax' in body) return figure(label, unparsed(body.syntax));
  if ('tooLong' in body) return figure(label, tooLong(body.tooLong));
  if (!room.take(body.text.length)) return figure(label, noRoom);
  return figure(label, scrollable('mail', label, markupLines(body.text)));
}

function figure(label: string, content: Markup): Markup {
  return markup`<figure><figcaption>${label}</figcaption>${content}</figure>`;
}

function tooLong(words: string): Markup {
  return markup`<p class="warning">not shown: ${words}; shorten the body or the lists of its sample data</p>`;
}

function unparsed(syntax: string): Markup {
  return markup`<p class="warning">This body is not a Mustache template: ${syntax}</p>`;
}
