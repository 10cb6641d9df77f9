// npm runs this after an installation in this folder, and before it packs a git dependency. Builds if there is no build.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const built = 'dist/cli/main.js';
const builder = 'node_modules/esbuild';

// pre-commit (`npm install --global --install-links git+file://…`) passes on --global, with which npm omits packages that the build needs.
if (!existsSync(built) && !existsSync(builder) && process.env.npm_config_global === 'true') {
  const { npm_config_global: _, npm_config_prefix: __, npm_config_omit: ___, ...env } = process.env;
  execFileSync('npm', ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund'], {
    env,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
}
// Without development dependencies, for example after `npm ci --omit=dev`, a build is impossible.
if (!existsSync(built) && existsSync(builder)) {
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
}
