import { distance } from 'fastest-levenshtein';

/*
 * Which names stand for a secret, and nobody else knows it: kinds, manifests, answers and what is shown of a file ask
 * here. What is secret because of where it came from, such as a process variable, is told by the value itself.
 */

/** The fields of the API that are secrets, whatever their source. */
export const secretFields = ['ldap_master_password', 'smtp_password'] as const;

export type SecretField = (typeof secretFields)[number];

const secretFieldNames: ReadonlySet<string> = new Set(secretFields);

/** Whether a field of the API is a secret, whatever its source. */
export function isSecretField(name: string): boolean {
  return secretFieldNames.has(name);
}

const secretMembers: ReadonlySet<string> = new Set([
  ...secretFields,
  'secret',
  'client_secret',
  'access_token',
  'refresh_token',
  'id_token',
]);

/** Whether a server's answer may hold a member that nothing may show: a secret field, a token, what others sign in with. */
export function isSecretMember(name: string): boolean {
  return secretMembers.has(name);
}

const words = ['password', 'secret', 'token', 'credential'];
const abbreviations = new Set(['pass', 'pwd', 'pw', 'passwd', 'passphrase', 'pin']);
/** The keys that let somebody in, however their words are joined; a public one is none. */
const secretKey = /(?:api|private|access|signing|encryption|ssh)[^a-z0-9]{0,3}keys?(?![a-z])/;

const memo = new Map<string, boolean>();

/** Whether a key that a person wrote looks as if its value were a secret, also where the key is mistyped. */
export function looksSecret(key: string): boolean {
  const known = memo.get(key);
  if (known !== undefined) return known;
  const answer = resemblesSecret(key.toLowerCase());
  if (memo.size < 10_000) memo.set(key, answer);
  return answer;
}

function resemblesSecret(name: string): boolean {
  if (words.some((word) => name.includes(word)) || secretKey.test(name)) return true;
  if (name.length > 100) return false;
  if (secretFields.some((field) => distance(name, field) <= 3)) return true;
  return name
    .split(/[^a-z0-9]+/)
    .some(
      (part) =>
        abbreviations.has(part) || words.some((word) => distance(part, word) <= (word === 'token' ? 1 : 2)),
    );
}

const credentials: readonly RegExp[] = [
  // A certificate and a public key are for everybody.
  /-----BEGIN (?!(?:[A-Z0-9]+ )*(?:CERTIFICATE|CERTIFICATE REQUEST|PUBLIC KEY)-----)/,
  /-----BEGIN\s*$/m,
  /(?:^|[\s:="'])bearer\s+[\w.~+/=-]+\s*["']?$/i,
  // A JSON Web Token.
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
  // What services give out so that it is found by its beginning.
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[oprsu]_\w{36}|\bglpat-[\w-]{20}|\bxox[abeprs]-[\w-]{10}|\b[rs]k_live_\w{16}/,
  // An address with a password in it.
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{1,256}:[^\s/@]{1,256}@/i,
];

/** Whether a text looks as if it signed somebody in, whatever the key that it stands under. */
export function looksLikeCredential(text: string): boolean {
  return credentials.some((pattern) => pattern.test(text));
}
