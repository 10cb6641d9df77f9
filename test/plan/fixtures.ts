import type { Fields } from '../../src/base/values.js';
import { Catalog } from '../../src/kinds/catalog.js';
import type { Declared, Identity, KindName, Live } from '../../src/kinds/kind.js';
import { compare, type Recorded } from '../../src/plan/compare.js';
import type { Change } from '../../src/plan/plan.js';
import { type Profile, profiles } from '../../src/server/profiles.js';

function profileOf(name: string): Profile {
  const found = profiles[name];
  if (found === undefined) throw new Error(`there is no profile ${name}`);
  return found;
}

export const documented: Profile = profileOf('documented');
export const boruta: Profile = profileOf('boruta');

const place = { file: 'manifests/all.yaml', line: 3, column: 1, length: 4 };

/** A document as the loader returns it; `parts` replaces members. */
export function declared(
  kind: KindName,
  identity: Identity,
  fields: Fields = {},
  parts: Partial<Declared> = {},
): Declared {
  const places = { line: { file: place.file, line: place.line }, of: () => place, within: () => place };
  return { kind, identity, fields, absent: false, whole: [], ignored: [], places, ...parts };
}

/** An object as observed on the server. */
export function live(identity: Identity, fields: Fields, parts: Partial<Live> = {}): Live {
  return { exists: true, identity, fields, ...parts };
}

/** An object as recorded in the state. */
export function recorded(fields: Fields, parts: Partial<Recorded> = {}): Recorded {
  return {
    fields,
    uncertain: new Set(),
    at: '2026-01-31T12:00:00Z',
    run: 'run-0',
    matchesDeleteResponse: () => false,
    ...parts,
  };
}

export interface Known {
  readonly live?: Live;
  readonly recorded?: Recorded;
  readonly organizations?: Catalog;
  readonly scopes?: Catalog | null;
  readonly roles?: Catalog | null;
  readonly profile?: Profile;
  readonly assert?: boolean;
}

/** The change for one document, compared with what is known. */
export function changeFor(document: Declared, known: Known = {}): Change {
  const address = `${document.kind}/${Object.values(document.identity).join('/')}`;
  return compare({
    declared: document,
    live: known.live,
    recorded: known.recorded,
    references: known,
    profile: known.profile ?? documented,
    assert: known.assert ?? false,
    address,
    key: address,
  });
}

export const organizations = new Catalog(
  [
    { id: '1', name: 'acme', label: 'ACME' },
    { id: '2', name: 'globex', label: null },
    { id: '3', name: 'initech', label: 'Initech' },
  ],
  { noun: 'organization' },
);
