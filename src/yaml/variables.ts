import { error, type Place, type Problem, warning } from '../base/problems.js';
import { ExactNumber } from '../base/values.js';
import { looksSecret } from '../secrets/names.js';
import { BadVariable, parseVariables, type Reference, type VariableText } from './interpolation.js';
import type { SourceFile } from './source-file.js';
import type { Path, ScalarNode } from './tree.js';

/** A scalar after interpolation. */
export interface ResolvedText {
  readonly text: string;
  /** Whether any part came from a process variable. */
  readonly tainted: boolean;
  /** Whether any part is unknown, so that `text` is meaningless. */
  readonly unknown: boolean;
}

/** The sources of variables. */
export interface VariableSources {
  /** `vars` of the configuration, in `file`. */
  readonly vars: ReadonlyMap<string, ScalarNode>;
  readonly file: SourceFile;
  /** `allow_env` of the configuration. */
  readonly allowed: ReadonlySet<string>;
  readonly process: { readonly [name: string]: string | undefined };
  /** The process variables that only credentials may use. */
  readonly credentials?: ReadonlySet<string>;
  /** A hint for a variable that only another environment sets. */
  readonly otherEnvironmentHint?: (name: string) => string | undefined;
}

const MAX_TEXT = 16 * 1024 * 1024;
const MAX_CHAIN = 100;

const unknownText: ResolvedText = { text: '', tainted: false, unknown: true };

/** Resolves `${...}`: first from `vars`, then from the allowed process variables. Values of the latter must never be shown. */
export class Variables {
  readonly #sources: VariableSources;
  readonly #lenient: boolean;
  readonly #resolved = new Map<string, ResolvedText>();
  readonly #resolving: string[] = [];
  readonly #used = new Map<string, string>();
  #problems: Problem[] = [];
  readonly #reported = new Set<string>();

  constructor(sources: VariableSources, options: { readonly lenient: boolean }) {
    this.#sources = sources;
    this.#lenient = options.lenient;
  }

  /** The process variables that were used, by name. */
  get used(): ReadonlyMap<string, string> {
    return this.#used;
  }

  /** The problems since the last call. */
  takeProblems(): readonly Problem[] {
    const problems = this.#problems;
    this.#problems = [];
    return problems;
  }

