/** Why a connection failed, by Node's error code. */
export interface ConnectionFailure {
  /** A clause, without the code. */
  readonly why: string;
  /** A person must fix a certificate or TLS; a network may recover. */
  readonly fault: 'certificate' | 'tls' | 'network';
  /** What to check. */
  readonly check?: 'authority' | 'client-certificate' | 'clock' | 'host' | 'network' | 'port';
  /** True if no request was sent. */
  readonly unsent?: true;
}

const authority = { fault: 'certificate', check: 'authority', unsent: true } as const;
const unknownAuthority = {
  ...authority,
  why: 'its certificate comes from an authority that this machine does not know',
};
const noRoute = { why: 'there is no route to it', fault: 'network', check: 'network', unsent: true } as const;
const closed = { why: 'it closed the connection', fault: 'network', check: 'port' } as const;
const timedOut = { why: 'it did not answer in time', fault: 'network', check: 'host' } as const;

const failures: { readonly [code: string]: ConnectionFailure } = {
  ECONNREFUSED: { why: 'the connection was refused', fault: 'network', check: 'port', unsent: true },
  ENOTFOUND: { why: 'its name does not resolve', fault: 'network', check: 'host', unsent: true },
  EAI_AGAIN: { why: 'its name could not be looked up', fault: 'network', check: 'network', unsent: true },
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  ETIMEDOUT: timedOut,
  UND_ERR_CONNECT_TIMEOUT: { ...timedOut, unsent: true },
  DEPTH_ZERO_SELF_SIGNED_CERT: { ...authority, why: 'its certificate is self-signed' },
  SELF_SIGNED_CERT_IN_CHAIN: {
    ...authority,
    why: 'its certificate comes from an authority that this machine does not trust',
  },
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    ...unknownAuthority,
    why: `${unknownAuthority.why}, or the server leaves out an intermediate certificate`,
  },
  CERT_HAS_EXPIRED: { why: 'its certificate has expired', fault: 'certificate', unsent: true },
  CERT_NOT_YET_VALID: {
    why: 'its certificate is not valid yet',
    fault: 'certificate',
    check: 'clock',
    unsent: true,
  },
  CERT_REVOKED: { why: 'its certificate was revoked', fault: 'certificate', unsent: true },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    why: 'its certificate is for another host name',
    fault: 'certificate',
    check: 'host',
    unsent: true,
  },
};

/** Why a connection failed; undefined if the code is not about a connection. */
export function connectionFailure(code: string): ConnectionFailure | undefined {
  if (Object.hasOwn(failures, code)) return failures[code];
  if (/^(?:CERT_|ERR_TLS_CERT_)/.test(code))
    return { why: 'its certificate is not accepted', fault: 'certificate', unsent: true };
  if (!/^(?:EPROTO$|ERR_SSL_|ERR_OSSL_)/.test(code)) return undefined;
  if (/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS/.test(code))
    return { why: 'it does not support TLS 1.2 or later', fault: 'tls' };
  if (/CERTIFICATE_REQUIRED|ALERT_BAD_CERTIFICATE|HANDSHAKE_FAILURE|UNKNOWN_CA/.test(code)) {
    const why = 'it requires another client certificate, or the TLS handshake failed';
    return { why, fault: 'tls', check: 'client-certificate' };
  }
  return { why: 'the TLS handshake failed', fault: 'tls', check: 'port' };
}
