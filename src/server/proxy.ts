import { parseUrl } from '../base/parse-url.js';
import { error, type Problem } from '../base/problems.js';
import { Sensitive } from '../base/values.js';
import { isLoopback } from './base-url.js';

export interface ProxyServer {
  /** Scheme, host and port, without credentials. */
  readonly origin: string;
  /** The process variable that names it. */
  readonly variable: string;
  /** The value of `Proxy-Authorization`. */
  readonly authorization: Sensitive | null;
}

type ProcessVariables = { readonly [name: string]: string | undefined };

/**
 * The proxy for an address: `https_proxy` or `http_proxy` by its scheme, unless `no_proxy` names its host. Lower case takes
 * precedence, as in curl. Never for loopback addresses, which may be plain http. Returns a problem `bad-proxy` for an unusable address.
 */
export function proxyFor(origin: string, variables: ProcessVariables): ProxyServer | Problem | null {
  const { protocol, hostname, port } = new URL(origin);
  if (isLoopback(hostname)) return null;
  const [name, usualPort] = protocol === 'https:' ? ['https_proxy', '443'] : ['http_proxy', '80'];
  const found = setting(variables, name);
  if (found === undefined || isExempt(hostname, port || usualPort, variables)) return null;
  return readProxy(found.value, found.name);
}

export function isProblem(found: ProxyServer | Problem | null): found is Problem {
  return found !== null && 'severity' in found;
}

function setting(variables: ProcessVariables, name: string): { name: string; value: string } | undefined {
  for (const spelling of [name, name.toUpperCase()]) {
    const value = Object.hasOwn(variables, spelling) ? variables[spelling]?.trim() : undefined;
    if (value) return { name: spelling, value };
  }
  return undefined;
}

/** Whether `no_proxy` names a host, its domain, or `*`; an entry with a port is only for that port. */
function isExempt(host: string, port: string, variables: ProcessVariables): boolean {
  const entries = (setting(variables, 'no_proxy')?.value ?? '').toLowerCase().split(/[\s,]+/);
  const name = host.replace(/^\[|\]$|\.$/g, '');
  return entries.filter(Boolean).some((entry) => {
    if (entry === '*') return true;
    const { address, only } = /^(?<address>\[.+\]|[^:]+):(?<only>\d+)$/.exec(entry)?.groups ?? {};
    if (only !== undefined && only !== port) return false;
    const domain = (address ?? entry).replace(/^\[|\]$/g, '').replace(/^\*?\./, '');
    return name === domain || name.endsWith(`.${domain}`);
  });
}

/** Parses a proxy address. Problems never quote the text, which may contain a password. */
function readProxy(text: string, variable: string): ProxyServer | Problem {
  const badProxy = (why: string): Problem =>
    error('bad-proxy', `the proxy in ${variable} ${why}`, [], 'write it as http://proxy.example.com:3128');
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = parseUrl(address);
  if (url === undefined || url.hostname === '') return badProxy('is not an address');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return badProxy('is neither http nor https');
  let authorization: Sensitive | null = null;
  try {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    if (pair !== ':') authorization = new Sensitive(`Basic ${Buffer.from(pair).toString('base64')}`);
  } catch {
    return badProxy('has a user name or a password with invalid percent-encoding');
  }
  return { origin: url.origin, variable, authorization };
}
