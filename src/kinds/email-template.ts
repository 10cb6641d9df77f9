import { nullish, optional } from '../base/members.js';
import { error, type Problem } from '../base/problems.js';
import { compareText, type Fields, filterValues, lazy, same } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import { idOf } from './by-name.js';
import type { PlanWarning } from './change.js';
import { observeEach } from './discovery.js';
import { body, isBlank, sendableFields, textOf, value } from './fields.js';
import type {
  Declared,
  Deletion,
  DiscoverContext,
  DiscoveryResult,
  Identity,
  InterruptedUpdate,
  Kind,
  Live,
  ObserveContext,
  PlanInput,
  Update,
} from './kind.js';
import { absentProblems } from './lifecycle.js';
import { ownedBy, ownerProblems } from './owned.js';
import { listRead, unlisted } from './references.js';
import { fieldsToSend, profileProblems, unknownFieldsReason } from './rules.js';
import { document, identifier, ignorable, noFieldsIfAbsent, state, text, UUID } from './schema.js';
import { decideTemplate, findTemplates, shownTemplate, templateDeletion } from './template.js';
import type { ProfileTraits, Traits } from './traits.js';

interface TemplateTraits extends Traits {
  /** Whether an update resets a body that it omits or doesn't change to the built-in text. */
  readonly resetsBodies: boolean;
  /** Whether every backend has a built-in text of every type. If so, a 404 means that the backend or the type doesn't exist. */
  readonly allBuiltIn: boolean;
}

const knownTypes = ['confirmation_instructions', 'reset_password_instructions', 'tx_code'];

const BUILT_IN = 'to go back to the built-in text, declare "state: absent"';

const traits: ProfileTraits<TemplateTraits> = {
  documented: { resetsBodies: false, allBuiltIn: false },
  boruta: {
    resetsBodies: true,
    allBuiltIn: true,
    resetUnlessSent: ['txt_content', 'html_content'],
    // A rewritten template gets a new id.
    ignored: ['id'],
    limits: {
      identity: { type: { known: knownTypes, otherwise: 'this server has no email template of this type' } },
      nonBlank: { txt_content: BUILT_IN, html_content: BUILT_IN },
    },
    signs: { null: ['id'], resets: true },
    unsafe: true,
  },
};

const bodyFields = ['txt_content', 'html_content'] as const;

const schema = lazy(() =>
  document(
    'EmailTemplate',
    'An email template of a backend, in Mustache.',
    {
      backend_id: optional(identifier(), 'The id of the backend whose template it is.', UUID),
      backend: optional(
        identifier(),
        'The name or id of the backend, instead of backend_id, if the profile lists backends.',
        'Staff directory',
      ),
      type: identifier().meta({
        description: 'The type of the email, as the server names it.',
        examples: knownTypes,
      }),
      id: optional(text(), 'The id of the template. The backend and the type identify it.', UUID),
      txt_content: nullish(text(), 'The body in plain text.', { file: 'emails/reset_password.txt' }),
      html_content: nullish(text(), 'The body in HTML.', { file: 'emails/reset_password.html' }),
      state: state('absent deletes the template, so the server uses its built-in text.'),
      ignored: ignorable(traits),
    },
    {
      ...noFieldsIfAbsent(['id', ...bodyFields]),
      oneOf: [{ required: ['backend_id'] }, { required: ['backend'] }],
    },
  ),
);

const owned = ownedBy('backends');

const paramsOf = ({ backend_id = '', type = '' }: Identity) => ({ backend_id, template_type: type });

const deletion: Deletion = {
  ...templateDeletion({
    noun: 'template',
    bodies: bodyFields,
    request: (identity) => ({ operation: 'deleteTemplate', params: paramsOf(identity) }),
    becomes: ({ name }) => (traits[name].allBuiltIn ? 'built-in' : 'gone'),
  }),
  prunedByDefault: true,
};

