#!/usr/bin/env node
import { sayVersion } from './say-version.js';

const argv = process.argv.slice(2);
const [first] = argv;
// Scripts ask for the version often: that needs nothing of what reads a command line.
process.exitCode =
  argv.length === 1 && (first === '--version' || first === '-V')
    ? await sayVersion(process)
    : await (await import('./program.js')).run(argv, process);
