import type { Answer } from './http.js';
import { isObject, type JsonObject } from './json.js';
import type { SandboxOptions } from './options.js';

// The document leaves their content open, so no field in them is unknown.
const openFields = new Set([
  ...['metadata', 'federated_metadata', 'password_hashing_opts', 'key_pair_type', 'metadata_fields'],
  ...['federated_servers', 'verifiable_credentials', 'verifiable_presentations', 'errors'],
]);

/** Omits or adds fields in an answer, if its body is an object. */
export function shapeAnswer(answer: Answer, options: SandboxOptions): Answer {
  if (!isObject(answer.body)) return answer;
  let body: JsonObject = answer.body;
  if (options.omitOptionalFields && answer.status < 300)
    body = { data: Array.isArray(body.data) ? body.data.map(() => ({})) : {} };
  if (options.addUnknownFields) body = addUnknown(body);
  return { ...answer, body };
}

function addUnknown(object: JsonObject): JsonObject {
  const grown: JsonObject = {};
  for (const [name, value] of Object.entries(object))
    grown[name] = openFields.has(name) ? value : growValue(value);
  grown.x_sandbox_unknown = { list: [1, null, { deep: true }], text: 'not in any document' };
  return grown;
}

function growValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(growValue);
  return isObject(value) ? addUnknown(value) : value;
}
