import { join } from 'node:path';
import { email, organizations, templates } from '../projects.js';

export async function measure(bench) {
  const number = bench.size(10_000, 600);
  await compare(bench, {
    name: `plan ${number.toLocaleString('en')} unchanged organizations`,
    made: organizations(number, 0),
  });
  const emails = Array.from({ length: bench.size(1000, 20) }, (_, index) => email(20_000, `number ${index}`));
  await compare(bench, {
    name: `plan ${emails.length.toLocaleString('en')} unchanged email templates of 20 KB, 5 ms latency`,
    made: templates(emails.map((written) => ({ live: written, declared: written }))),
    latency: 5,
  });
}

async function compare(bench, { name, made: { files, seed }, latency = 0 }) {
  const server = await bench.server({ seed, latency });
  const cwd = bench.project(files);
  const texts = Object.keys(files).filter((path) => path.startsWith('emails/'));
  await bench.compare({
    name,
    against: `requests and ${texts.length === 0 ? 'YAML' : 'files'}`,
    program: bench.idops(['plan'], { cwd, server }),
    floor: (requests) =>
      bench.floor({
        server,
        requests,
        folder: join(cwd, 'manifests'),
        texts: texts.map((path) => join(cwd, path)),
      }),
  });
  await server.close();
}
