// The file operations of idops as events, so that a test can stop or kill at them.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { rename, link, rm, open } = fs.promises;
const handle = await open(new URL(import.meta.url));
const prototype = Object.getPrototypeOf(handle);
await handle.close();
const originals = {};
for (const name of ['appendFile', 'writeFile', 'datasync', 'sync']) originals[name] = prototype[name];

/** The two halves of a text, split between characters. */
function halves(text) {
  const whole = String(text);
  const middle = Math.floor(whole.length / 2);
  const at = /[\ud800-\udbff]/.test(whole.charAt(middle - 1)) ? middle - 1 : middle;
  return [whole.slice(0, at), whole.slice(at)];
}

/**
 * Passes each operation to a function that carries it out: `event(name, call, halves)`. `call` does all of it, `halves`
 * the first or second half of a write; undefined for other operations. Returns a function that restores the originals.
 * @param {(name: string, call: () => Promise<void>, halves?: { first(): Promise<void>, second(): Promise<void> }) => Promise<void>} event
 * @returns {() => void}
 */
export function onFileEvents(event) {
  for (const name of ['appendFile', 'writeFile']) {
    prototype[name] = function (text, ...rest) {
      const write = (part) => originals[name].call(this, part, ...rest);
      const [first, second] = halves(text);
      return event(name, () => write(text), { first: () => write(first), second: () => write(second) });
    };
  }
  for (const name of ['datasync', 'sync']) {
    prototype[name] = function () {
      return event(name, () => originals[name].call(this));
    };
  }
  for (const [name, original] of Object.entries({ rename, link, rm })) {
    fs.promises[name] = (...args) => event(name, () => original(...args));
  }
  syncBuiltinESMExports();
  return () => {
    Object.assign(prototype, originals);
    Object.assign(fs.promises, { rename, link, rm });
    syncBuiltinESMExports();
  };
}