  /** Interpolates a scalar that contains `$`; `takeProblems` returns the problems. */
  resolve(text: string, node: ScalarNode, file: SourceFile, path: Path = []): ResolvedText {
    const context: ScalarContext = { node, file, path };
    let template: VariableText;
    try {
      template = parseVariables(text);
    } catch (failure) {
      if (!(failure instanceof BadVariable)) throw failure;
      this.#report(
        error(
          'bad-variable',
          failure.message,
          [placeOf(failure.source, context)],
          text.includes('${{')
            ? 'only a workflow knows ${{ … }}: set a process variable there, and write ${NAME} here'
            : `write \${NAME}${isSecret('', context) ? '' : ', ${NAME:-default}'} or \${NAME:?message}; a "$$" is a plain "$"`,
        ),
      );
      return unknownText;
    }
    return this.#fill(template, context);
  }

  #fill(template: VariableText, context: ScalarContext): ResolvedText {
    let text = '';
    let tainted = false;
    let unknown = false;
    for (const part of template) {
      if (typeof part === 'string') text += part;
      else {
        const value = this.#resolveReference(part, context);
        text += value.text;
        tainted ||= value.tainted;
        unknown ||= value.unknown;
        if (text.length > MAX_TEXT) {
          this.#report(
            error('too-large', 'the text with its variables is larger than 16 MiB', [placeOf('', context)]),
          );
          return unknownText;
        }
      }
    }
    return { text, tainted, unknown };
  }

  #resolveReference(reference: Reference, context: ScalarContext): ResolvedText {
    const { name } = reference;
    if (this.#sources.credentials?.has(name)) {
      this.#report(
        error(
          'credential-variable',
          `the variable ${name} is a credential of the server, which manifests may not use`,
          [placeOf(reference.source, context)],
          'use another variable in manifests',
        ),
      );
      return { ...unknownText, tainted: true };
    }
    const node = this.#sources.vars.get(name);
    if (node !== undefined) {
      const value = this.#resolveVar(name, node);
      if (value.unknown || value.text !== '') return value;
      if (reference.fallback !== undefined) return this.#fill(reference.fallback, context);
      return reference.message === undefined ? value : this.#unresolved(reference, context, 'is empty');
    }
    const value = Object.hasOwn(this.#sources.process, name) ? this.#sources.process[name] : undefined;
    const allowed = name.startsWith('IDOPS_') || this.#sources.allowed.has(name);
    if (!allowed && value !== undefined) {
      this.#report(
        error(
          'env-not-allowed',
          `the process variable ${name} may not be used here`,
          [placeOf(reference.source, context)],
          `add ${name} to allow_env in the configuration, or to vars`,
        ),
      );
      return { ...unknownText, tainted: true };
    }
    if (value !== undefined && value !== '') {
      this.#used.set(name, value);
      return { text: value, tainted: true, unknown: false };
    }
    if (reference.fallback !== undefined) return this.#fill(reference.fallback, context);
    if (!allowed || !this.#lenient) {
      return this.#unresolved(
        reference,
        context,
        value === '' ? 'is empty' : allowed ? 'is not set' : undefined,
      );
    }
    this.#report(
      warning('unset-variable', `the process variable ${name} is not set, so its value is not checked`, [
        placeOf(reference.source, context),
      ]),
    );
    return { ...unknownText, tainted: true };
  }

  /** Resolves a member of `vars` once; its problems are reported once, at its place. */
  #resolveVar(name: string, node: ScalarNode): ResolvedText {
    const known = this.#resolved.get(name);
    if (known !== undefined) return known;
    const { file } = this.#sources;
    if (this.#resolving.includes(name)) {
      const circle = [...this.#resolving.slice(this.#resolving.indexOf(name)), name].join(' -> ');
      this.#report(
        error(
          'variable-cycle',
          `these vars refer to each other: ${circle}`,
          [file.place(node.range)],
          'replace one of the references by its value',
        ),
      );
      return unknownText;
    }
    if (this.#resolving.length >= MAX_CHAIN) {
      this.#report(error('too-deep', `a chain of more than ${MAX_CHAIN} vars`, [file.place(node.range)]));
      return unknownText;
    }
    this.#resolving.push(name);
    const isNumber = typeof node.value === 'number' || node.value instanceof ExactNumber;
    const text = isNumber && node.source !== '' ? node.source : String(node.value ?? '');
    const value = text.includes('$')
      ? this.resolve(text, node, file, [name])
      : { text, tainted: false, unknown: node.value === null };
    this.#resolving.pop();
    this.#resolved.set(name, value);
    return value;
  }

  #unresolved(reference: Reference, context: ScalarContext, state: string | undefined): ResolvedText {
    const { name, message } = reference;
    // The hint suggests no default for a secret, since a file would contain it.
    const inEnvironment = 'set it in the environment, in CI from a secret';
    const advice =
      this.#sources.otherEnvironmentHint?.(name) ??
      (state === undefined
        ? isSecret(name, context)
          ? `rename it to IDOPS_${name}, or add it to allow_env in the configuration, and ${inEnvironment}`
          : 'add it to vars in the configuration, or to allow_env and set it'
        : (variableHints.get(name) ??
          (isSecret(name, context) ? inEnvironment : `set it, or write \${${name}:-default}`)));
    const text =
      message !== undefined && message !== ''
        ? `variable ${name}: ${message}`
        : `variable ${name} ${state ?? 'is neither in vars nor an allowed process variable'}`;
    this.#report(error('unresolved-variable', text, [placeOf(reference.source, context)], advice));
    return { ...unknownText, tainted: state !== undefined };
  }

  /** Reports a problem once, even if aliases repeat the scalar. */
  #report(problem: Problem): void {
    const [place] = problem.places;
    const key = `${problem.code}\0${problem.message}\0${place?.file}\0${place?.line}\0${place?.column}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#problems.push(problem);
  }
}

/** Hints for the variables that each new configuration uses. */
const variableHints: ReadonlyMap<string, string> = new Map([
  ['IDOPS_BASE_URL', 'set it to the address of your server; idops sandbox runs one to practise on'],
  ['IDOPS_TOKEN', 'set it to a bearer token of your server; idops sandbox runs one to practise on'],
]);

/** Whether the value of a variable is a secret, by its name and the keys above it. */
function isSecret(name: string, { path }: ScalarContext): boolean {
  return (
    looksSecret(name) ||
    path.some((step) => typeof step === 'string' && (step === 'auth' || looksSecret(step)))
  );
}

interface ScalarContext {
  readonly node: ScalarNode;
  readonly file: SourceFile;
  /** The path of the scalar. */
  readonly path: Path;
}

/** The place of a reference in its scalar; the place of the scalar if the source isn't found, for example because it is escaped. */
function placeOf(written: string, { node, file }: ScalarContext): Place {
  const at = written === '' ? -1 : file.text.indexOf(written, node.range.start);
  if (at === -1 || at >= node.range.end) return file.place(node.range);
  return file.place({ start: at, end: at + written.length });
}