export const emailTemplate: Kind = {
  name: 'EmailTemplate',
  noun: 'email template',
  schema,
  identity: ['backend_id', 'backend', 'type'],
  ...owned.kind,
  fields: { id: value, txt_content: body, html_content: body },
  scope: 'identity-providers:manage:all',
  traits,
  check: (declared, profile) => [
    ...declared.flatMap((template) => ownerOrProfileProblems(template, profile)),
    ...declared.flatMap((template) => absentProblems(template, 'template')),
    ...declared.flatMap((template) => bodyFields.flatMap((field) => bodyProblem(template, field) ?? [])),
    // Blank bodies are reported above.
    ...profileProblems(declared.map(withUsableBodies), profile, traits),
  ],
  readable: () => true,
  email: { txt: 'txt_content', html: 'html_content', type: 'type' },
  deletion,
  observe: (objects, context) => observeEach(objects, (identity) => showTemplate(identity, context)),
  decide(input) {
    const verdict = decideTemplate(input, deletion);
    const { exists, identity } = input.present;
    // If every backend has every template, the declared backend or type is wrong.
    const isUnknown =
      exists === false && identity.backend_id !== undefined && traits[input.profile.name].allBuiltIn;
    return verdict && isUnknown
      ? { ...verdict, warnings: [{ code: 'not-there', message: notThere(identity, NOTHING_TO_DELETE) }] }
      : verdict;
  },
  update(input) {
    if (input.present.exists === false && traits[input.profile.name].allBuiltIn)
      return { requests: [], expected: {}, reason: notThere(input.present.identity, NOT_CREATED) };
    if (traits[input.profile.name].resetsBodies) return rewrite(input);
    const { present, desired } = input;
    const { backend_id = '', type = '' } = present.identity;
    const known = sendableFields(present.live, ['id', 'txt_content', 'html_content']);
    // A built-in template has no id, and null can't be sent as a body.
    const there = filterValues(known, (text) => text !== null);
    const template = { ...there, ...desired };
    return {
      requests: [
        {
          operation: 'updateTemplate',
          params: paramsOf(present.identity),
          body: { ...template, type, backend_id },
        },
      ],
      expected: template,
      ...(present.exists === false ? { warnings: [NOT_THERE] } : {}),
    };
  },
  lostFields: lostTemplate,
  discovery: {
    options: { backend: 'backend_id', type: 'type' },
    find,
    byName: owned.named,
    fields: ['txt_content', 'html_content'],
    files: { folder: 'emails', extensions: { txt_content: 'txt', html_content: 'html' } },
  },
};

function ownerOrProfileProblems(template: Declared, profile: Profile): Problem[] {
  const { backend_id, backend } = template.identity;
  if (backend === undefined || backend_id !== undefined || listRead('backends', profile) !== undefined)
    return ownerProblems(template, owned.kind.byName);
  return [unlisted(profile, 'a backend', template.places.of('backend'))];
}

const NOTHING_TO_DELETE = 'so there is nothing to delete; is backend_id right, and type?';
const NOT_CREATED = 'and no operation creates one; correct backend_id or type, or create the backend there';
const NOT_THERE: PlanWarning = {
  code: 'not-there',
  message: 'the server has no such email template; the update is sent anyway',
};

function notThere({ backend_id = '', type = '' }: Identity, next: string): string {
  return `the server answers 404 for it: it has no backend with the id ${backend_id}, or no email template of the type ${type}, ${next}`;
}

/** An update on a server that resets unchanged bodies: sends both if both change, otherwise deletes and rewrites the template. */
function rewrite({ present, desired, profile }: PlanInput): Update {
  const { backend_id = '', type = '' } = present.identity;
  const params = paramsOf(present.identity);
  const fields = fieldsToSend(desired, present.fields, traits[profile.name]);
  const reason = unknownFieldsReason('email template', bodyFields, fields);
  if (reason !== undefined) return { requests: [], expected: fields, reason };
  const kept = Object.keys(fields).some((field) =>
    same(fields[field] ?? null, present.fields[field] ?? null),
  );
  const deletes = typeof present.fields.id === 'string' && kept;
  const from = deletes ? { id: null } : sendableFields(present.fields, ['id', 'txt_content', 'html_content']);
  const patch = {
    operation: 'updateTemplate',
    params,
    body: { ...fields, type, backend_id },
    confirm: { from },
  } as const;
  return { requests: deletes ? [{ operation: 'deleteTemplate', params }, patch] : [patch], expected: fields };
}

