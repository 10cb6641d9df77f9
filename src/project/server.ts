import { createPrivateKey } from 'node:crypto';
import { resolve as resolvePath } from 'node:path';
import type { z } from 'zod';
import { checkCertificates, isKeyOf } from '../base/certificates.js';
import { error, type Place, type Problem, type ProblemCode, refuse } from '../base/problems.js';
import { Sensitive, withoutUndefined } from '../base/values.js';
import { type BaseUrl, checkBaseUrl, isBaseUrl } from '../server/base-url.js';
import type { TlsSettings } from '../server/connections.js';
import { headerFault, tokenProblem } from '../server/credentials.js';
import { type Profile, profiles } from '../server/profiles.js';
import { isProblem, type ProxyServer, proxyFor } from '../server/proxy.js';
import type { TokenCommand } from '../server/token-command.js';
import type { Checked } from '../yaml/check.js';
import { valueAt } from '../yaml/coerce.js';
import { resolve as resolveAll } from '../yaml/resolve.js';
import { decode, readBytes, type SourceFile, shownPath } from '../yaml/source-file.js';
import { find } from '../yaml/tree.js';
import type { serverSchema } from './config.js';
import type { ProjectOptions } from './find-config.js';
import type { EnvironmentConfig } from './layers.js';

type ServerSection = z.infer<typeof serverSchema>;
type Auth = NonNullable<ServerSection['auth']>;

/** The options that override the `server` section. */
export interface ServerOverrides {
  /** `--base-url`; otherwise `IDOPS_BASE_URL`, otherwise `server.base_url`. */
  readonly baseUrl?: string | undefined;
  /** `--token-file`, relative to the current folder; otherwise `IDOPS_TOKEN`, otherwise `server.auth`. */
  readonly tokenFile?: string | undefined;
  /** If true, the configuration may not run a program for credentials, or request them from another origin. */
  readonly pinned?: boolean;
}

/** How idops authenticates, checked as far as possible without requests. */
export type AuthSettings =
  | { readonly way: 'token'; readonly token: Sensitive }
  | {
      readonly way: 'token_file';
      readonly path: string;
      /** Relative to the current folder. */
      readonly shown: string;
    }
  | ({ readonly way: 'token_command' } & TokenCommand)
  | {
      readonly way: 'client_credentials';
      readonly address: BaseUrl;
      readonly proxy: ProxyServer | null;
      readonly clientId: string;
      readonly clientSecret: Sensitive;
      /** Null for the scopes that the manifests need. */
      readonly scopes: readonly string[] | null;
    }
  | { readonly way: 'header'; readonly name: string; readonly value: Sensitive };

/** The checked settings of the server. */
export interface ServerSettings {
  /** An http or https URL without credentials, query, fragment or trailing slash. */
  readonly baseUrl: string;
  /** The same URL, parsed. */
  readonly address: BaseUrl;
  /** The profile of the server. */
  readonly profile: Profile;
  /** Whether the configuration names the profile; otherwise it is the default. */
  readonly profileWritten: boolean;
  /** Whether to skip the check that the profile fits, before the first write. */
  readonly profileTrusted: boolean;
  /** The way to authenticate. */
  readonly auth: AuthSettings;
  /** Trusted authorities, and the client certificate. */
  readonly tls: TlsSettings;
  /** The proxy that the process variables set. */
  readonly proxy: ProxyServer | null;
  /** Whether plain http to another machine is allowed. */
  readonly allowInsecureHttp: boolean;
  /** Every secret in these settings. */
  readonly secrets: readonly Sensitive[];
}

/** The inputs of a ServerSettingsBuilder. */
interface ServerSources {
  /** The resolved section, without the members that `given` overrides. */
  readonly section: Pick<Checked<ServerSection>, 'data' | 'problems' | 'notes'>;
  /** Options and process variables, which override the section. */
  readonly given: {
    readonly baseUrl: string | undefined;
    /** IDOPS_BASE_URL, if the chosen environment has its own base URL, which the variable must not replace. */
    readonly ignoredBaseUrl: string | undefined;
    readonly tokenFile: string | undefined;
    readonly token: string | undefined;
    /** Whether credentials must come from these options or from the server itself. */
    readonly pinned: boolean;
  };
  readonly environment: string | null;
  /** A hint for a member that only environments set, if no environment is chosen. */
  readonly inEnvironments: (member: string) => string | undefined;
  readonly variables: ProjectOptions['variables'];
  readonly cwd: string;
  readonly root: string;
  /** The place of the section's key, if any. */
  readonly sectionPlaces: readonly Place[];
  /** The place of a member of the section. */
  readonly place: (...path: string[]) => readonly Place[];
}

