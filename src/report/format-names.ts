/** The formats of each report, for help and completion, which load no report. */
export const formatsByReport = {
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
  access: ['text', 'csv', 'json', 'html'],
  diagnosis: ['text', 'json'],
  cycle: ['text', 'json'],
} as const;
