import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/secrets/redactor.js';
import { looksRandom, scrubArguments } from '../../src/secrets/scrub-arguments.js';

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.Nq3x-_Zb1';

describe('a word that looks like a credential', () => {
  it.each([
    jwt,
    'eyJhbGciOiJIUzI1NiJ9',
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'M2n7Qw9xZk4RtY8uVb3pLs6d',
    'd41d8cd98f00b204e9800998ecf8427e',
    'Ab1/Cd2+Ef3/Gh4+Ij5/Kl6+Mn7/Op8+Qr9/St0+Uv1/Wx2=',
    'qWeRtYuIoPaSdFgHjKlZxCvBnM',
  ])('%s does', (word) => {
    expect(looksRandom(word)).toBe(true);
  });

  it.each([
    ...'production production-eu-west-1-2026-11 9b1d5c1e-6f3a-4a0e-8b1a-0d6f3e1c2b77'.split(' '),
    ...'20261122T005001Z-ab12cd 20261122T041710Z-87b8c 20261122T041710Z-87b'.split(' '),
    ...'User/9b1d5c1e-6f3a-4a0e-8b1a-0d6f3e1c2b77 /tmp/idops-a8Xk2Q9d7f/plan.json'.split(' '),
    ...'manifests-2026q1-v2b3-x4y5.yaml identityProviderConfigurationProduction'.split(' '),
    'https://id.example.com/a1b2c3d4e5f6a7b8c9d0',
    ...'EmailTemplate/*/reset_password_instructions --allow-destructive'.split(' '),
  ])('%s does not', (word) => {
    expect(looksRandom(word)).toBe(false);
  });
});

describe('typed words', () => {
  it.each([
    ['alone', [jwt], jwt],
    ['as an option', [`--${jwt}`], `unknown option '--${jwt}'`],
    ['behind an option', [`--env=${jwt}`], `no "${jwt}"`],
    ['behind its scheme', [`Bearer ${jwt}`], `no "Bearer ${jwt}"`],
  ])('are not repeated in a message: %s', (_, words, message) => {
    const text = scrubArguments(words)(message);
    expect(text).not.toContain('eyJ');
    expect(text).toContain(`(a value of ${jwt.length} characters)`);
  });

  it('are shown if they are names', () => {
    const message = 'there is no environment "prod", did you mean "production"?';
    expect(scrubArguments(['plan', '--env', 'prod'])(message)).toBe(message);
  });

  it('are hidden if they are known secrets, whatever they look like', () => {
    const redactor = createRedactor();
    redactor.add('hunter2');
    expect(scrubArguments(['--env', 'hunter2'], redactor)('no "hunter2"')).toBe('no "(sensitive)"');
  });

  it('are replaced whole if one contains another', () => {
    const text = scrubArguments([jwt.slice(0, 20), jwt])(`${jwt} ${jwt.slice(0, 20)}`);
    expect(text).toBe(`(a value of ${jwt.length} characters) (a value of 20 characters)`);
  });
});
