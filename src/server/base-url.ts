import { error, type Problem } from '../problems.js';

/** Where a server is, checked: what comes before the paths of the operations. */
export interface BaseUrl {
  /** The whole address without a trailing slash, as plans and the state name the server. */
  readonly href: string;
  /** Scheme, host and port; the one origin that gets the credentials. */
  readonly origin: string;
  /** What stands before `/api`, without a trailing slash; often empty. */
  readonly prefix: string;
}

/** Tells what `checkBaseUrl` gave: a problem, or an address that can be used. */
export function isBaseUrl(checked: BaseUrl | Problem): checked is BaseUrl {
  return 'origin' in checked;
}

/**
 * Checks and normalises a base URL. Gives a problem `wrong-base-url`, or `insecure-http` for plain http to
 * anything but this machine, unless that is allowed. No message repeats the text, which may hold a password.
 */
export function checkBaseUrl(text: string, allowInsecureHttp: boolean): BaseUrl | Problem {
  const example = 'give an address such as https://id.example.com';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '') {
    return error('wrong-base-url', 'the base URL is not an http or https address', [], example);
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return error('wrong-base-url', 'the base URL does not begin with https:// or http://', [], example);
  }
  if (url.username !== '' || url.password !== '') {
    return error(
      'wrong-base-url',
      'the base URL holds a user name or a password',
      [],
      'remove what stands before the @, and give credentials under server.auth',
    );
  }
  if (url.search !== '' || url.hash !== '') {
    return error(
      'wrong-base-url',
      `the base URL has a ${url.search === '' ? 'fragment' : 'query'}`,
      [],
      `remove everything from the "${url.search === '' ? '#' : '?'}" on`,
    );
  }
  if (url.protocol === 'http:' && !allowInsecureHttp && !isLoopback(url.hostname)) {
    return error(
      'insecure-http',
      `${url.origin} is plain http: the token and all data could be read on the way`,
      [],
      'use https, or set "allow_insecure_http: true" under server if the network is trusted',
    );
  }
  const prefix = url.pathname.replace(/\/+$/, '');
  return { href: `${url.origin}${prefix}`, origin: url.origin, prefix };
}

/** Takes a host as a URL parser gives it: lower case, an IPv4 address in its usual form. */
function isLoopback(host: string): boolean {
  const name = host.replace(/\.$/, '');
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d+){3}$/.test(name)
  );
}
