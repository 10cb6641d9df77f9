import * as z from 'zod';
import { allSettled, allSettledEach } from '../base/concurrency.js';
import { nullish, optional } from '../base/members.js';
import { error } from '../base/problems.js';
import { compareText, type Fields, isMap, lazy, Sensitive, same } from '../base/values.js';
import { pages } from '../server/answers.js';
import type { Profile } from '../server/profiles.js';
import type { ExtraRead } from '../server/reads.js';
import type { FieldChange, PlanWarning } from './change.js';
import { body, carried, value } from './fields.js';
import type {
  DiscoverContext,
  Discovered,
  Finding,
  Identity,
  Kind,
  Live,
  ObserveContext,
  PlanInput,
  Traces,
  Update,
  Verdict,
} from './kind.js';
import { profileProblems, unknownWhole, wholeFields } from './rules.js';
import { document, identifier, ignorable, text, UUID } from './schema.js';
import { bodiesOf, bodyProblems, withUsableBodies } from './template-bodies.js';
import type { ProfileTraits, Traits } from './traits.js';

interface TemplateTraits extends Traits {
  /** Whether a half that an update leaves out, or leaves as it is, goes back to the built-in text. */
  readonly halvesFallBack: boolean;
  /**
   * Whether every backend has a built-in text of every type: it takes the place of a template that is deleted, and a
   * GET that finds nothing means that there is no such backend or type.
   */
  readonly allBuiltIn: boolean;
  /** The lists that show which backends there are: their own, and where that isn't offered the one of users. */
  readonly backends?: { readonly own: ExtraRead; readonly ofUsers: ExtraRead };
}

/** The types that are known of servers of this API. */
const knownTypes = ['confirmation_instructions', 'reset_password_instructions', 'tx_code'];

const BUILT_IN = 'to go back to the built-in text, declare "state: absent"';

const traits: ProfileTraits<TemplateTraits> = {
  documented: { halvesFallBack: false, allBuiltIn: false },
  boruta: {
    halvesFallBack: true,
    allBuiltIn: true,
    backends: {
      own: { title: 'list backends', path: '/api/backends', scope: 'identity-providers:manage:all' },
      ofUsers: { title: 'list users', path: '/api/users', scope: 'users:manage:all' },
    },
    whole: ['txt_content', 'html_content'],
    // A template that is written anew gets an id of its own.
    ignored: ['id'],
    limits: {
      identity: {
        type: {
          known: knownTypes,
          otherwise: 'this server has no email template of this type',
        },
      },
      filled: { txt_content: BUILT_IN, html_content: BUILT_IN },
    },
    signs: { null: ['id'], resets: true },
    unsafe: true,
  },
};

