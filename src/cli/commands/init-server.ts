import { escapeText } from '../../base/escape.js';
import type { KindName } from '../../base/kind-names.js';
import type { ServerSettings } from '../../project/index.js';
import { serverSettings } from '../../project/server.js';
import type { ProfileName } from '../../server/profiles.js';
import type { Choices, TokenSource } from '../../session/init/choices.js';
import { lookAtServer } from '../../session/init/look.js';
import type { FreshFiles } from '../../session/pull.js';
import type { Context, GlobalOptions } from '../context.js';
import type { InitOptions } from './init-questions.js';

/** What is known of the server by the time that its project is written. */
export interface Found extends Pick<Choices, 'profile' | 'because'> {
  /** What it has; null where nobody could look. */
  readonly fresh: FreshFiles | null;
  /** The kinds that it refused to show. */
  readonly unread: readonly KindName[];
  /** Whether it answered as it should. */
  readonly isReached: boolean;
}

interface Given {
  /** Empty where there is none yet. */
  readonly address: string;
  readonly token: TokenSource;
  readonly asks: boolean;
  /** Whether what the server has is wanted. */
  readonly pulls: boolean;
}

/** Looks at the server, where its address and a token are there; null where a question about it is aborted. */
export async function lookForInit(
  context: Context,
  options: InitOptions & GlobalOptions,
  { address, token, asks, pulls }: Given,
): Promise<Found | null> {
  const { output, redactor, signal } = context;
  const said = options.profile;
  const unseen: Found = {
    profile: said ?? 'documented',
    because: said === undefined ? 'unknown' : 'said',
    fresh: null,
    unread: [],
    isReached: false,
  };
  const value = 'variable' in token ? process.env[token.variable] || undefined : undefined;
  if (address === '' || ('variable' in token && value === undefined)) {
    const lack =
      address === '' ? 'no address is given' : `${(token as { variable: string }).variable} is not set`;
    output.message(`The server was not looked at, since ${lack}.`);
    return unseen;
  }
  const server = await settingsOf(address, token, value);
  let because: Found['because'] = 'unknown';
  const choose = async (fits: ProfileName | null, failed: readonly string[]): Promise<ProfileName | null> => {
    if (fits === null) {
      const why = failed.map((message) => `: ${message}`).join('');
      output.message(`Which profile fits ${address} could not be found out${why}`);
    } else output.message(`The profile ${fits} fits ${address}`);
    if (said !== undefined) {
      because = 'said';
      if (fits !== null && fits !== said)
        output.message(
          `${said} is written all the same, since --profile says so: idops doctor tells what that means.`,
        );
      return said;
    }
    if (fits !== null) {
      because = 'found';
      return fits;
    }
    if (!asks) return 'documented';
    const answer = await context.prompt.select('Which profile is to be written?', [
      { value: 'documented', label: 'documented', hint: 'the documented API alone' },
      { value: 'boruta', label: 'boruta', hint: 'a Boruta server' },
    ]);
    if (answer === 'boruta') because = 'said';
    return answer;
  };
  const looked = await lookAtServer(server, choose, pulls, {
    ...context.sessionOptions(),
    redactor,
    signal,
  });
  if (looked === null) return null;
  if (looked.problems.length > 0) {
    output.problems(looked.problems);
    output.message(
      looked.fresh === null
        ? 'So the manifests are examples: nothing of the server is in them.'
        : `So nothing of these kinds is in the manifests: ${looked.unread.join(', ')}.`,
    );
  }
  if (looked.fresh !== null) tell(context, looked.fresh, address);
  return {
    profile: looked.profile,
    because,
    fresh: looked.fresh,
    unread: looked.unread,
    isReached: looked.failed.length === 0,
  };
}

/** The settings that the new configuration will say. */
async function settingsOf(
  baseUrl: string,
  token: TokenSource,
  value: string | undefined,
): Promise<ServerSettings> {
  return await serverSettings({
    section: { data: {}, problems: [], notes: new Map() },
    given: {
      baseUrl,
      aside: undefined,
      tokenFile: 'file' in token ? token.file : undefined,
      token: value,
      pinned: false,
    },
    environment: null,
    variables: process.env,
    cwd: process.cwd(),
    root: process.cwd(),
    key: [],
    place: () => [],
  });
}

/** What was found, and what of it no manifest can hold. */
function tell({ output }: Context, { counts, left, notes }: FreshFiles, address: string): void {
  const found = Object.entries(counts).map(([kind, count]) => `${kind} (${count})`);
  output.message(
    found.length === 0
      ? `${address} shows nothing that a manifest could hold.`
      : `Found at ${address}: ${found.join(', ')}.`,
  );
  const rest = [...notes, ...left.map(({ address: object, reason }) => `${object} is left out: ${reason}`)];
  if (rest.length === 0) return;
  const lines = rest.map((one) => `  - ${escapeText(one)}`);
  output.message(['What idops pull would have to be told, or no manifest can hold:', ...lines].join('\n'));
}
