import { escapeText } from '../base/escape.js';
import type { Diagnosis } from '../server/diagnose.js';

export interface ShownDiagnosis extends Diagnosis {
  readonly server: string | null;
  readonly configured: string | null;
}

const secretsNote = "idops doesn't search for committed secrets: gitleaks does.";

export function diagnosisText({ server, checks }: ShownDiagnosis): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ status, name, message, hint }) => [
    `${status.padEnd(4)}  ${name.padEnd(width)}  ${escapeText(message)}`,
    ...(hint === null ? [] : [`${' '.repeat(width + 8)}${escapeText(hint)}`]),
  ]);
  const failed = checks.filter(({ status }) => status === 'fail').length;
  const end = failed === 0 ? 'No check failed.' : `${failed} of ${checks.length} checks failed.`;
  const start = server === null ? [] : [`Server: ${escapeText(server)}`, ''];
  return [...start, ...lines, '', end, secretsNote, ''].join('\n');
}

export function diagnosisJson({ server, configured, matchingProfile, checks }: ShownDiagnosis): object {
  return { format_version: 1, server, profile: configured, fitting_profile: matchingProfile, checks };
}
