import { type Command, Help } from 'commander';

/** Columns that a description gets beside what it describes, at least; it stands below that otherwise. */
const LEAST_BESIDE = 24;
const INDENT = '      ';

/** A help that is folded for the terminal, however narrow that is. */
export const foldedHelp: Partial<Help> = {
  showGlobalOptions: true,
  minWidthToWrap: 16,
  formatItem(this: Help, term, termWidth, description, helper) {
    const width = this.helpWidth ?? 80;
    // Two columns before, and two between.
    if (description === '' || width - termWidth - 4 >= LEAST_BESIDE)
      return Help.prototype.formatItem.call(this, term, termWidth, description, helper);
    return `  ${term}\n${indented(this, description, width)}`;
  },
};

/** What stands below a command's help, made for its terminal. */
export function below(made: (help: Help) => string): (context: { readonly command: Command }) => string {
  return ({ command }) => {
    const help = command.createHelp();
    const { getOutHelpWidth } = command.configureOutput();
    help.prepareContext({ helpWidth: getOutHelpWidth?.() ?? 80 });
    return made(help);
  };
}

/** A sentence below what it explains. */
export function indented(help: Help, text: string, width = help.helpWidth ?? 80): string {
  return help
    .boxWrap(text, width - INDENT.length)
    .split('\n')
    .map((line) => `${INDENT}${line}`)
    .join('\n');
}
