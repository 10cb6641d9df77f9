import { shellWord } from '../../base/shell.js';
import type { NewFile } from '../../pull/layout.js';

/** What workflows have to know of a project. */
export interface Fit {
  /** What is merged into this is applied. */
  readonly branch: string;
  /** Further variables that manifests need, to be had as secrets. */
  readonly variables: readonly string[];
  /** The server's address, which the workflows pin; null where a variable of the CI says it. */
  readonly baseUrl: string | null;
}

/** What the workflows of the examples are made for. */
export const usual: Fit = { branch: 'main', variables: [], baseUrl: null };

/** The workflows of the examples, made for a project. */
export function fitted(files: readonly NewFile[], { branch, variables, baseUrl }: Fit): NewFile[] {
  return files.map(({ path, text }) => ({
    path,
    text: pinned(text, baseUrl)
      .replaceAll('branches: [main]', () => `branches: [${scalar(branch)}]`)
      .replaceAll(/^ *(?=with:\n *command:)/gm, (indent) => {
        const lines = variables.map((name) => `${indent}  ${name}: \${{ secrets.${name} }}\n`);
        return `${lines.length === 0 ? '' : `${indent}env:\n${lines.join('')}`}${indent}`;
      }),
  }));
}

/** The variable that the workflows take the server's address from, as they write it. */
const addressVariables = /\$\{\{ vars\.IDOPS_BASE_URL \}\}|"\$IDOPS_BASE_URL"/g;

/** Whether a workflow takes the server's address from a variable of the CI. */
export function asksForAddress({ text }: NewFile): boolean {
  return text.search(addressVariables) >= 0;
}

/** An address that is known is written out, where nobody can leave it empty. */
function pinned(text: string, baseUrl: string | null): string {
  if (baseUrl === null) return text;
  return text
    .replaceAll(/^ *# A variable of the repository, or the address written out\..*\n/gm, '')
    .replaceAll(/^# +IDOPS_BASE_URL .*\n/gm, '')
    .replaceAll(addressVariables, (written) =>
      written.startsWith('"') ? shellWord(baseUrl) : scalar(baseUrl),
    );
}

/** A text as YAML takes it for itself in a list, and not for a number or a truth value. */
function scalar(text: string): string {
  const isPlain = /^[A-Za-z][\w./*-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}
