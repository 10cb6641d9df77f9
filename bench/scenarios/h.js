import { email, templates } from '../projects.js';

export const title = 'the page of changed email templates';

export async function measure(bench) {
  for (const number of bench.quick ? [5] : [100, 500, 1000]) {
    const pairs = Array.from({ length: number }, (_, index) => {
      const live = email(4500, `number ${index}`);
      const declared = {
        txt_content: live.txt_content.replace('go on', 'continue'),
        html_content: live.html_content.replace('Paragraph 3,', 'Section 3,'),
      };
      return { live, declared };
    });
    const { files, seed } = templates(pairs);
    const server = await bench.server({ seed });
    const cwd = bench.project(files);
    await bench.compare({
      name: `plan --format html of ${number.toLocaleString('en')}`,
      program: bench.idops(['plan', '--format', 'html'], { cwd, server }),
      server,
      necessary: number,
      floors: { 'plan --format json': bench.idops(['plan', '--format', 'json'], { cwd, server }) },
      repeats: 3,
    });
    await server.close();
  }
}
