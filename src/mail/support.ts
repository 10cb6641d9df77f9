import { platformsOf, programsInWords } from './programs.js';

/** A feature that some of the programs that matter don't understand. */
export interface Unsupported {
  /** As Can I email calls it: `box-shadow`, `<video> element`. */
  readonly feature: string;
  /** The programs, in words. */
  readonly programs: string;
}

/** What the programs that matter don't understand, by how it shows in a body. */
export type MailSupport = ReadonlyMap<string, Unsupported>;

/** Reads what Can I email says of some programs; it is loaded where a body is checked. */
export async function loadMailSupport(programs: readonly string[]): Promise<MailSupport> {
  const wanted = platformsOf(programs);
  const { supportLines, supportPrograms } = await import('./support-data.js');
  const columns = supportPrograms.trim().split('\n');
  const support = new Map<string, Unsupported>();
  for (const line of supportLines.trim().split('\n')) {
    const [words = '', results = ''] = line.split('||');
    const [feature = '', ...signs] = words.split('|');
    const versions = new Map<string, string>();
    for (const result of results.split(' ')) {
      const [column = '', version = ''] = result.split(':');
      const program = columns[Number.parseInt(column, 36)] ?? '';
      if (wanted.has(program)) versions.set(program, version);
    }
    if (versions.size === 0) continue;
    const unsupported = { feature, programs: programsInWords(versions) };
    for (const sign of signs) support.set(sign, unsupported);
  }
  return support;
}
