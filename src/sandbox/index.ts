export type {
  SandboxBackend,
  SandboxClient,
  SandboxData,
  SandboxKeyPair,
  SandboxMembership,
  SandboxOrganization,
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
