import { ids } from '../demo-ids.js';
import { project, type TestProject, trustedConfig } from '../e2e/running.js';

export function emailProject(bodies: readonly string[]): Promise<TestProject> {
  const files = Object.fromEntries(bodies.map((body, at) => [`bodies/${at}.html`, body]));
  const manifests = bodies.map((_, at) => {
    const file = `{file: ../bodies/${at}.html}`;
    return `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: t${at}\ntxt_content: ${file}\nhtml_content: ${file}\n`;
  });
  return project({ 'idops.yaml': trustedConfig, 'manifests/all.yaml': manifests.join('---\n'), ...files });
}
