import { InvalidArgumentError } from 'commander';

/** Where something listens. */
export interface ListenAddress {
  /** A name or an address; of IPv6 without its brackets. */
  readonly host: string;
  readonly port: number;
}

/** Reads `--listen`. */
export function listenAddress(value: string): ListenAddress {
  const [, six, name = '', digits = ''] =
    /^(?:\[([0-9a-f:.]+)\]|([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)):(\d{1,5})$/i.exec(value) ?? [];
  const port = Number(digits);
  if (digits !== '' && port <= 65_535) return { host: six ?? name, port };
  throw new InvalidArgumentError('It must be HOST:PORT, such as 127.0.0.1:9464, 0.0.0.0:9464 or [::1]:9464.');
}
