import { createRedactor, type Redactor } from './redact.js';

/** A redactor that can forget: what goes on for ever gets to know new tokens for ever. */
export interface ForgetfulRedactor extends Redactor {
  /** Forgets what it got to know, but not what it has always known. */
  forget(): void;
}

/** A redactor that always knows some tokens, and others until it forgets them. */
export function forgetfulRedactor(always: readonly string[]): ForgetfulRedactor {
  const afresh = (): Redactor => {
    const redactor = createRedactor();
    for (const token of always) redactor.add(token);
    return redactor;
  };
  let now = afresh();
  return {
    add: (secret, kind) => now.add(secret, kind),
    redact: (text) => now.redact(text),
    redactKey: (text) => now.redactKey(text),
    redactName: (text) => now.redactName(text),
    redactFile: (text) => now.redactFile(text),
    redactSentence: (text) => now.redactSentence(text),
    redactEcho: (text) => now.redactEcho(text),
    holds: (text) => now.holds(text),
    forget: () => {
      now = afresh();
    },
  };
}
