import { allSettled } from '../base/concurrency.js';
import { type Fields, Sensitive } from '../base/values.js';
import type { WriteRequest } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import type { FieldChange } from './change.js';
import type { Deletion, FoundObject, Identity, Live, PlanInput } from './kind.js';

interface Deleted {
  readonly noun: string;
  /** The fields with its texts. */
  readonly bodies: readonly string[];
  request(identity: Identity): WriteRequest;
  becomes(profile: Profile): NonNullable<FieldChange['becomes']>;
}

/** The deletion of a customized template, after which the server uses its built-in one. */
export function templateDeletion({ noun, bodies, request, becomes }: Deleted): Deletion {
  const textsIn = (fields: Fields) => bodies.filter((body) => typeof fields[body] === 'string');
  return {
    verdict: (identity, fields, profile) => ({
      action: 'delete',
      fields: textsIn(fields).map((path) => ({
        path,
        type: 'body',
        before: fields[path],
        after: null,
        sensitive: false,
        becomes: becomes(profile),
      })),
      requests: [request(identity)],
      destructions: [`deletes the ${noun}`],
    }),
    // A built-in template has no id.
    exists: ({ exists, fields }) => exists && typeof fields.id === 'string',
    // Every answer may omit the id, unless another one shows it.
    isBuiltIn: ({ id }, other) => id === null || (id === undefined && typeof other?.id === 'string'),
    fingerprint: (answer) =>
      ['id', ...bodies].map((part) => (typeof answer[part] === 'string' ? answer[part] : '')),
    fieldsToRestore: (fields) =>
      Object.fromEntries(
        bodies.flatMap((body) => {
          const text = fields[body];
          return typeof text === 'string' || text instanceof Sensitive ? [[body, text]] : [];
        }),
      ),
  };
}

/** The decision about a template that is declared absent; undefined for others. */
export function decideTemplate({ declared, present, profile }: PlanInput, deletion: Deletion) {
  if (!declared.absent) return undefined;
  const { exists, identity, fields, matchesDeleteResponse } = present;
  if (exists !== false && typeof fields.id === 'string' && !matchesDeleteResponse)
    return deletion.verdict(identity, fields, profile);
  return { action: 'unchanged' as const };
}

/** A template as the server shows it; null if it has none. */
export function shownTemplate(identity: Identity, shown: Fields | null): Live {
  return { exists: shown !== null, identity, fields: { ...shown } };
}

/** The given templates that the server has. Built-in ones get the remark. */
export async function findTemplates(
  identities: readonly Identity[],
  show: (identity: Identity) => Promise<Live>,
  remark: string,
): Promise<FoundObject[]> {
  const found = await allSettled(
    identities.map(async (identity): Promise<FoundObject[]> => {
      const live = await show(identity);
      const builtIn = live.fields.id === null ? { remark } : {};
      return live.exists ? [{ identity, displayName: null, ...builtIn, live }] : [];
    }),
  );
  return found.flat();
}
