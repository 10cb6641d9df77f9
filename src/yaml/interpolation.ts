/** A parsed text with `${...}`. */
export type VariableText = readonly (string | Reference)[];

export interface Reference {
  readonly name: string;
  /** The source of the reference, which finds its place. */
  readonly source: string;
  /** `${NAME:-fallback}` */
  readonly fallback?: VariableText;
  /** `${NAME:?message}` */
  readonly message?: string;
}

/** Thrown if `${` is invalid. */
export class BadVariable extends Error {
  readonly source: string;

  constructor(message: string, written: string) {
    super(message);
    this.source = written;
  }
}

const MAX_NESTING = 50;

/** Parses a text like Compose: `${NAME}`, `${NAME:-fallback}`, `${NAME:?message}` and `$$`. */
export function parseVariables(text: string): VariableText {
  return new Scanner(text).template(false, 0);
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Parses to the end; inside a reference, to its closing brace. */
  template(inside: boolean, depth: number): VariableText {
    const parts: (string | Reference)[] = [];
    const stop = inside ? /[$}]/g : /\$/g;
    let literal = '';
    while (this.#at < this.#text.length) {
      stop.lastIndex = this.#at;
      const next = stop.exec(this.#text)?.index ?? this.#text.length;
      literal += this.#text.slice(this.#at, next);
      this.#at = next;
      if (next === this.#text.length) break;
      if (this.#text[next] === '}') break;
      const after = this.#text[next + 1];
      if (after === '{') {
        if (literal !== '') parts.push(literal);
        literal = '';
        parts.push(this.#reference(depth));
      } else {
        literal += '$';
        this.#at += after === '$' ? 2 : 1;
      }
    }
    if (literal !== '') parts.push(literal);
    return parts;
  }

  #reference(depth: number): Reference {
    const start = this.#at;
    if (depth > MAX_NESTING) throw this.#bad('defaults are nested too deeply', start);
    const name = /[A-Za-z_][A-Za-z0-9_]*/y;
    name.lastIndex = start + 2;
    const found = name.exec(this.#text)?.[0];
    if (found === undefined) throw this.#bad('"${" is not followed by a name', start);
    // Any other name may be part of a secret that contains "${".
    const shownName = /^[A-Z_][A-Z0-9_]*$/.test(found) ? found : '…';
    this.#at = start + 2 + found.length;
    if (this.#text[this.#at] === '}') {
      this.#at += 1;
      return { name: found, source: this.#text.slice(start, this.#at) };
    }
    const operator = this.#text.slice(this.#at, this.#at + 2);
    if (operator !== ':-' && operator !== ':?') {
      const end = this.#at >= this.#text.length;
      throw this.#bad(
        end ? `"\${${shownName}" is not closed by "}"` : `"\${${shownName}" is followed by something unknown`,
        start,
      );
    }
    this.#at += 2;
    const rest = this.#at;
    const inner = this.template(true, depth + 1);
    if (this.#text[this.#at] !== '}') throw this.#bad(`"\${${shownName}" is not closed by "}"`, start);
    const message = this.#text.slice(rest, this.#at);
    this.#at += 1;
    const source = this.#text.slice(start, this.#at);
    return operator === ':-' ? { name: found, source, fallback: inner } : { name: found, source, message };
  }

  #bad(message: string, start: number): BadVariable {
    return new BadVariable(message, this.#text.slice(start, this.#at + 1).split('\n')[0] ?? '');
  }
}
