import { build } from 'esbuild';

type Parser = typeof import('./parser-exports.js');

// GitHub's parser imports JSON in a way that Node refuses.
const { outputFiles } = await build({
  entryPoints: ['test/action/parser-exports.ts'],
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  logLevel: 'error',
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('file:///');" },
});
const [{ text } = { text: '' }] = outputFiles;
const address = `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`;
const parser = (await import(/* @vite-ignore */ address)) as Parser;

/** The errors in a workflow, according to GitHub's own schema. */
export function workflowErrors(name: string, content: string): string[] {
  return errorsOf(parser.parseWorkflow({ name, content }, new parser.NoOperationTraceWriter()));
}

/** The errors in an `action.yml`, according to GitHub's own schema. */
export function actionErrors(content: string): string[] {
  return errorsOf(parser.parseAction({ name: 'action.yml', content }, new parser.NoOperationTraceWriter()));
}

function errorsOf({ context }: ReturnType<Parser['parseAction' | 'parseWorkflow']>): string[] {
  return context.errors.getErrors().map(({ message }) => message);
}
