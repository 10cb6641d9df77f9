/** The formats that there are of each thing that is shown; kept apart from what they are made with, so that help is quick. */
export const namesOfFormats = {
  plan: ['text', 'json', 'markdown', 'html', 'github', 'gitlab'],
  result: ['text', 'json', 'markdown', 'html', 'github'],
  problems: ['text', 'json', 'github'],
  validation: ['text', 'json', 'github'],
  runs: ['text', 'json'],
  run: ['text', 'json'],
  history: ['text', 'json'],
  pruning: ['text', 'json'],
  state: ['text', 'json'],
  pull: ['text', 'json'],
  listing: ['text', 'json'],
  diagnosis: ['text', 'json'],
  turn: ['text', 'json'],
} as const;
