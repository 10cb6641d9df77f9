import { join } from 'node:path';
import { email, templates } from '../projects.js';

export const title = 'pairs of bodies of 1 MB, and the plan as text, Markdown and HTML';

export async function measure(bench) {
  const { txt_content, html_content } = email(bench.size(1_000_000, 20_000), 'before');
  const lines = html_content.split('\n');
  const pairs = {
    alike: lines.map((line, number) => (number % 1000 === 500 ? line.replace('before', 'after') : line)),
    shuffled: shuffled(lines),
    disjoint: email(html_content.length, 'after').html_content.replaceAll('<td', '<th').split('\n'),
  };
  const formats = ['text', 'markdown', 'html'];
  for (const [index, [name, declared]] of Object.entries(pairs).entries()) {
    const pair = {
      live: { txt_content, html_content },
      declared: { txt_content, html_content: declared.join('\n') },
    };
    const { files, seed } = templates([pair]);
    const server = await bench.server({ seed });
    const cwd = bench.project(files);
    const texts = ['emails/0.txt', 'emails/0.html'].map((path) => join(cwd, path));
    for (const format of bench.quick ? formats.slice(index, index + 1) : formats) {
      await bench.compare({
        name: `${name}, ${format}`,
        program: bench.idops(['plan', '--format', format], { cwd, server }),
        server,
        necessary: 1,
        floors: {
          'plan --format json': bench.idops(['plan', '--format', 'json'], { cwd, server }),
          'requests and files': { sends: true, folder: join(cwd, 'manifests'), texts },
        },
        repeats: 3,
      });
    }
    await server.close();
  }
}

/** The same lines in another order, the same one each time. */
function shuffled(lines) {
  const mixed = [...lines];
  let chance = 1;
  for (let index = mixed.length - 1; index > 0; index -= 1) {
    chance = (chance * 48_271) % 2_147_483_647;
    const other = chance % (index + 1);
    [mixed[index], mixed[other]] = [mixed[other], mixed[index]];
  }
  return mixed;
}
