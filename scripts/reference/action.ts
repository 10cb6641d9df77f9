import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { code, type Makers, plain, table } from './blocks.js';

interface Field {
  readonly description: string;
  readonly default?: string;
}

/** The tables of the inputs and outputs of the action, from action.yml. */
export function actionMakers(): Makers {
  const action: {
    readonly inputs: Readonly<Record<string, Field>>;
    readonly outputs: Readonly<Record<string, Field>>;
  } = parse(readFileSync('action.yml', 'utf8'));
  return {
    inputs: () => table(['input', 'meaning'], rowsOf(action.inputs)),
    outputs: () => table(['output', 'meaning'], rowsOf(action.outputs)),
  };
}

function rowsOf(fields: Readonly<Record<string, Field>>): string[][] {
  return Object.entries(fields).map(([name, { description, default: usual }]) => [
    code(name),
    `${plain(description)}.${usual === undefined ? '' : ` Default: ${code(usual)}.`}`,
  ]);
}
