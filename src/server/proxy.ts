import { error, type Problem } from '../base/problems.js';
import { Sensitive } from '../base/values.js';
import { isLoopback } from './base-url.js';

/** A proxy that stands between this machine and an address. */
export interface ProxyServer {
  /** Scheme, host and port: what may be shown. */
  readonly origin: string;
  /** The process variable that names it. */
  readonly variable: string;
  /** What goes to the proxy, and to it alone, as `Proxy-Authorization`. */
  readonly authorization: Sensitive | null;
}

type ProcessVariables = { readonly [name: string]: string | undefined };

/**
 * The proxy for an address, by the usual process variables: `https_proxy` or `http_proxy` by its scheme, unless
 * `no_proxy` names its host. Small letters stand above capitals, as in curl. This machine is never asked for through
 * a proxy: what is safe on the loopback interface isn't on the way to a proxy. Gives a problem `bad-proxy` for an
 * address that can't be used.
 */
export function proxyFor(origin: string, variables: ProcessVariables): ProxyServer | Problem | null {
  const { protocol, hostname, port } = new URL(origin);
  if (isLoopback(hostname)) return null;
  const name = protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const found = setting(variables, name);
  if (found === undefined || isExempt(hostname, port || defaultPort(protocol), variables)) return null;
  return readProxy(found.value, found.name);
}

/** Tells what `proxyFor` gave. */
export function isProblem(found: ProxyServer | Problem | null): found is Problem {
  return found !== null && 'severity' in found;
}

function setting(variables: ProcessVariables, name: string): { name: string; value: string } | undefined {
  for (const writing of [name, name.toUpperCase()]) {
    const value = Object.hasOwn(variables, writing) ? variables[writing]?.trim() : undefined;
    if (value) return { name: writing, value };
  }
  return undefined;
}

function defaultPort(protocol: string): string {
  return protocol === 'https:' ? '443' : '80';
}

/** Whether `no_proxy` names a host: itself, a domain that it is in, or `*`; with a port, for that port alone. */
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

/** Never repeats the text, which may hold a password. */
function readProxy(text: string, variable: string): ProxyServer | Problem {
  const bad = (why: string): Problem =>
    error('bad-proxy', `the proxy in ${variable} ${why}`, [], 'write it as http://proxy.example.com:3128');
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.hostname === '') return bad('is not an address');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return bad('is neither http nor https');
  let authorization: Sensitive | null = null;
  try {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    if (pair !== ':') authorization = new Sensitive(`Basic ${Buffer.from(pair).toString('base64')}`);
  } catch {
    return bad('has a user name or a password that is not percent-encoded rightly');
  }
  return { origin: url.origin, variable, authorization };
}
