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

/**
 * Checks and normalises an address. Gives a problem `bad-address`, or `insecure-http` for plain http to anything
 * but this machine, unless that is allowed. No message repeats the text, which may hold a password.
 */
export function checkBaseUrl(text: string, use: AddressUse): BaseUrl | Problem {
  const { allowInsecureHttp, what = 'the base URL', places = [] } = use;
  const bad = (why: string, hint: string): Problem => error('bad-address', `${what} ${why}`, places, hint);
  const example = 'write it as https://id.example.com';
  const slip = slipIn(text);
  if (slip !== undefined) return bad(...slip);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '') return bad('is not an http or https address', example);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return bad('does not begin with https:// or http://', example);
  }
  if (url.username !== '' || url.password !== '') {
    return bad(
      'holds a user name or a password',
      'remove what stands before the @, and give credentials under server.auth',
    );
  }
  const mark = /[?#]/.exec(text)?.[0];
  if (mark !== undefined) {
    return bad(`has a ${mark === '?' ? 'query' : 'fragment'}`, `remove everything from the "${mark}" on`);
  }
  if (url.protocol === 'http:' && !allowInsecureHttp && !isLoopback(url.hostname)) {
    return error(
      'insecure-http',
      `${what} is plain http to another machine, which would show the token to the network`,
      places,
      'use https, or set "allow_insecure_http: true" under server if the network is trusted',
    );
  }
  if (text.includes('\\')) return bad('has a backslash in it', example);
  // Parsers fill up an IPv4 address that is too short, which nobody means.
  const written = /^https?:\/\/([^/:]*)/i.exec(text)?.[1];
  const isFilledUp = /^\d+(\.\d+){3}$/.test(url.hostname) && written !== url.hostname;
  // Of https://https://host, and of https://https//host, a parser takes the second scheme for the host.
  if (isFilledUp || /^https?:\/\/https?:?\/\//i.test(text)) {
    return bad('names no host that there can be', example);
  }
  if (url.port === '0' || !isHost(url.hostname)) {
    return bad(url.port === '0' ? 'has the port 0' : 'names no host that there can be', example);
  }
  const prefix = url.pathname.replace(/\/+$/, '');
  return { href: `${url.origin}${prefix}`, origin: url.origin, prefix };
}

/** What people write in the place of an address, and what to do about it; neither repeats the text. */
function slipIn(text: string): readonly [why: string, hint: string] | undefined {
  const example = 'write it as https://id.example.com';
  const trimmed = text.trim();
  if (trimmed === '') return ['is empty', example];
  if (/^\$[A-Za-z_{(]/.test(trimmed)) {
    return ['is the name of a variable that nothing filled in', 'in idops.yaml write ${NAME}, with braces'];
  }
  if (/\s/.test(trimmed)) return ['has white space in it', example];
  const bare = /^(https?)\/\//i.exec(trimmed)?.[1]?.toLowerCase();
  if (bare !== undefined)
    return [`lacks the colon after ${bare}`, `write ${bare}:// in the place of ${bare}//`];
  const scheme = /^https?:/i.exec(trimmed)?.[0];
  if (scheme === undefined) {
    if (!/^(?:\/\/)?(?:[\w-]+\.)*[\w-]+(?::\d+)?(?:\/|$)/.test(trimmed)) return undefined;
    const local = /^(?:\/\/)?(?:localhost|127\.[\d.]+)(?:[:/]|$)/.test(trimmed);
    return [
      'does not say whether it is https or http',
      `write ${local ? 'http' : 'https'}:// before the host`,
    ];
  }
  const rest = trimmed.slice(scheme.length);
  if (!/^\/\/[^/\\]/.test(rest)) {
    return /^[/\\]*$/.test(rest)
      ? ['names no host', example]
      : [`lacks the two slashes after ${scheme.toLowerCase()}`, example];
  }
  if (/^\/\/[^/?#]*@/.test(rest)) return undefined;
  const port = /^\/\/(?:[^/?#@]*@)?(?:\[[^\]/]*\]|[^/?#:[\]]*):([^/?#]*)/.exec(rest)?.[1];
  if (port !== undefined && port !== '' && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535)) {
    return ['has a port that is no number from 1 to 65535', example];
  }
  return undefined;
}

/** Whether a host, as a URL parser gives it, is an address or a name whose parts are names. */
function isHost(host: string): boolean {
  if (host.startsWith('[')) return true;
  return host
    .replace(/\.$/, '')
    .split('.')
    .every((part) => /^[a-z\d_](?:[\w-]*[a-z\d_])?$/i.test(part));
}

/** Whether a host, as a URL parser gives it, is this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/\.$/, '');
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d+){3}$/.test(name)
  );
}
