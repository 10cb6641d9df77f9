import { execFileSync } from 'node:child_process';

/** Builds once before any test, so that the end-to-end tests run what a user runs. */
export default function build(): void {
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
}
