import { expect, it } from 'vitest';
import { where } from '../../../src/cli/commands/applying.js';

it.each([
  ['production', 'https://id.example.com (production)'],
  [null, 'https://id.example.com (no environment)'],
])('a question names the server and the environment %s', (environment, text) => {
  expect(where({ server: 'https://id.example.com', environment })).toBe(text);
});
