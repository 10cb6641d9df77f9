import { parseUrl } from '../base/parse-url.js';
import { error, type Place, type Problem } from '../base/problems.js';

/** The checked address of a server. */
export interface BaseUrl {
  /** The address without a trailing slash, as plans and the state name the server. */
  readonly href: string;
  /** Scheme, host and port; only this origin gets the credentials. */
  readonly origin: string;
  /** The path before `/api`, without a trailing slash; often empty. */
  readonly prefix: string;
}

export interface AddressUse {
  readonly allowInsecureHttp: boolean;
  /** The subject of messages; by default `the base URL`. */
  readonly what?: string;
  readonly places?: readonly Place[];
}

export function isBaseUrl(checked: BaseUrl | Problem): checked is BaseUrl {
  return 'origin' in checked;
}

const label = '(?!-)[\\p{L}\\p{N}_-]+(?<!-)';
const host = `(?:${label}(?:\\.${label})*\\.?|\\[[\\da-f:.]+\\])`;
/** Strict, since URL parsers accept many spellings of other hosts. */
const address = new RegExp(`^https?://${host}(?::\\d{1,5})?(?:/(?!/)[^\\\\\\s]*)?$`, 'iu');

/**
 * Checks and normalises an address. Returns a problem `bad-address`, or `insecure-http` for plain http to another machine unless
 * that is allowed. Messages never repeat the text, which may contain a password.
 */
export function checkBaseUrl(text: string, use: AddressUse): BaseUrl | Problem {
  const { allowInsecureHttp, what = 'the base URL', places = [] } = use;
  const badAddress = (why: string, hint = 'write it as https://id.example.com'): Problem =>
    error('bad-address', `${what} ${why}`, places, hint);
  if (/^\s*\$[A-Za-z_{(]/.test(text))
    return badAddress(
      'is the name of a variable that was not replaced',
      'in idops.yaml write ${NAME}, with braces',
    );
  const url = parseUrl(text);
  if (url !== undefined && `${url.username}${url.password}` !== '')
    return badAddress(
      'contains a user name or a password',
      'remove everything before the @, and set credentials under server.auth',
    );
  const mark = /[?#]/.exec(text)?.[0];
  if (url !== undefined && mark !== undefined)
    return badAddress(
      `has a ${mark === '?' ? 'query' : 'fragment'}`,
      `remove everything from the "${mark}" on`,
    );
  // URL parsers complete a short IPv4 address, such as 10.1.
  const isCompletedIp =
    url !== undefined && /^\d+(\.\d+){3}$/.test(url.hostname) && !text.includes(`//${url.hostname}`);
  if (url === undefined || !address.test(text) || url.port === '0' || isCompletedIp)
    return badAddress('is not an http or https address');
  if (url.protocol === 'http:' && !allowInsecureHttp && !isLoopback(url.hostname)) {
    return error(
      'insecure-http',
      `${what} is plain http to another machine, which would show the token to the network`,
      places,
      'use https, or set "allow_insecure_http: true" under server if the network is trusted',
    );
  }
  const prefix = url.pathname.replace(/\/+$/, '');
  return { href: `${url.origin}${prefix}`, origin: url.origin, prefix };
}

/** Whether a host from a parsed URL is this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/\.$/, '');
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d+){3}$/.test(name)
  );
}