const DEFAULT_PROFILE = 'documented';

/** Assembles and checks the settings. */
export class ServerSettingsBuilder {
  readonly #sources: ServerSources;
  readonly #server: ServerSection;
  readonly #problems: Problem[];
  readonly #secrets: string[] = [];

  constructor(sources: ServerSources) {
    this.#sources = sources;
    this.#server = sources.section.data ?? {};
    this.#problems = [...sources.section.problems];
  }

  /** Throws a ProblemsError with every problem. */
  build(): ServerSettings {
    const { given, place } = this.#sources;
    const server = this.#server;
    const address = this.#baseUrl();
    const auth = this.#auth();
    if (given.pinned && address !== undefined && auth !== undefined) this.#checkPinned(address, auth);
    if (server.trust_profile === true && server.profile === undefined) {
      const hint = 'add the profile, or remove trust_profile';
      this.#addError('wrong-value', 'trust_profile is set without a profile', place('trust_profile'), hint);
    }
    const tls = this.#tls();
    const proxy = address === undefined ? null : this.#proxy(address);
    this.#collectVariableSecrets();
    refuse(this.#problems);
    const profile = profiles[server.profile ?? DEFAULT_PROFILE];
    if (profile === undefined || address === undefined || auth === undefined) {
      throw new Error('settings without a problem and without a value');
    }
    return {
      baseUrl: address.href,
      address,
      profile,
      profileWritten: server.profile !== undefined,
      profileTrusted: profile.name !== DEFAULT_PROFILE || server.trust_profile === true,
      auth,
      tls,
      proxy,
      allowInsecureHttp: this.#allowsInsecureHttp,
      secrets: this.#secrets.filter((secret) => secret !== '').map((secret) => new Sensitive(secret)),
    };
  }

  get #allowsInsecureHttp(): boolean {
    return this.#server.allow_insecure_http ?? false;
  }

