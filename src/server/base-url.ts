import { error, type Place, type Problem } from '../base/problems.js';

/** Where a server is, checked: what comes before the paths of the operations. */
export interface BaseUrl {
  /** The whole address without a trailing slash, as plans and the state name the server. */
  readonly href: string;
  /** Scheme, host and port; the one origin that gets the credentials. */
  readonly origin: string;
  /** What stands before `/api`, without a trailing slash; often empty. */
  readonly prefix: string;
}

/** What an address is checked for, and how to speak of it. */
export interface AddressUse {
  readonly allowInsecureHttp: boolean;
  /** As a message names it; `the base URL` where it isn't given. */
  readonly what?: string;
  /** Where it is written, for the problem. */
  readonly places?: readonly Place[];
}

/** Tells what `checkBaseUrl` gave: a problem, or an address that can be used. */
export function isBaseUrl(checked: BaseUrl | Problem): checked is BaseUrl {
  return 'origin' in checked;
}

const label = '(?!-)[\\p{L}\\p{N}_-]+(?<!-)';
const host = `(?:${label}(?:\\.${label})*\\.?|\\[[\\da-f:.]+\\])`;
/** A scheme, a host, a port, a path: of much else a parser makes another host. */
const address = new RegExp(`^https?://${host}(?::\\d{1,5})?(?:/(?!/)[^\\\\\\s]*)?$`, 'iu');

/**
 * Checks and normalises an address. Gives a problem `bad-address`, or `insecure-http` for plain http to anything
 * but this machine, unless that is allowed. No message repeats the text, which may hold a password.
 */
export function checkBaseUrl(text: string, use: AddressUse): BaseUrl | Problem {
  const { allowInsecureHttp, what = 'the base URL', places = [] } = use;
  const bad = (why: string, hint = 'write it as https://id.example.com'): Problem =>
    error('bad-address', `${what} ${why}`, places, hint);
  if (/^\s*\$[A-Za-z_{(]/.test(text))
    return bad(
      'is the name of a variable that nothing filled in',
      'in idops.yaml write ${NAME}, with braces',
    );
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && `${url.username}${url.password}` !== '')
    return bad(
      'holds a user name or a password',
      'remove what stands before the @, and give credentials under server.auth',
    );
  const mark = /[?#]/.exec(text)?.[0];
  if (url !== undefined && mark !== undefined)
    return bad(`has a ${mark === '?' ? 'query' : 'fragment'}`, `remove everything from the "${mark}" on`);
  // Parsers fill up an IPv4 address that is too short, which nobody means.
  const isFilledUp =
    url !== undefined && /^\d+(\.\d+){3}$/.test(url.hostname) && !text.includes(`//${url.hostname}`);
  if (url === undefined || !address.test(text) || url.port === '0' || isFilledUp)
    return bad('is not an http or https address');
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

/** Whether a host, as a URL parser gives it, is this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/\.$/, '');
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d+){3}$/.test(name)
  );
}
