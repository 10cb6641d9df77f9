// What npm runs after an installation in this folder, and before it packs what it got from git: builds where nothing is built yet.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const built = 'dist/cli/main.js';
const builder = 'node_modules/esbuild';

// pre-commit (`npm install --global --install-links git+file://…`) hands its own --global on, by which npm leaves out what is needed here.
if (!existsSync(built) && !existsSync(builder) && process.env.npm_config_global === 'true') {
  const { npm_config_global: _, npm_config_prefix: __, npm_config_omit: ___, ...env } = process.env;
  execFileSync('npm', ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund'], {
    env,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
}
// Without the tools, as after `npm ci --omit=dev`, there is nothing that could build.
if (!existsSync(built) && existsSync(builder)) {
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
}