  #addError(...problem: Parameters<typeof error>): void {
    this.#problems.push(error(...problem));
  }

  #baseUrl(): BaseUrl | undefined {
    const { given, place } = this.#sources;
    const text = given.baseUrl ?? this.#server.base_url;
    if (text === undefined) {
      const usual = 'add server.base_url to the configuration, or give --base-url or IDOPS_BASE_URL';
      this.#addMissing('the address of the server', 'base_url', usual);
      return undefined;
    }
    const places = given.baseUrl === undefined ? place('base_url') : [];
    const address = this.#address(text, 'the base URL', places);
    if (address !== undefined && given.ignoredBaseUrl !== undefined)
      this.#checkSameAddress(address, given.ignoredBaseUrl, places);
    return address;
  }

  /** A leftover variable must not send the changes of one environment to the server of another. */
  #checkSameAddress(address: BaseUrl, ignored: string, places: readonly Place[]): void {
    const other = checkBaseUrl(ignored, { what: 'IDOPS_BASE_URL', places: [], allowInsecureHttp: true });
    if (isBaseUrl(other) && other.href === address.href) return;
    this.#addError(
      'other-address',
      `IDOPS_BASE_URL names ${isBaseUrl(other) ? other.href : 'something else'}, and environment ${this.#sources.environment} is at ${address.href}`,
      places,
      'unset IDOPS_BASE_URL, or give --base-url, which replaces the address of an environment',
    );
  }

  #address(text: string, what: string, places: readonly Place[]): BaseUrl | undefined {
    const checked = checkBaseUrl(text, { what, places, allowInsecureHttp: this.#allowsInsecureHttp });
    if (isBaseUrl(checked)) return checked;
    this.#problems.push(checked);
    return undefined;
  }

  #proxy({ origin }: BaseUrl): ProxyServer | null {
    const proxy = proxyFor(origin, this.#sources.variables);
    if (isProblem(proxy)) {
      this.#problems.push(proxy);
      return null;
    }
    if (proxy?.authorization != null) {
      const encoded = String(proxy.authorization.reveal()).replace(/^Basic /, '');
      const pair = Buffer.from(encoded, 'base64').toString();
      this.#secrets.push(encoded, pair.slice(pair.indexOf(':') + 1));
    }
    return proxy;
  }

  #addMissing(what: string, member: string, usual: string): void {
    // A section with problems may have the member, but in an invalid form.
    if (this.#sources.section.problems.length > 0) return;
    const hint = this.#sources.inEnvironments(member) ?? usual;
    this.#addError('missing-field', `${what} is not known`, this.#sources.sectionPlaces, hint);
  }

  #auth(): AuthSettings | undefined {
    const { given, cwd, root, place } = this.#sources;
    const { auth } = this.#server;
    if (given.tokenFile !== undefined) return this.#tokenFile(resolvePath(cwd, given.tokenFile), []);
    if (given.token !== undefined) return this.#token(given.token, 'IDOPS_TOKEN', []);
    if (auth?.token !== undefined)
      return this.#token(auth.token, 'server.auth.token', place('auth', 'token'));
    if (auth?.token_file !== undefined) {
      return this.#tokenFile(resolvePath(root, auth.token_file), place('auth', 'token_file'));
    }
    if (auth?.token_command !== undefined) {
      return {
        way: 'token_command',
        argv: auth.token_command,
        cwd: root,
        variables: this.#passedVariables(auth),
      };
    }
    if (auth?.client_credentials !== undefined) return this.#clientCredentials(auth.client_credentials);
    if (auth?.header !== undefined) return this.#header(auth.header);
    const usual = 'add server.auth to the configuration, or give --token-file or IDOPS_TOKEN';
    this.#addMissing('how to authenticate', 'auth', usual);
    return undefined;
  }

  /** Credentials must not leave a pinned address, whatever way to authenticate the configuration has. */
  #checkPinned({ origin }: BaseUrl, auth: AuthSettings): void {
    const elsewhere =
      auth.way === 'token_command'
        ? 'would run a program for a token'
        : auth.way === 'client_credentials' && auth.address.origin !== origin
          ? `would ask ${auth.address.origin} for a token`
          : undefined;
    if (elsewhere === undefined) return;
    this.#addError(
      'auth-elsewhere',
      `"server.auth" ${elsewhere}, and base-url, which is an input, pins credentials to ${origin}`,
      this.#sources.place('auth', auth.way),
      'add the input token, which overrides server.auth',
    );
  }

  /** The variables of `pass_env` that are set. */
  #passedVariables({ pass_env: names = [] }: Auth): { readonly [name: string]: string } {
    const { variables } = this.#sources;
    return Object.fromEntries(
      names.flatMap((name): [string, string][] => {
        const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
        return value === undefined ? [] : [[name, value]];
      }),
    );
  }

  #token(text: string, what: string, places: readonly Place[]): AuthSettings {
    const token = text.trim();
    const wrong = tokenProblem(token, what, places);
    if (wrong !== null) this.#problems.push(wrong);
    this.#secrets.push(token);
    return { way: 'token', token: new Sensitive(token) };
  }

  /** The file is read again when it is used; it is checked now to report problems early. */
  #tokenFile(path: string, places: readonly Place[]): AuthSettings {
    const shown = shownPath(path, this.#sources.cwd);
    const what = `the token file ${shown}`;
    const hint = 'check --token-file and server.auth.token_file';
    const text = this.#read(path, what, 'token-unreadable', places, hint);
    if (text !== undefined) this.#token(text, what, places);
    return { way: 'token_file', path, shown };
  }

  #clientCredentials({
    token_url,
    client_id,
    client_secret,
    scopes,
  }: NonNullable<Auth['client_credentials']>): AuthSettings | undefined {
    const places = this.#sources.place('auth', 'client_credentials', 'token_url');
    const address = this.#address(token_url, 'the token address', places);
    this.#secrets.push(client_secret);
    if (address === undefined) return undefined;
    return {
      way: 'client_credentials',
      address,
      proxy: this.#proxy(address),
      clientId: client_id,
      clientSecret: new Sensitive(client_secret),
      scopes: scopes ?? null,
    };
  }

  #header({ name, value }: NonNullable<Auth['header']>): AuthSettings {
    const wrong = headerFault(name, value);
    if (wrong !== null) {
      const { part, why } = wrong;
      this.#addError(
        'bad-header',
        `"auth.header.${part}" ${why}`,
        this.#sources.place('auth', 'header', part),
      );
    }
    // A scheme may precede the secret.
    this.#secrets.push(value, value.slice(value.indexOf(' ') + 1));
    return { way: 'header', name, value: new Sensitive(value) };
  }

  #tls(): TlsSettings {
    const { tls = {} } = this.#server;
    const { place } = this.#sources;
    const ca = this.#pem('ca_file', checkCertificates);
    const cert = this.#pem('client_cert_file', checkCertificates);
    const key = this.#pem('client_key_file', createPrivateKey);
    const names = ['client_cert_file', 'client_key_file'] as const;
    const [present, ...more] = names.filter((name) => tls[name] !== undefined);
    if (present !== undefined && more.length === 0) {
      const missing = names.find((name) => name !== present);
      this.#addError(
        'bad-certificate',
        `"tls.${present}" also needs "tls.${missing}"`,
        place('tls', present),
      );
    } else if (cert !== undefined && key !== undefined && !isKeyOf(cert, key)) {
      const message = '"tls.client_key_file" is not the key of the client certificate';
      this.#addError('bad-certificate', message, place('tls', 'client_key_file'));
    }
    if (key !== undefined) this.#secrets.push(key);
    return withoutUndefined({
      ca,
      clientCert: cert,
      clientKey: key === undefined ? undefined : new Sensitive(key),
    });
  }

  #pem(member: keyof NonNullable<ServerSection['tls']>, parse: (pem: string) => unknown): string | undefined {
    const { root, cwd, place } = this.#sources;
    const file = this.#server.tls?.[member];
    if (file === undefined) return undefined;
    const path = resolvePath(root, file);
    const places = place('tls', member);
    const shown = shownPath(path, cwd);
    const hint = 'the path is relative to the configuration';
    const pem = this.#read(path, `the file ${shown} of tls.${member}`, 'bad-certificate', places, hint);
    if (pem === undefined) return undefined;
    try {
      parse(pem);
      return pem;
    } catch {
      // The parser's message may contain a part of a key.
      const what = member === 'client_key_file' ? 'a private key without a passphrase' : 'certificates';
      this.#addError('bad-certificate', `${shown} does not contain ${what} in PEM form`, places);
      return undefined;
    }
  }

  #read(
    path: string,
    what: string,
    code: ProblemCode,
    places: readonly Place[],
    hint: string,
  ): string | undefined {
    const bytes = readBytes(path);
    const text = bytes instanceof Uint8Array ? decode(bytes) : bytes;
    if (typeof text === 'string') return text.replace(/^\uFEFF/, '');
    this.#addError(code, `${what} ${text.detail}`, places, hint);
    return undefined;
  }

  /** Collects the values of process variables in credentials, including arguments of a command. */
  #collectVariableSecrets(): void {
    const { data, notes } = this.#sources.section;
    for (const { path, tainted } of notes.values()) {
      if (!tainted || path[0] !== 'auth' || path.includes('token_url') || path.includes('client_id'))
        continue;
      const value = valueAt(data, path);
      if (typeof value === 'string') this.#secrets.push(value);
    }
  }
}