/**
 * What an interrupted update removed: the whole template if it was deleted and not rewritten, or a body that was sent unchanged and
 * reset to the built-in text. A template with another id was rewritten, by this update or by someone else.
 */
function lostTemplate({ before, asked, now }: InterruptedUpdate): Fields {
  if (typeof before.id !== 'string') return {};
  const bodies = deletion.fieldsToRestore(before);
  if (now.id === null) return { id: before.id, ...bodies };
  if (now.id !== undefined && now.id !== before.id) return {};
  const wished = Object.entries(asked).filter(([field, sent]) => !same(sent, before[field] ?? null));
  if (wished.length > 0 && !wished.some(([field, sent]) => same(sent, now[field] ?? null))) return {};
  const fallen = filterValues(bodies, (was, field) => {
    const { [field]: sent } = asked;
    const { [field]: shown } = now;
    return sent !== undefined && same(sent, was) && shown !== undefined && !same(shown, was);
  });
  return Object.keys(fallen).length === 0 ? {} : { id: before.id, ...fallen };
}

async function showTemplate(identity: Identity, { reader, limit }: ObserveContext): Promise<Live> {
  const { backend_id, type = '' } = identity;
  // Without an id, the backend was named and doesn't exist any more.
  const isOwned = backend_id !== undefined;
  return shownTemplate(identity, isOwned ? await limit(() => reader.showTemplate(backend_id, type)) : null);
}

/** Finds templates of each backend: of the types that options name, otherwise of all known types. */
async function find(context: DiscoverContext): Promise<DiscoveryResult> {
  const { filters, known } = context;
  const { backend: wanted = [], type: types = [] } = filters;
  const named = known.filter(({ kind }) => kind === 'EmailTemplate').map(({ identity }) => identity);
  const backends = wanted.length > 0 ? wanted : await backendsOf(context, named);
  const identities = [...new Set(backends)].sort().flatMap((backend_id) => {
    const own = named.flatMap((one) => (one.backend_id === backend_id ? [one.type ?? ''] : []));
    return [...new Set(types.length > 0 ? types : [...knownTypes, ...own])]
      .sort(compareText)
      .map((type) => ({ backend_id, type }));
  });
  const show = (identity: Identity) => showTemplate(identity, context);
  const unnamed = 'no backend is known, so no email template can be found: name backends with --backend ID';
  if (backends.length > 0)
    return { found: await findTemplates(identities, show, 'the built-in text'), notes: [] };
  return { found: [], notes: [unnamed], skipped: 'no backend is known, so no template was read' };
}

async function backendsOf({ list, profile }: DiscoverContext, named: readonly Identity[]): Promise<string[]> {
  const known = named.flatMap(({ backend_id }) => backend_id ?? []);
  if (listRead('backends', profile) === undefined) return known;
  const own = await list('backends');
  // Users show their backends.
  const shown = own ?? (await list('users'));
  const ids = [...(shown?.all() ?? [])].map((row) => (own === null ? idOf(row.backend) : row.id));
  return [...known, ...ids.flatMap((id) => (typeof id === 'string' ? [id] : []))];
}

/** The problem of a blank body. Servers refuse it, some only after they removed the former body. */
function bodyProblem(template: Declared, field: string): Problem | undefined {
  const text = textOf(template.fields[field]);
  if (text === '' || !isBlank(text)) return undefined;
  const message = `"${field}" is only white space, which can't be the body of an email`;
  const hint = 'write the text, or declare "state: absent" to delete the template';
  return error('body-blank', message, [template.places.of(field)], hint);
}

/** A template without blank bodies. */
function withUsableBodies(template: Declared): Declared {
  const fields = filterValues(template.fields, (_, field) => bodyProblem(template, field) === undefined);
  return { ...template, fields };
}
