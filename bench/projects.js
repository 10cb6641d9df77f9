// Projects and the data of their servers, reproducible.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const perFile = 1000;
const nothing = {
  users: [],
  organizations: [],
  backends: [],
  templates: [],
  keyPairs: [],
  clients: [],
  scopes: [],
  roles: [],
};

/** An id whose first digit identifies the kind. */
export const idOf = (kind, number) =>
  `${kind}${number.toString(16).padStart(7, '0')}-0000-4000-8000-000000000001`;

/** Writes files, by paths relative to the folder. */
export function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** The configuration, with URL and token from variables. */
export const config = (profile) =>
  `version: 1\nserver:\n  profile: ${profile}\n  trust_profile: true\n  base_url: \${IDOPS_BASE_URL:-http://127.0.0.1:9}\n`;

/** Manifests of up to a thousand documents each. */
export function manifests(documents) {
  const files = {};
  for (let at = 0; at < documents.length; at += perFile) {
    const name = `manifests/${String(at / perFile).padStart(4, '0')}.yaml`;
    files[name] = documents.slice(at, at + perFile).join('---\n');
  }
  return files;
}

const range = (length, make) => Array.from({ length }, (_, index) => make(index));

/** Organizations, of which `changed` are declared with a new label. */
export function organizations(number, changed) {
  const all = range(number, (index) => ({
    id: idOf(1, index),
    name: `organization-${String(index).padStart(6, '0')}`,
    label: `Organization ${index}`,
  }));
  const every = changed === 0 ? Number.POSITIVE_INFINITY : Math.floor(number / changed);
  const documents = all.map(
    ({ name, label }, index) =>
      `kind: Organization\nname: ${name}\nlabel: ${index % every === 0 && index / every < changed ? newLabel(label) : label}\n`,
  );
  return {
    files: { 'idops.yaml': config('documented'), ...manifests(documents) },
    seed: { ...nothing, organizations: all },
  };
}

/** The new label of a changed organization. */
export const newLabel = (label) => `${label}, renamed`;

const scopes = [
  { id: idOf(7, 1), name: 'profile', label: 'Profile', public: false },
  { id: idOf(7, 2), name: 'orders:read', label: 'Read orders', public: false },
];
const viewer = { id: idOf(8, 1), name: 'viewer', scopes: [] };
const backend = {
  id: idOf(2, 1),
  name: 'Accounts',
  type: 'Elixir.BorutaIdentity.Accounts.Internal',
  is_default: true,
  roles: [],
};

/** Users on the server. The first can also be written under `documented`, in which roles are unknown. */
export function users(number, profile) {
  const roles = profile === 'boruta' ? [viewer] : [];
  const all = range(number, (index) => ({
    id: idOf(4, index),
    uid: `user-${index}`,
    username: `user-${index}@example.com`,
    totp_registered_at: null,
    metadata: metadataOf(index),
    federated_metadata: {},
    blocked: false,
    group: 'staff',
    authorized_scopes: scopes,
    organizations: [{ id: idOf(1, 0), roles: [] }],
    roles,
    backend_id: backend.id,
  }));
  const documents = range(number, (index) => userDocument(index, profile));
  const acme = { id: idOf(1, 0), name: 'acme', label: 'ACME' };
  return {
    files: { 'idops.yaml': config(profile), ...manifests(documents) },
    seed: { ...nothing, organizations: [acme], users: all, backends: [backend], scopes, roles: [viewer] },
  };
}

const metadataOf = (index) => ({
  department: { value: 'engineering', status: 'valid' },
  employee_id: { value: `E${index}`, status: 'valid' },
});

function userDocument(index, profile) {
  return `kind: User
id: ${idOf(4, index)}
group: staff
metadata:
  department: {value: engineering, status: valid}
  employee_id:
    value: "E${index}"
    status: valid
authorized_scopes:
  - {id: ${scopes[0].id}, name: profile, label: Profile}
  - {id: ${scopes[1].id}, name: "orders:read", label: Read orders}
${profile === 'boruta' ? `roles:\n  - {id: ${viewer.id}, name: viewer}\n` : ''}organizations: [acme]
`;
}

/** Email templates, each of its own backend, with live and declared bodies. Equal declarations share files. */
export function templates(pairs) {
  const files = { 'idops.yaml': config('documented') };
  const documents = [];
  const [backends, stored] = [[], []];
  const names = new Map();
  for (const [index, { live, declared }] of pairs.entries()) {
    const backendId = idOf(2, index);
    backends.push({ ...backend, id: backendId });
    stored.push({ id: idOf(3, index), backend_id: backendId, type: 'tx_code', ...live });
    const name = names.get(declared) ?? index;
    names.set(declared, name);
    files[`emails/${name}.txt`] = declared.txt_content;
    files[`emails/${name}.html`] = declared.html_content;
    documents.push(
      `kind: EmailTemplate\nbackend_id: ${backendId}\ntype: tx_code\ntxt_content: {file: ../emails/${name}.txt}\nhtml_content: {file: ../emails/${name}.html}\n`,
    );
  }
  return { files: { ...files, ...manifests(documents) }, seed: { ...nothing, backends, templates: stored } };
}

/** The text and the HTML of an email with about the given number of bytes in total, and a unique word. */
export function email(bytes, word) {
  const txt_content = `Hello {{ user.username }},\n\ngo on at {{ action_url }} with {{ tx_code }}\n\nyours, ${word}\n`;
  const [head, tail] = [
    '<!DOCTYPE html><html><head><meta charset="utf-8"></head><body><table>\n',
    `</table><p>${word} {{ tx_code }}</p></body></html>\n`,
  ];
  let rows = '';
  for (let number = 0; txt_content.length + head.length + rows.length + tail.length < bytes; number += 1) {
    rows += `<tr><td style="font-family:Arial;font-size:13px;color:#55575d">Paragraph ${number}, ${word}, for {{ user.username }}, with <a href="{{ action_url }}" style="color:#586ee0">a link</a></td></tr>\n`;
  }
  return { txt_content, html_content: head + rows + tail };
}
