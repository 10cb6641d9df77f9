import type { CST, Document, YAMLError } from 'yaml';
import { error, type Problem } from '../base/problems.js';
import type { SourceFile } from './file.js';
import type { Marks } from './marks.js';
import { conflictIn, slipOf } from './slips.js';
import type { Range } from './tree.js';

/** How deep YAML may be nested. */
export const MAX_DEPTH = 100;
/** Of how many pieces a document may be. */
export const MAX_LEXEMES = 1_000_000;

/** A merge that was left half done is one mistake, whatever the parser makes of it. */
export function withoutConflict(file: SourceFile, problems: readonly Problem[]): readonly Problem[] {
  const isSyntax = ({ code }: Problem): boolean => code === 'yaml-syntax';
  const conflict = problems.some(isSyntax) ? conflictIn(file.text) : undefined;
  if (conflict === undefined) return problems;
  const { message, hint, range } = conflict;
  return [
    error('yaml-syntax', message, [file.place(range)], hint),
    ...problems.filter((problem) => !isSyntax(problem)),
  ];
}

/** What the parser found wrong in a document: each mistake once, where it was made. */
export function documentErrors(file: SourceFile, document: Document.Parsed, marks: Marks): Problem[] {
  const problems: Problem[] = [];
  if (document.errors.length > 0) file.distrust();
  /** The lines that the last mistake is about. */
  let told: readonly [number, number] | undefined;
  for (const found of [...document.errors, ...document.warnings]) {
    const { line } = file.place({ start: found.pos[0], end: found.pos[1] });
    // The parser stumbles over what follows a mistake; the mistake is what a person has to mend.
    const stumbles = /token in YAML stream|^Unknown directive/.test(found.message);
    const isSyntax = found.code !== 'TAG_RESOLVE_FAILED' && found.code !== 'RESOURCE_EXHAUSTION';
    if (isSyntax && told !== undefined && (stumbles || (line >= told[0] && line <= told[1]))) continue;
    const problem = yamlProblem(file, found, marks);
    const shown = problem.places[0]?.line ?? line;
    if (isSyntax) told = [Math.min(line, shown), Math.max(line, shown)];
    problems.push(problem);
  }
  return problems;
}

/** Whether a directive says that what follows is YAML 1.1, which the parser takes. */
export function isOldYaml({ source }: CST.Directive): boolean {
  return /^%YAML[ \t]+1\.1[ \t]*$/.test(source);
}

export function oldYaml(file: SourceFile, { source, offset }: CST.Directive): Problem {
  const place = file.place({ start: offset, end: offset + source.trimEnd().length });
  return error('yaml-syntax', 'YAML 1.1 is not supported', [place], 'remove the directive');
}

function yamlProblem(file: SourceFile, found: YAMLError, marks: Marks): Problem {
  const range: Range = { start: found.pos[0], end: Math.max(found.pos[1], found.pos[0] + 1) };
  const places = [file.place(range)];
  if (found.code === 'TAG_RESOLVE_FAILED') {
    return error(
      'unknown-tag',
      'this tag is not known',
      places,
      'remove it; put quotes around a value that begins with "!"',
    );
  }
  if (found.code === 'RESOURCE_EXHAUSTION') {
    return error('too-deep', `more than ${MAX_DEPTH} levels of nesting`, places, 'flatten the document');
  }
  const slip = slipOf(found, { text: file.text, marks, hides: (part) => file.hides(part) });
  if (slip !== undefined) return error('yaml-syntax', slip.message, [file.place(slip.range)], slip.hint);
  // The parser's messages may quote the source, which may be a secret.
  const message = file.hides(range) ? 'this is not valid YAML' : found.message.replace(/: ".*$/s, '');
  return error('yaml-syntax', message, places);
}