type LiteralCheck = (text: string, places: readonly Place[], allowInsecureHttp: boolean) => Problem | null;

const addressCheck =
  (what: string): LiteralCheck =>
  (text, places, allowInsecureHttp) => {
    const checked = checkBaseUrl(text, { allowInsecureHttp, what, places });
    return isBaseUrl(checked) ? null : checked;
  };

const literals: readonly { readonly path: readonly string[]; readonly wrong: LiteralCheck }[] = [
  { path: ['base_url'], wrong: addressCheck('the base URL') },
  { path: ['auth', 'client_credentials', 'token_url'], wrong: addressCheck('the token address') },
  {
    path: ['auth', 'token'],
    wrong: (text, places) => tokenProblem(text.trim(), 'server.auth.token', places),
  },
];

/**
 * Problems of the `server` section of any environment that are known without process variables: invalid references, such as an unclosed
 * one, and invalid literal addresses and tokens.
 */
export function literalProblems(layers: readonly EnvironmentConfig[], file: SourceFile): Problem[] {
  const found = new Map<string, Problem>();
  for (const { config, variables, resolve } of layers) {
    const section = find(config, ['server']);
    if (!section.complete) continue;
    resolveAll(section.node, file, variables, ['server']);
    for (const problem of variables.takeProblems()) {
      const [place] = problem.places;
      if (problem.code === 'bad-variable') found.set(`${place?.line}:${place?.column}`, problem);
    }
    const allows = find(section.node, ['allow_insecure_http']);
    // The value of a variable is unknown here, and may be true.
    const allowInsecureHttp = allows.complete && allows.node.type === 'scalar' && allows.node.value !== false;
    for (const { path, wrong } of literals) {
      const { node, complete } = find(section.node, path);
      if (!complete || node.type !== 'scalar') continue;
      const { text, tainted, unknown } = resolve(node);
      const problem = tainted || unknown ? null : wrong(text, [file.place(node.range)], allowInsecureHttp);
      if (problem !== null) found.set(`${problem.code} ${node.range.start}`, problem);
    }
  }
  return [...found.values()];
}
