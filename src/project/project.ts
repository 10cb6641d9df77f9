import type { Place, Problem } from '../base/problems.js';
import type { Sensitive } from '../base/values.js';
import type { ChecksSettings } from '../mail/settings.js';
import type { BaseUrl } from '../server/base-url.js';
import type { TlsSettings } from '../server/connections.js';
import type { Profile } from '../server/profiles.js';
import type { ProxyServer } from '../server/proxy.js';
import type { TokenCommand } from '../server/token-command.js';
import type { Variables } from '../yaml/variables.js';
import type { Guarded } from './guarded.js';
import type { StateSettings } from './state.js';

/** Where a project is, and which of its environments is meant. */
export interface ProjectOptions {
  /** The folder that idops was started in. */
  readonly cwd: string;
  /** The process's environment variables. */
  readonly variables: { readonly [name: string]: string | undefined };
  /** `--config`; otherwise `IDOPS_CONFIG`, otherwise `idops.yaml` in the folder, or in one above it in the same git work tree. */
  readonly config?: string;
  /** False where `idops.yaml` is looked for in the folder alone. */
  readonly above?: boolean;
  /** `--env`; otherwise `IDOPS_ENV`, otherwise none. */
  readonly env?: string;
  /** `--token-file`, relative to `cwd`: no manifest may get at it, whether a server is asked or not. */
  readonly tokenFile?: string | undefined;
}

/** The options that stand above the `server` section. */
export interface ServerOverrides {
  /** `--base-url`; otherwise `IDOPS_BASE_URL`, otherwise `server.base_url`. */
  readonly baseUrl?: string;
  /** `--token-file`, relative to the folder that idops was started in; otherwise `IDOPS_TOKEN`, otherwise `server.auth`. */
  readonly tokenFile?: string;
  /** Whether the configuration may neither have a program run for credentials, nor ask another origin than the address's for them. */
  readonly pinned?: boolean;
}

/** How idops proves who it is, checked as far as that can be done without asking anybody. */
export type AuthSettings =
  | { readonly way: 'token'; readonly token: Sensitive }
  | {
      readonly way: 'token_file';
      readonly path: string;
      /** As a person would type it. */
      readonly shown: string;
    }
  | ({ readonly way: 'token_command' } & TokenCommand)
  | {
      readonly way: 'client_credentials';
      readonly address: BaseUrl;
      readonly proxy: ProxyServer | null;
      readonly clientId: string;
      readonly clientSecret: Sensitive;
      /** Null for those that are needed. */
      readonly scopes: readonly string[] | null;
    }
  | { readonly way: 'header'; readonly name: string; readonly value: Sensitive };

/** The server to speak to, checked. */
export interface ServerSettings {
  /** An http or https address without credentials, query, fragment or a slash at its end. */
  readonly baseUrl: string;
  /** The same address, taken apart. */
  readonly address: BaseUrl;
  /** What the server is taken for. */
  readonly profile: Profile;
  /** Whether the configuration names the profile; otherwise it is the default, which may not fit. */
  readonly profileWritten: boolean;
  /** Whether nothing is asked to make sure that the profile fits before the first write. */
  readonly profileTrusted: boolean;
  /** How idops proves who it is. */
  readonly auth: AuthSettings;
  /** Whom to trust, and the certificate of this side. */
  readonly tls: TlsSettings;
  /** The proxy on the way to the server, by the process variables. */
  readonly proxy: ProxyServer | null;
  /** Whether plain http may go to another machine. */
  readonly allowInsecureHttp: boolean;
  /** What must not be shown: everything secret that these settings hold. */
  readonly secrets: readonly Sensitive[];
}

/** The manifests' globs, with the place of each; a default one may match nothing without a word. */
export interface Pattern {
  readonly pattern: string;
  readonly place: Place | null;
}

/**
 * A configuration after checking its shape. What it says is resolved where it is asked for, since a variable
 * that nobody needs may be unset. Each function throws a ProblemsError with everything it found.
 */
export interface Project {
  /** The configuration's folder, absolute, links followed. */
  readonly root: string;
  /** The configuration as a person would type it. */
  readonly file: string;
  /** The folder that shown paths are relative to. */
  readonly cwd: string;
  /** The chosen environment. */
  readonly environment: string | null;
  /** Those that there are. */
  readonly environments: readonly string[];
  /** The profile as far as it can be had without process variables; `documented` otherwise. */
  readonly profile: Profile;
  /** The server to speak to. */
  server(overrides?: ServerOverrides): Promise<ServerSettings>;
  /** Where the state is kept. */
  state(): StateSettings;
  /**
   * What is wrong with the sections that no server needs, whether they are used now or not; a variable that isn't set is a
   * warning, and what it would give isn't checked.
   */
  settingsProblems(): readonly Problem[];
  /**
   * What is wrong with the addresses that stand in plain words in any environment, and with how a server's section writes
   * its references, whether a server is used now or not.
   */
  addressProblems(): readonly Problem[];
  /** Environments with different servers that share one state, whichever is chosen. */
  sharedStateProblems(): Promise<readonly Problem[]>;
  /** `safety.max_destructive`: how many destructive changes may be applied. */
  maxDestructive(): number;
  /** What is made of findings in email bodies. */
  checks(): ChecksSettings;
  /** `limits.body_characters`: how many characters all body files may have together. */
  bodyCharacters(): number;
  /** The globs that name the manifests. */
  patterns(): readonly Pattern[];
  /** The globs that the configuration has for each environment, whichever is chosen. */
  everyGlobs(): readonly (readonly string[])[];
  /** What no manifest may get at. */
  guarded(): Guarded;
  /** A fresh resolver of `${...}` in manifests; a lenient one takes an allowed process variable that isn't set. */
  variables(options: { readonly lenient: boolean }): Variables;
}
