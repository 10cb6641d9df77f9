import { type Insertable, Markup, markup } from './markup.js';
import { styles } from './styles.js';

export interface PageScript {
  readonly code: string;
  /** The SHA-256 of its code in base64, for the page's policy. */
  readonly hash: string;
}

/** A page in one file that loads nothing, and runs no script except `script`. Filters and tabs are form controls that style sheets read. */
export function pageText({
  title,
  content,
  script,
}: {
  readonly title: string;
  readonly content: Insertable;
  readonly script?: PageScript;
}): string {
  const policy = [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    script === undefined ? "script-src 'none'" : `script-src 'sha256-${script.hash}'; connect-src 'self'`,
  ].join('; ');
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Markup(styles)}</style>
${script === undefined ? null : markup`<script>${new Markup(script.code)}</script>\n`}</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${content}
</body>
</html>
`.text;
}

export function pageHeader(
  heading: Insertable,
  facts: readonly Insertable[],
  counts: readonly { readonly count: number; readonly words: string }[],
): Markup {
  return markup`<header>
<h1>${heading}</h1>
<ul class="facts quiet">
${facts.map((fact) => markup`<li>${fact}</li>\n`)}</ul>
<ul class="counts">${counts.map(({ count, words }) => markup`<li><strong>${count}</strong> ${words}</li>`)}</ul>
</header>`;
}

/** A scrollable part of a page that the keyboard can focus. */
export function scrollable(className: string, label: string, content: Insertable): Markup {
  return markup`<pre class="${className}" tabindex="0" role="group" aria-label="${label}">${content}</pre>`;
}