/** For an editor: a template that is deleted has no other fields. */
const deletedAlone = {
  if: { properties: { state: { const: 'absent' } }, required: ['state'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { id: false, txt_content: false, html_content: false } },
};

const schema = lazy(() =>
  document(
    'EmailTemplate',
    'An email template of a backend, in Mustache.',
    {
      backend_id: identifier().meta({
        description: 'The id of the backend whose template it is.',
        examples: [UUID],
      }),
      type: identifier().meta({
        description: 'What the email is for, as the server names it.',
        examples: knownTypes,
      }),
      id: optional(text(), 'The id that the server has for the template. Backend and type find it.', UUID),
      txt_content: nullish(text(), 'The body in plain text.', { file: 'emails/reset_password.txt' }),
      html_content: nullish(text(), 'The body in HTML.', { file: 'emails/reset_password.html' }),
      state: z
        .enum(['present', 'absent'])
        .optional()
        .meta({
          description:
            "absent: delete the template, so that the server's built-in text holds. Nothing else is deleted without this word.",
          examples: ['absent'],
          default: 'present',
        }),
      ignored: ignorable(traits),
    },
    deletedAlone,
  ),
);

export const emailTemplate: Kind = {
  name: 'EmailTemplate',
  noun: 'email template',
  get schema() {
    return schema();
  },
  identity: ['backend_id', 'type'],
  fields: { id: value, txt_content: body, html_content: body },
  scopes: { read: 'identity-providers:manage:all', write: 'identity-providers:manage:all' },
  traits,
  identities: ({ identity }) => [JSON.stringify([identity.backend_id, identity.type])],
  check: (declared, profile) => [
    ...declared
      .filter(({ absent, fields }) => absent && Object.keys(fields).length > 0)
      .map((template) =>
        error(
          'absent-with-fields',
          'a template with "state: absent" has no other fields',
          Object.keys(template.fields).map((field) => template.placeOf(field)),
          'remove the fields to delete the template, or the state to keep it',
        ),
      ),
    ...declared.flatMap(bodyProblems),
    // What no server takes is not told a second time as a limit of this one.
    ...profileProblems(declared.map(withUsableBodies), profile, traits),
  ],
  // A slash in an id must not make two templates look like one, nor an id that has one written out.
  addressPart: ({ backend_id = '', type = '' }) =>
    `${/[/%]/.test(backend_id) ? encodeURIComponent(backend_id) : backend_id}/${type}`,
  within: 'backend_id',
  readable: () => true,
  email: { txt: 'txt_content', html: 'html_content', type: 'type' },
  deletion: {
    verdict: deletion,
    // A built-in default shows itself by having no id.
    exists: ({ exists, fields }) => exists && typeof fields.id === 'string',
    isBuiltIn: ({ id }) => id === null,
    traces: ({ id, txt_content, html_content }) =>
      [id, txt_content, html_content].map((part) => (typeof part === 'string' ? part : '')),
    restored: bodiesOf,
  },
  async observe(objects, context) {
    return new Map(
      await allSettledEach(
        objects,
        async (object) => [object, await showTemplate(object.identity, context)] as const,
      ),
    );
  },
  decide({ declared, present, profile }) {
    if (!declared.absent) return undefined;
    const holds = present.exists === false || typeof present.fields.id !== 'string' || present.asDeleted;
    if (holds) {
      // Where every backend has every template, this one was mistyped.
      const strange = present.exists === false && traits[profile.name].allBuiltIn;
      const warnings: readonly PlanWarning[] = strange
        ? [{ code: 'not-there', message: nothingThere(present.identity) }]
        : [];
      return { action: 'unchanged', fields: [], requests: [], destructions: [], warnings };
    }
    return deletion(present.identity, present.fields, profile);
  },
  update(input) {
    if (input.present.exists === false && traits[input.profile.name].allBuiltIn) {
      return { requests: [], expected: {}, trouble: notThere(input.present.identity) };
    }
    if (traits[input.profile.name].halvesFallBack) return rewrite(input);
    const { present, desired } = input;
    const { backend_id = '', type = '' } = present.identity;
    const known = carried(present.fields, ['id', 'txt_content', 'html_content']);
    // A built-in template has no id, and a half that isn't there can't be sent.
    const there = Object.fromEntries(Object.entries(known).filter(([, half]) => half !== null));
    const template = { ...there, ...desired };
    return {
      requests: [
        {
          operation: 'updateTemplate',
          params: { backend_id, template_type: type },
          body: { ...template, type, backend_id },
        },
      ],
      expected: template,
    };
  },
  lost: lostTemplate,
  discovery: {
    options: { backend: 'backend_id', type: 'type' },
    find,
    writes: ['txt_content', 'html_content'],
    files: { folder: 'emails', endings: { txt_content: 'txt', html_content: 'html' } },
  },
  destructions: () => [],
};

function nothingThere({ backend_id = '', type = '' }: Identity): string {
  return (
    `the server answers 404 for it: it has no backend with the id ${backend_id}, or no email template of the type ` +
    `${type}, so there is nothing to delete; is backend_id right, and type?`
  );
}

function notThere({ backend_id = '', type = '' }: Identity): string {
  return (
    `the server answers 404 for it: it has no backend with the id ${backend_id}, or no email template of the type ` +
    `${type}, and no operation creates one; correct backend_id or type, or create the backend there`
  );
}

/**
 * An update on a server where a half that comes as it is goes back to the built-in text: both halves at once
 * where both change, otherwise the template is deleted and written anew.
 */
function rewrite({ present, desired, profile }: PlanInput): Update {
  const { backend_id = '', type = '' } = present.identity;
  const params = { backend_id, template_type: type };
  const { fields, unknown } = wholeFields(desired, present.fields, traits[profile.name]);
  if (unknown.length > 0) {
    return { requests: [], expected: fields, trouble: unknownWhole('email template', unknown) };
  }
  const kept = Object.keys(fields).some((half) => same(fields[half] ?? null, present.fields[half] ?? null));
  const deletes = typeof present.fields.id === 'string' && kept;
  const from = deletes ? { id: null } : carried(present.fields, ['id', 'txt_content', 'html_content']);
  const patch = {
    operation: 'updateTemplate',
    params,
    body: { ...fields, type, backend_id },
    confirm: { from },
  } as const;
  return {
    requests: deletes ? [{ operation: 'deleteTemplate', params }, patch] : [patch],
    expected: fields,
  };
}

/**
 * A customised template that shows itself as a built-in one was deleted to be written anew, and that came no further;
 * a half that was sent along as it was, beside one that is as asked now, and is otherwise, fell back to the built-in
 * text. One with another id was written anew: by the update as a whole, or by somebody.
 */
function lostTemplate({ before, asked, now }: Traces): Fields {
  if (typeof before.id !== 'string') return {};
  const halves = Object.fromEntries(
    ['txt_content', 'html_content'].flatMap((half) =>
      typeof before[half] === 'string' || before[half] instanceof Sensitive ? [[half, before[half]]] : [],
    ),
  );
  if (now.id === null) return { id: before.id, ...halves };
  if (now.id !== undefined && now.id !== before.id) return {};
  const wished = Object.entries(asked).filter(([field, sent]) => !same(sent, before[field] ?? null));
  if (wished.length > 0 && !wished.some(([field, sent]) => same(sent, now[field] ?? null))) return {};
  const fallen = Object.fromEntries(
    Object.entries(halves).filter(([half, was = null]) => {
      const sent = asked[half];
      return (
        sent !== undefined && same(sent, was) && now[half] !== undefined && !same(now[half] ?? null, was)
      );
    }),
  );
  return Object.keys(fallen).length === 0 ? {} : { id: before.id, ...fallen };
}

function deletion(identity: Identity, fields: Fields, profile: Profile): Verdict {
  const { backend_id = '', type = '' } = identity;
  return {
    action: 'delete',
    fields: deletedBodies(fields, profile),
    requests: [{ operation: 'deleteTemplate', params: { backend_id, template_type: type } }],
    destructions: ['deletes the template'],
  };
}

/** What becomes of the bodies of a template that is deleted. */
function deletedBodies(fields: Fields, { name }: Profile): FieldChange[] {
  return ['txt_content', 'html_content']
    .filter((field) => typeof fields[field] === 'string')
    .map((path) => ({
      path,
      type: 'body',
      before: fields[path],
      after: null,
      sensitive: false,
      becomes: traits[name].allBuiltIn ? 'built-in' : 'gone',
    }));
}

async function showTemplate(identity: Identity, { reader, limit }: ObserveContext): Promise<Live> {
  const { backend_id = '', type = '' } = identity;
  const template = await limit(() => reader.showTemplate(backend_id, type));
  return template === null
    ? { exists: false, identity, fields: {} }
    : { exists: true, identity, fields: { ...template } };
}

/** Of each backend the types that are asked for, or those that are known, of servers of this API or of this one. */
async function find(context: DiscoverContext): Promise<Discovered> {
  const { asked, known } = context;
  const { backend: wanted = [], type: types = [] } = asked;
  const named = known.filter(({ kind }) => kind === 'EmailTemplate').map(({ identity }) => identity);
  const backends = wanted.length > 0 ? wanted : await backendsOf(context, named);
  const identities = [...new Set(backends)].sort().flatMap((backend_id) => {
    const own = named.flatMap((one) => (one.backend_id === backend_id ? [one.type ?? ''] : []));
    return [...new Set(types.length > 0 ? types : [...knownTypes, ...own])]
      .sort(compareText)
      .map((type) => ({ backend_id, type }));
  });
  const found = await allSettled(
    identities.map(async (identity): Promise<Finding[]> => {
      const live = await showTemplate(identity, context);
      if (!live.exists) return [];
      const remark = live.fields.id === null ? { remark: 'the built-in text' } : {};
      return [{ identity, called: null, ...remark, live }];
    }),
  );
  const unnamed =
    'no backend is known, so no email template can be found: name the backends with --backend ID';
  if (backends.length > 0) return { found: found.flat(), notes: [] };
  return { found: [], notes: [unnamed], unasked: 'no backend is known, so that no template was asked for' };
}

/** The list of backends of a profile's server; undefined where it has none. */
export function backendList({ name }: Profile): ExtraRead | undefined {
  return traits[name].backends?.own;
}

async function backendsOf({ rows, profile }: DiscoverContext, named: readonly Identity[]): Promise<string[]> {
  const known = named.flatMap(({ backend_id }) => backend_id ?? []);
  const { backends } = traits[profile.name];
  if (backends === undefined) return known;
  const own = await rows('backends', backends.own, pages.backend);
  const shown = own ?? (await rows('users', backends.ofUsers, pages.user)) ?? [];
  const ids = shown.map((row) => {
    if (own !== null) return row.id;
    return isMap(row.backend) ? row.backend.id : undefined;
  });
  return [...known, ...ids.flatMap((id) => (typeof id === 'string' ? [id] : []))];
}
