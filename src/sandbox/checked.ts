import { allScopes, type SandboxFaults, type SandboxOptions } from './options.js';

/** What a member may be: in words, behind "it must be". */
interface Rule {
  readonly takes: string;
  readonly fits: (value: unknown) => boolean;
}

type Rules<T> = { readonly [name in keyof T]-?: Rule };

/** What a timer takes. */
const longest = 2 ** 31 - 1;

const text: Rule = { takes: 'a text', fits: (value) => typeof value === 'string' };
const yesOrNo: Rule = { takes: 'true or false', fits: (value) => typeof value === 'boolean' };
const probability: Rule = {
  takes: 'a probability from 0 to 1',
  fits: (value) => typeof value === 'number' && value >= 0 && value <= 1,
};

function whole(least: number, most = Number.MAX_SAFE_INTEGER): Rule {
  const limits = most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`;
  return {
    takes: `a whole number ${limits}`,
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  };
}

function oneOf(...known: readonly string[]): Rule {
  return { takes: known.join(' or '), fits: (value) => known.some((one) => one === value) };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(text.fits);

const faultRules: Rules<SandboxFaults> = {
  pool: whole(1),
  cut: probability,
  500: probability,
  503: probability,
  reset: probability,
  restart: probability,
  staleScopes: yesOrNo,
  seed: whole(0),
};

const rules: Rules<SandboxOptions> = {
  profile: oneOf('documented', 'boruta'),
  host: text,
  port: whole(0, 65_535),
  seed: {
    takes: 'demo, empty or the data itself',
    fits: (value) => value === 'demo' || value === 'empty' || isObject(value),
  },
  pageSize: whole(1),
  tokens: {
    takes: `an object with the scopes of one token or more: ${allScopes.join(', ')}`,
    fits: (value) => {
      const known: readonly unknown[] = allScopes;
      return (
        isObject(value) &&
        Object.keys(value).length > 0 &&
        Object.values(value).every(
          (scopes) => Array.isArray(scopes) && scopes.every((one) => known.includes(one)),
        )
      );
    },
  },
  expiredTokens: { takes: 'a list of texts', fits: isTexts },
  tokenUsers: {
    takes: 'an object with texts',
    fits: (value) => isObject(value) && isTexts(Object.values(value)),
  },
  ownUser: text,
  omitOptionalFields: yesOrNo,
  addUnknownFields: yesOrNo,
  latency: {
    takes: `milliseconds, from 0 to ${longest}`,
    fits: (value) => typeof value === 'number' && value >= 0 && value <= longest,
  },
  faults: { takes: 'an object', fits: isObject },
  intercept: { takes: 'a function', fits: (value) => typeof value === 'function' },
};

/** Refuses what the command would refuse. Throws a TypeError for the first option that is none; no value is repeated. */
export function refuseWrongOptions(options: SandboxOptions): void {
  check('the options', options, rules);
  if (options.faults !== undefined) check('faults', options.faults, faultRules);
}

function check<T extends object>(what: string, given: T, known: Rules<T>): void {
  if (!isObject(given)) throw new TypeError(`${what}: they must be an object`);
  const names = Object.keys(known) as (keyof T & string)[];
  for (const name of Object.keys(given)) {
    if (!names.some((one) => one === name))
      throw new TypeError(`${what}: there is no ${JSON.stringify(name)}; they are ${names.join(', ')}`);
  }
  for (const name of names) {
    const { takes, fits } = known[name];
    if (given[name] !== undefined && !fits(given[name])) throw new TypeError(`${name} must be ${takes}`);
  }
}
