import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import { type Sensitive, withoutUndefined } from '../base/values.js';
import { codeOf, type ExchangeLimits, type ExchangeOutcome, exchange } from './exchange.js';
import { proxyPrefix } from './failures.js';
import type { ProxyServer } from './proxy.js';

/** PEM texts. */
export interface TlsSettings {
  /** The trusted authorities, instead of those of Node.js. */
  readonly ca?: string;
  readonly clientCert?: string;
  readonly clientKey?: Sensitive;
}

export interface Route {
  readonly origin: string;
  readonly tls: TlsSettings;
  readonly proxy: ProxyServer | null;
}

/**
 * Opens a pool of connections to an origin, with one request at a time on each. With `once`, no connection is kept. `seconds` limits
 * connecting.
 */
export function openRoute(
  { origin, tls, proxy }: Route,
  options: { readonly connections: number | 'once'; readonly seconds: number },
): Dispatcher {
  const timeout = Math.ceil(options.seconds * 1000);
  const once = options.connections === 'once';
  const common = { connections: once ? 1 : Number(options.connections), pipelining: once ? 0 : 1 };
  const secure = { ...tlsOptions(tls), timeout };
  if (proxy === null) return new Pool(origin, { ...common, connect: secure });
  return new ProxyAgent({
    ...common,
    uri: proxy.origin,
    ...(proxy.authorization === null ? {} : { token: String(proxy.authorization.reveal()) }),
    requestTls: secure,
    proxyTls: { minVersion, rejectUnauthorized, timeout },
    clientFactory: (url, given) => new Tunnels(url, { ...given, headersTimeout: timeout }),
  });
}

/** Sends a request on a connection of its own. */
export async function exchangeOnce(
  to: Route,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
): Promise<ExchangeOutcome> {
  const route = openRoute(to, { connections: 'once', seconds: limits.timeout });
  try {
    return await exchange(route, request, limits);
  } finally {
    await route.destroy();
  }
}

const minVersion = 'TLSv1.2';
/** Explicit, since NODE_TLS_REJECT_UNAUTHORIZED could turn it off. */
const rejectUnauthorized = true;

function tlsOptions({ ca, clientCert, clientKey }: TlsSettings) {
  return {
    minVersion: minVersion as 'TLSv1.2',
    rejectUnauthorized,
    ...withoutUndefined({ ca, cert: clientCert, key: clientKey && String(clientKey.reveal()) }),
  };
}

type TunnelOptions = Omit<Dispatcher.ConnectOptions, 'origin'>;
type TunnelCallback = (failure: Error | null, data: Dispatcher.ConnectData) => void;

/** Connections to a proxy. Their failures have a prefix, to distinguish them from those of the server behind it. */
class Tunnels extends Pool {
  override connect(options: TunnelOptions): Promise<Dispatcher.ConnectData>;
  override connect(options: TunnelOptions, callback: TunnelCallback): void;
  override connect(
    options: TunnelOptions,
    callback?: TunnelCallback,
  ): Promise<Dispatcher.ConnectData> | undefined {
    if (callback === undefined) return this.#tunnel(options);
    super.connect(options, callback);
    return undefined;
  }

  async #tunnel(options: TunnelOptions): Promise<Dispatcher.ConnectData> {
    const made = await super.connect(options).catch((failure: unknown) => {
      throw new ProxyFailure(codeOf(failure));
    });
    if (made.statusCode === 200) return made;
    made.socket.on('error', () => {}).destroy();
    throw new ProxyFailure(String(made.statusCode));
  }
}

class ProxyFailure extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`the proxy failed: ${code}`);
    this.name = 'ProxyFailure';
    this.code = `${proxyPrefix}${code}`;
  }
}
