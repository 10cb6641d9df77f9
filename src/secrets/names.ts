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
const abbreviations = new Set([
  ...['pass', 'pwd', 'pw', 'passwd', 'passphrase', 'pin', 'pins'],
  ...['senha', 'heslo', 'haslo', 'jelszo'],
  // What signs somebody in besides.
  ...['bearer', 'mnemonic'],
]);
/** What others call a password, as it is folded, where it is far from that word. */
const foreign = [
  ...['kennwort', 'contrasena', 'wachtwoord', 'losenord', 'adgangskode', 'salasana'],
  ...['пароль', '密码', '密碼', 'パスワード', '비밀번호'].map(fold),
];
const secretKeys: readonly RegExp[] = [
  // The keys that let somebody in, however their words are joined; a public one is none.
  /(?:api|private|access|signing|encryption|ssh)[^a-z0-9]{0,3}keys?(?![a-z])/,
  // What stands in for a second factor; when one was set up is none.
  /(?:^|[^a-z])[th]?otp(?:[^a-z0-9]{0,3}(?:seed|key|code|ur[il])s?)?$/,
  /(?:recovery|backup|scratch|reset)[^a-z0-9]{0,3}(?:codes?|keys?|phrases?)(?![a-z])/,
  /seed[^a-z0-9]{0,3}phrase/,
  /session[^a-z0-9]{0,3}(?:id|key)s?(?![a-z])/,
  /mots?[^a-z0-9]{0,3}de[^a-z0-9]{0,3}passe/,
  /^authorization$|(?:^|[^a-z])cookies?$/,
];

/** What a key may have in it before its colon; half of a pair of surrogates counts for the whole. */
export const keyCharacter = /[\p{L}\p{M}\p{N}\p{Cs}_.-]/u;

const memo = new Map<string, boolean>();

/** Whether a key that a person wrote looks as if its value were a secret, also where the key is mistyped. */
export function looksSecret(key: string): boolean {
  const known = memo.get(key);
  if (known !== undefined) return known;
  const answer = resemblesSecret(fold(key));
  if (memo.size < 10_000) memo.set(key, answer);
  return answer;
}

/** Whether a key, or any key within its value, looks as if its value were a secret. */
export function holdsSecretKey(key: string, value: unknown): boolean {
  if (looksSecret(key)) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => holdsSecretKey(name, member));
}

/** What may be told of a key: no more than its name, where a value behind a name that looks secret lacks its colon. */
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

/** Letters with a stroke, which Unicode has for letters of their own. */
const strokes: { readonly [letter: string]: string } = { ł: 'l', ø: 'o', đ: 'd', ı: 'i', ß: 'ss' };

/** A name without what some write with its letters and others without: accents, capitals, wide forms. */
function fold(name: string): string {
  const bare = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return bare.replace(/[łøđıß]/g, (letter) => strokes[letter] ?? letter);
}

function resemblesSecret(name: string): boolean {
  if ([...words, ...foreign].some((word) => name.includes(word))) return true;
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

/** A text that ends so has nothing else to say. */
const loose = /(?:^|[\s:="'])bearer\s+[\w.~+/=-]+\s*["']?$/i;
const credentials: readonly RegExp[] = [
  // A certificate and a public key are for everybody.
  /-----BEGIN (?!(?:[A-Z0-9]+ )*(?:CERTIFICATE|CERTIFICATE REQUEST|PUBLIC KEY)-----)/,
  /-----BEGIN\s*$/m,
  loose,
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

/** What follows `Bearer` in prose is a word, and no long one with digits. */
const bearer = /(?:^|[\s:="'])bearer\s+(?=[\w.~+/=-]*\d)[\w.~+/=-]{16,}/i;

/** Whether a text that people read, such as a label or an email, has something in it that would sign somebody in. */
export function holdsCredential(text: string): boolean {
  return bearer.test(text) || credentials.some((pattern) => pattern !== loose && pattern.test(text));
}
