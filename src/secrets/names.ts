import { distance } from 'fastest-levenshtein';

/*
 * Which names mean a secret, in kinds, manifests, answers and quoted lines of files. A value that is secret because of its
 * origin, such as a process variable, is a `Sensitive` instead.
 */

/** The fields of the API that are always secret. */
export const secretFields = ['ldap_master_password', 'smtp_password'] as const;

export type SecretField = (typeof secretFields)[number];

export function isSecretField(name: string): boolean {
  return (secretFields as readonly string[]).includes(name);
}

const secretMembers: ReadonlySet<string> = new Set([
  ...secretFields,
  'secret',
  'client_secret',
  'access_token',
  'refresh_token',
  'id_token',
]);

/** Whether a member of a server's answer is a secret. */
export function isSecretMember(name: string): boolean {
  return secretMembers.has(name);
}

const words = ['password', 'secret', 'token', 'credential'];
const abbreviations = new Set([
  ...['pass', 'pwd', 'pw', 'passwd', 'passphrase', 'pin', 'pins'],
  ...['senha', 'heslo', 'haslo', 'jelszo'],
  // Other credentials.
  ...['bearer', 'mnemonic'],
]);
/** Words for password in other languages, folded. */
const foreignWords = [
  ...['kennwort', 'contrasena', 'wachtwoord', 'losenord', 'adgangskode', 'salasana'],
  ...['пароль', '密码', '密碼', 'パスワード', '비밀번호'].map(fold),
];
const secretKeys: readonly RegExp[] = [
  // Not a public key.
  /(?:api|private|access|signing|encryption|ssh)[^a-z0-9]{0,3}keys?(?![a-z])/,
  // A second factor, but not the time at which it was set up.
  /(?:^|[^a-z])[th]?otp(?:[^a-z0-9]{0,3}(?:seed|key|code|ur[il])s?)?$/,
  /(?:recovery|backup|scratch|reset)[^a-z0-9]{0,3}(?:codes?|keys?|phrases?)(?![a-z])/,
  /seed[^a-z0-9]{0,3}phrase/,
  /session[^a-z0-9]{0,3}(?:id|key)s?(?![a-z])/,
  /mots?[^a-z0-9]{0,3}de[^a-z0-9]{0,3}passe/,
  /^authorization$|(?:^|[^a-z])cookies?$/,
];

/** A character of a key; a lone surrogate counts. */
export const keyCharacter = /[\p{L}\p{M}\p{N}\p{Cs}_.-]/u;

/** Keys of the API that look secret and are not. */
const plainKeys: ReadonlySet<string> = new Set(['credential_identifier', 'token_path']);

const cache = new Map<string, boolean>();

/** Whether a key, perhaps mistyped, looks like the key of a secret. */
export function looksSecret(key: string): boolean {
  if (plainKeys.has(key)) return false;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const answer = resemblesSecret(fold(key));
  if (cache.size < 10_000) cache.set(key, answer);
  return answer;
}

/** Whether a key, or any key within its value, looks like the key of a secret. */
export function holdsSecretKey(key: string, value: unknown): boolean {
  if (looksSecret(key)) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => holdsSecretKey(name, member));
}

/** The part of a key that may be shown. If a colon is missing, the parsed key may include a secret: this is cut off. */
export function shownKey(key: string): string {
  if (!/[\s:=]/.test(key)) return key;
  const word = new RegExp(`(?:${keyCharacter.source})+`, 'gu');
  const head = key.slice(0, 300);
  for (let match = word.exec(head); match !== null; match = word.exec(head)) {
    if (/^["']?[\s:=]+\S/.test(head.slice(word.lastIndex)) && looksSecret(match[0]))
      return key.slice(0, word.lastIndex);
  }
  return key;
}

/** Letters that Unicode normalization leaves as they are. */
const plainLetters: { readonly [letter: string]: string } = { ł: 'l', ø: 'o', đ: 'd', ı: 'i', ß: 'ss' };

/** A name without accents, upper case and wide forms. */
function fold(name: string): string {
  const bare = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return bare.replace(/[łøđıß]/g, (letter) => plainLetters[letter] ?? letter);
}

function resemblesSecret(name: string): boolean {
  if ([...words, ...foreignWords].some((word) => name.includes(word))) return true;
  if (secretKeys.some((pattern) => pattern.test(name))) return true;
  if (name.length > 100) return false;
  if (secretFields.some((field) => distance(name, field) <= 3)) return true;
  return name
    .split(/[^a-z0-9]+/)
    .some(
      (part) =>
        abbreviations.has(part) || words.some((word) => distance(part, word) <= (word === 'token' ? 1 : 2)),
    );
}

/** A bearer token at the end of a text. */
const trailingBearer = /(?:^|[\s:="'])bearer\s+[\w.~+/=-]+\s*["']?$/i;
const credentials: readonly RegExp[] = [
  // Certificates and public keys are public.
  /-----BEGIN (?!(?:[A-Z0-9]+ )*(?:CERTIFICATE|CERTIFICATE REQUEST|PUBLIC KEY)-----)/,
  /-----BEGIN\s*$/m,
  trailingBearer,
  // A JSON Web Token.
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
  // Tokens with a well-known prefix.
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[oprsu]_\w{36}|\bglpat-[\w-]{20}|\bxox[abeprs]-[\w-]{10}|\b[rs]k_live_\w{16}/,
  // A URL with a password.
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{1,256}:[^\s/@]{1,256}@/i,
];

/** Whether a text looks like a credential, regardless of its key. */
export function looksLikeCredential(text: string): boolean {
  return credentials.some((pattern) => pattern.test(text));
}

/** Requires a long word with digits, which prose has not after `Bearer`. */
const bearerInProse = /(?:^|[\s:="'])bearer\s+(?=[\w.~+/=-]*\d)[\w.~+/=-]{16,}/i;

/** Whether a text for people, such as a label or an email, contains a credential. */
export function holdsCredential(text: string): boolean {
  return (
    bearerInProse.test(text) ||
    credentials.some((pattern) => pattern !== trailingBearer && pattern.test(text))
  );
}
