export type {
  SandboxBackend,
  SandboxClient,
  SandboxData,
  SandboxErrorTemplate,
  SandboxIdentityProvider,
  SandboxKeyPair,
  SandboxMembership,
  SandboxOrganization,
  SandboxPageTemplate,
  SandboxRole,
  SandboxScope,
  SandboxSeed,
  SandboxTemplate,
  SandboxUser,
} from './data.js';
export type { JsonObject } from './json.js';
export type {
  Intercept,
  Sandbox,
  SandboxFaults,
  SandboxOptions,
  SandboxProfile,
  SandboxRequest,
  SandboxRequestLog,
  Scope,
} from './options.js';
export { startSandbox } from './server.js';
