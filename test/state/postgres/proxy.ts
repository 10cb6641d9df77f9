import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What happens to a statement: it never arrives; it arrives but its answer doesn't; it arrives, then silence. */
export type Fault = 'cut before' | 'cut after' | 'silence';

/** A proxy to a server; its connections can be cut. */
export interface ServerProxy {
  readonly port: number;
  /** Called for everything that is sent, before it is forwarded; returns a fault, or the bytes to send instead. */
  fault: (sent: string) => Fault | Buffer | undefined | Promise<Fault | undefined>;
  /** Whether new connections are accepted. */
  isOpen: boolean;
  /** Cuts all connections. */
  cut(): void;
  close(): Promise<void>;
}

/** Starts a proxy to a server on this machine. It reads only connections without TLS. */
export async function proxyTo(port: number): Promise<ServerProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((client) => {
    if (!proxy.isOpen) {
      client.destroy();
      return;
    }
    const upstream = connect(port, '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const cut = (): void => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    let isSilent = false;
    let isLast = false;
    for (const socket of pair) {
      socket.on('error', cut);
      socket.on('close', cut);
    }
    client.on('data', async (part) => {
      client.pause();
      const fault = await proxy.fault(part.toString('latin1'));
      client.resume();
      if (fault === 'cut before') return cut();
      isLast ||= fault === 'cut after';
      isSilent ||= fault === 'silence';
      upstream.write(fault instanceof Buffer ? fault : part);
    });
    upstream.on('data', (part) => {
      if (isLast) cut();
      else if (!isSilent) client.write(part);
    });
  });
  const proxy = {
    port: 0,
    fault: () => undefined,
    isOpen: true,
    cut() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
    async close() {
      proxy.isOpen = false;
      proxy.cut();
      server.close();
      await once(server, 'close');
    },
  } as { -readonly [key in keyof ServerProxy]: ServerProxy[key] };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.port = (server.address() as AddressInfo).port;
  return proxy;
}
