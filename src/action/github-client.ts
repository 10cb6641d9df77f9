import type { getOctokit } from '@actions/github';
import { escapeText } from '../base/escape.js';

/** What GitHub refused, in words for a person. */
export class GithubFailure extends Error {
  /** The status of the answer; null where there was none. */
  readonly status: number | null;
  /** Whether GitHub says that it is a permission that the token lacks. */
  readonly lacksPermission: boolean;

  constructor(
    message: string,
    {
      status = null,
      lacksPermission = false,
      cause,
    }: { readonly status?: number | null; readonly lacksPermission?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.name = 'GithubFailure';
    this.status = status;
    this.lacksPermission = lacksPermission;
  }
}

/** How GitHub is asked. */
export interface Manner {
  /** Where its API is; as the runner says where it isn't given. */
  readonly baseUrl?: string;
  /** Ends what is under way, and what waits. */
  readonly signal: AbortSignal;
  /** How long one request may take, in seconds; 30 where it isn't given. */
  readonly timeout?: number;
  /** How long a second of waiting takes, in milliseconds; 1,000 where it isn't given. */
  readonly second?: number;
}

type Octokit = ReturnType<typeof getOctokit>;

/** What asks GitHub. */
export interface GithubClient {
  readonly octokit: Octokit;
  /** Does what asks octokit, and throws a GithubFailure where that fails or ends early. */
  ask<T>(work: () => Promise<T>): Promise<T>;
}

/** How often a request is sent again. */
const retries = 3;
/** A job that waits longer than this for a limit to pass costs more than a comment is worth, in seconds. */
const longestPause = 120;
/** The wait for a secondary limit where GitHub doesn't say how long it lasts, in seconds: doubled each time. */
const secondaryPause = 60;

/** For requests of which nobody knows, after an answer that is lost, whether they did something: they are sent once. */
export const once = { request: { retries: 0 } } as const;

/**
 * Opens a client that repeats what may be repeated, waits as GitHub's documentation of its limits says, and gives each
 * request a time.
 */
export async function openClient(token: string, manner: Manner): Promise<GithubClient> {
  const { baseUrl, signal, timeout = 30, second = 1000 } = manner;
  // Validating, and planning without a pull request, need none of it.
  const [{ getOctokit }, { retry }, { throttling }, { default: Bottleneck }] = await Promise.all([
    import('@actions/github'),
    import('@octokit/plugin-retry'),
    import('@octokit/plugin-throttling'),
    import('bottleneck/light.js'),
  ]).catch((failure: unknown) => {
    // The first one reads the event as it is loaded.
    throw new GithubFailure("GitHub can't be asked: the file with the event can't be read", {
      cause: failure,
    });
  });
  const waits = (pause: number, _options: object, _octokit: object, repeated: number): boolean =>
    pause <= longestPause && repeated < retries;
  const octokit = getOctokit(
    token,
    {
      log: silent,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      retry: { retries, retryAfterBaseValue: second, doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451] },
      throttle: {
        // A run writes a few times: pauses between them would only make it longer.
        write: new Bottleneck.Group(),
        notifications: new Bottleneck.Group(),
        retryAfterBaseValue: second,
        onRateLimit: waits,
        onSecondaryRateLimit: waits,
      },
    },
    // The first is closest to the request.
    ({ hook }) => {
      const limited = new WeakMap<object, number>();
      hook.wrap('request', async (request, options) => {
        const ending = new AbortController();
        const end = () => ending.abort();
        signal.addEventListener('abort', end);
        const timer = setTimeout(() => ending.abort(late(timeout)), timeout * 1000);
        try {
          // What is given on is not what reaches the request.
          options.request = { ...options.request, signal: ending.signal };
          return await request(options);
        } catch (failure) {
          const times = limited.get(options) ?? 0;
          if (sayPause(failure as RawFailure, secondaryPause * 2 ** times)) limited.set(options, times + 1);
          throw failure;
        } finally {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
        }
      });
      return {};
    },
    retry,
    throttling,
  );
  return {
    octokit,
    ask: async (work) => {
      if (signal.aborted) throw interrupted();
      let stop: (() => void) | undefined;
      const stopped = new Promise<never>((_, reject) => {
        stop = () => reject(interrupted());
        signal.addEventListener('abort', stop, { once: true });
      });
      try {
        return await Promise.race([work(), stopped]);
      } catch (failure) {
        throw failure instanceof GithubFailure ? failure : inWords(failure as RawFailure);
      } finally {
        if (stop !== undefined) signal.removeEventListener('abort', stop);
      }
    },
  };
}

/** What octokit would log by itself could hold anything that a server answers. */
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A failed request, as far as its kind is known. */
interface RawFailure {
  readonly status?: unknown;
  message?: unknown;
  readonly response?: { readonly headers?: { [name: string]: unknown }; readonly data?: unknown };
}

/**
 * Says in the answer of a secondary limit how long it lasts, as the plugin that waits for it reads it: servers of before
 * call it otherwise, and not all of them say it. Whether it is one.
 */
function sayPause(failure: RawFailure, otherwise: number): boolean {
  const { status, response } = failure;
  const headers = response?.headers;
  if ((status !== 403 && status !== 429) || headers === undefined) return false;
  const after = Number(headers['retry-after'] ?? Number.NaN);
  const known = Number.isFinite(after);
  if (!known && String(headers['x-ratelimit-remaining']) === '0') return false;
  if (!known && !/secondary rate|abuse detection/i.test(String(failure.message))) return false;
  headers['retry-after'] = String(known ? Math.max(1, after) : otherwise);
  if (!/\bsecondary rate\b/i.test(String(failure.message)))
    failure.message = `secondary rate: ${failure.message}`;
  return true;
}

function interrupted(): GithubFailure {
  return new GithubFailure('interrupted');
}

function late(timeout: number): Error {
  return new Error(`no answer within ${timeout} seconds`);
}

function inWords(failure: RawFailure): GithubFailure {
  const { status, message, response } = failure;
  const code = typeof status === 'number' ? status : null;
  const data = response?.data as { message?: unknown } | undefined;
  const said = typeof data?.message === 'string' ? data.message : String(message);
  const short = escapeText(said.length > 300 ? `${said.slice(0, 300)}…` : said);
  return code === null || response === undefined
    ? new GithubFailure(`GitHub can't be asked: ${short}`, { cause: failure })
    : new GithubFailure(`GitHub answers ${code}: ${short}`, {
        status: code,
        lacksPermission: code === 403 && /^Resource not accessible by/i.test(said),
        cause: failure,
      });
}
