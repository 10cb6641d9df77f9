import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { headingOf, plainHeadingOf, selectionSentence, subjectOf } from '../../src/action/subject.js';
import { treeOf } from '../report/trees.js';

const nothing = { target: [], kind: [] };
const inputs = { workingDirectory: '.' };
const hide = (text: string): string => text.replaceAll('s3cret', '***');
const evil = '`</code><img src=x> @everyone [a](b) s3cret\n# x';

describe('the subject of a comment', () => {
  it('is plain text, with any names, and without masked values', () => {
    const subject = subjectOf(
      { ...inputs, config: `${evil}.yaml` },
      { ...nothing, target: [evil], prune: true },
      hide,
      { environment: evil, server: `https://${evil}` },
    );
    const markdown = `## ${headingOf('idops plan', subject)}\n\n${selectionSentence(subject)}\n`;
    const { elements, prose } = treeOf(new MarkdownIt({ html: true, linkify: true }).render(markdown));
    expect(
      elements
        .map(({ tag }) => tag)
        .filter((tag) => !['html', 'head', 'body', 'h2', 'p', 'code'].includes(tag)),
    ).toEqual([]);
    expect(prose).not.toMatch(/[@<]/);
    expect(markdown + plainHeadingOf('x', subject)).not.toContain('s3cret');
    expect(plainHeadingOf('x', subject)).not.toContain('\n');
  });

  it('names the shard', () => {
    const subject = subjectOf({ ...inputs, shard: { index: 2, count: 4 } }, nothing, hide, {
      environment: 'production',
      server: 'https://id.example.com',
    });
    expect(plainHeadingOf('idops plan', subject)).toBe(
      'idops plan in shard 2/4 for production at id.example.com',
    );
    expect(subject.isNarrowed).toBe(true);
  });

  it('is short, even with long names', () => {
    const long = 'x'.repeat(5_000);
    const subject = subjectOf(inputs, { ...nothing, target: Array(1_000).fill(long) }, hide, {
      environment: long,
      server: long,
    });
    expect(headingOf('idops plan', subject).length).toBeLessThan(300);
    expect(selectionSentence(subject).length).toBeLessThan(700);
  });
});
