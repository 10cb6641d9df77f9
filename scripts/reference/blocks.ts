/** What each generated part of a page is made by; the name in its marker, and what stands after the name. */
export type Makers = { readonly [name: string]: (argument: string) => string };

const blocks = /^<!-- generated: (\S+)(?: (.+?))? -->\n[\s\S]*?^<!-- \/generated -->$/gm;

/** A page with its generated parts as the code generates them now. */
export function withBlocks(page: string, makers: Makers): string {
  return page.replace(blocks, (_, name: string, argument: string | undefined) => {
    const make = makers[name];
    if (make === undefined) throw new Error(`nothing generates "${name}"`);
    const marker = argument === undefined ? name : `${name} ${argument}`;
    return `<!-- generated: ${marker} -->\n${make(argument ?? '')}\n<!-- /generated -->`;
  });
}

/** A table of Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `|${cells.join('|')}|`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** Code in a cell of a table. */
export function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

/** What is to be typed or written as it stands, within a sentence. */
const literal =
  /(?:source )?~\/[\w./-]*\w|https?:\/\/[\w./-]*\w|[\w.*-]+\/[\w.*/-]*[\w*]|--[a-z]+(?:-[a-z]+)*(?: [A-Z]+)?|\$\{\w+\}|\b[A-Z]+(?:_[A-Z]*)+|\b[a-z]+(?:[._][a-z_]+)+\b|\{"[a-z]+": true\}|\b\d+(?:ms|s|m|h|d|w)\b/g;

/** A sentence in a cell of a table: what is to be typed is code, and none of its other characters is markup. */
export function plain(text: string): string {
  const pieces = text.replaceAll('\n', ' ').split(literal);
  const literals = text.replaceAll('\n', ' ').match(literal) ?? [];
  return pieces
    .map(
      (piece, index) =>
        piece.replace(/[|<>*[\]]/g, '\\$&') + (index < literals.length ? code(literals[index] ?? '') : ''),
    )
    .join('');
}
