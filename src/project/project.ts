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

/** How to find a project and its environment. */
export interface ProjectOptions {
  /** The current folder. */
  readonly cwd: string;
  /** The process's environment variables. */
  readonly variables: { readonly [name: string]: string | undefined };
  /** `--config`; otherwise `IDOPS_CONFIG`, otherwise `idops.yaml` in the folder or in one above it in its git work tree. */
  readonly config?: string;
  /** False to look for `idops.yaml` only in the folder. */
  readonly above?: boolean;
  /** `--env`; otherwise `IDOPS_ENV`, otherwise none. */
  readonly env?: string;
  /** `--token-file`, relative to `cwd`, which no manifest may read. */
  readonly tokenFile?: string | undefined;
}

/** The options that override the `server` section. */
export interface ServerOverrides {
  /** `--base-url`; otherwise `IDOPS_BASE_URL`, otherwise `server.base_url`. */
  readonly baseUrl?: string;
  /** `--token-file`, relative to the current folder; otherwise `IDOPS_TOKEN`, otherwise `server.auth`. */
  readonly tokenFile?: string;
  /** Whether the configuration may neither run a program for credentials nor ask another origin for them. */
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
      /** Null for those that the manifests need. */
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
  /** The proxy, by the process variables. */
  readonly proxy: ProxyServer | null;
  /** Whether plain http to another machine is allowed. */
  readonly allowInsecureHttp: boolean;
  /** Every secret in these settings. */
  readonly secrets: readonly Sensitive[];
}

/** A glob of manifests. A default one has no place, and may match nothing. */
export interface Pattern {
  readonly pattern: string;
  readonly place: Place | null;
}

/**
 * A configuration with a checked shape. Values are resolved on demand, since variables that aren't needed may be unset. Each
 * function throws a ProblemsError with every problem.
 */
export interface Project {
  /** The configuration's folder, absolute, with links resolved. */
  readonly root: string;
  /** The configuration, relative to the current folder. */
  readonly file: string;
  /** The current folder, to which shown paths are relative. */
  readonly cwd: string;
  /** The chosen environment. */
  readonly environment: string | null;
  /** The names of all environments. */
  readonly environments: readonly string[];
  /** The profile; `documented` if it depends on a process variable. */
  readonly profile: Profile;
  /** The server of the environment. Throws a ProblemsError for wrong settings or a missing credential. */
  server(overrides?: ServerOverrides): Promise<ServerSettings>;
  /** Where the state is kept. */
  state(): StateSettings;
  /** Problems of the sections without a server, whether they are used now or not; an unset variable is a warning. */
  settingsProblems(): readonly Problem[];
  /** Problems of literal addresses and of references in the `server` section of any environment. */
  addressProblems(): readonly Problem[];
  /** Environments with different servers that share one state. */
  sharedStateProblems(): Promise<readonly Problem[]>;
  /** `safety.max_destructive`. */
  maxDestructive(): number;
  /** The severities of findings in email bodies. */
  checks(): ChecksSettings;
  /** `limits.body_characters`, for all body files together. */
  bodyCharacters(): number;
  /** The globs of the manifests. */
  patterns(): readonly Pattern[];
  /** The globs of each environment. */
  everyGlobs(): readonly (readonly string[])[];
  /** What no manifest may read. */
  guarded(): Guarded;
  /** A new resolver of `${...}` in manifests; a lenient one accepts an unset allowed process variable. */
  variables(options: { readonly lenient: boolean }): Variables;
}
