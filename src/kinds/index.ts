import { kindNames } from '../base/kind-names.js';
import { backend } from './backend.js';
import { client, didRegeneration } from './client.js';
import { emailTemplate } from './email-template.js';
import { identityProvider } from './identity-provider.js';
import { keyPair } from './key-pair.js';
import type { Declared, Email, Identity, Kind, KindName } from './kind.js';
import { organization } from './organization.js';
import { errorTemplate, pageTemplate } from './page-template.js';
import { role } from './role.js';
import { scope } from './scope.js';
import { user, userAccess } from './user.js';

const byName: { readonly [name in KindName]: Kind } = {
  Scope: scope,
  Role: role,
  Organization: organization,
  Backend: backend,
  IdentityProvider: identityProvider,
  User: user,
  KeyPair: keyPair,
  EmailTemplate: emailTemplate,
  PageTemplate: pageTemplate,
  ErrorTemplate: errorTemplate,
  Client: client,
};

/** Every kind, in the order in which changes are applied. */
export const kinds: readonly Kind[] = kindNames.map((name) => byName[name]);

export function kindOf(name: KindName): Kind {
  return byName[name];
}

/** The kind and the value that `idops regenerate-did` regenerates. */
export const regenerated = { kind: client, regeneration: didRegeneration };

/** The kind of the objects that have memberships, scopes and roles. */
export const accessKind = { kind: user, access: userAccess };

export function isKindName(name: string): name is KindName {
  return Object.hasOwn(byName, name);
}

/** Whether objects of a kind are addressed by a name from the server's list. */
export function isAddressedByName(kind: KindName): boolean {
  const { naming, byName } = kindOf(kind);
  return naming !== undefined && byName === undefined;
}

/** `KIND/ID`, or for a template `KIND/BACKEND/TYPE`. */
export function addressOf(kind: KindName, identity: Identity): string {
  return `${kind}/${kindOf(kind).addressPart(identity)}`;
}

/** The documents that declare an email or a page, with the names of their body fields. */
export function emailsIn(declared: readonly Declared[]) {
  return declared.flatMap((template) => {
    const { email } = kindOf(template.kind);
    return email === undefined || template.absent ? [] : [{ template, email }];
  });
}

/** The identity of the layout around a page; undefined if it has none. */
export function layoutOf({ page, type }: Email, identity: Identity): Identity | undefined {
  if (page?.layout === undefined || identity[type] === page.layout) return undefined;
  return { ...identity, [type]: page.layout };
}
