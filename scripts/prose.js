// `npm run prose` checks the words of the docs. A term is a pattern with its replacement; code and quotations are skipped.
import { readFileSync } from 'node:fs';
import { TextlintKernel } from '@textlint/kernel';
import markdown from '@textlint/textlint-plugin-markdown';
import terminology from 'textlint-rule-terminology';
import { globSync } from 'tinyglobby';

const terms = [
  ['takes? no notice of', 'ignores'],
  ['(is|are|was|were) told', '$1 reported'],
  ['told (as|of|with|here|below|beside)', 'reported $1'],
  ['anew', 'again'],
  ['by then', 'then'],
  ['by itself', 'automatically'],
  ['comes? to be', 'becomes'],
  ['comes? about', 'happens'],
  ['(is|are) to hold', 'must hold'],
  ['stands? (in|below|above|beside|behind|there)', 'is $1'],
  ['nobody knows', 'unknown'],
  ['goes by', 'uses'],
  ['in the place of', 'instead of'],
  ['lets go of', 'releases'],
  ['mend(s|ed)?', 'fix'],
  ['besides', 'also'],
  ['likewise', 'also'],
  ['(is|are) meant', '$1 intended'],
  ['(?<!there )\\bis no (?!longer|more)', 'is not a '],
  [
    "where (there (?:is|are)|nothing|none|nobody|no|something|somebody|possible|needed|wanted|it (?:can|has|does|isn't|fails))",
    'if $1',
  ],
  ['in order to', 'to'],
  ['prior to', 'before'],
  ['due to the fact that', 'because'],
  ['e\\.g\\.', 'for example'],
  ['i\\.e\\.', 'that is'],
  ['upon', 'on'],
  ['shall', 'must'],
  ['where(of|by|upon|in)', 'which'],
  ['there(of|by|upon|in)', 'it'],
  ['(utilize|leverage)(s|d)?', 'use'],
  ['(simply|obviously|of course)', '(nothing)'],
].map(([pattern, instead]) => [pattern.replaceAll(' ', '\\s+'), instead]);

const kernel = new TextlintKernel();
let found = 0;
for (const filePath of globSync(['*.md', 'docs/**/*.md']).sort()) {
  const { messages } = await kernel.lintText(readFileSync(filePath, 'utf8'), {
    filePath,
    ext: '.md',
    plugins: [{ pluginId: 'markdown', plugin: markdown.default }],
    rules: [{ ruleId: 'terminology', rule: terminology, options: { defaultTerms: false, terms } }],
  });
  for (const { loc, message } of messages)
    console.log(`${filePath}:${loc.start.line}:${loc.start.column} ${message}`);
  found += messages.length;
}
if (found > 0) process.exitCode = 1;
