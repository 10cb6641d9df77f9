import * as z from 'zod';
import { query } from './github-answers.js';
import type { GithubClient } from './github-client.js';

/** Somebody on GitHub. */
export interface Author {
  /** Null where GitHub doesn't say it of whom a token belongs to. */
  readonly id: number | null;
  readonly login: string;
}

/** A comment, with what GitHub says of its author and of who edited it. Times are ISO 8601. */
export interface CommentHistory {
  readonly node: string;
  readonly body: string;
  readonly author: Author | null;
  readonly createdAt: string;
  readonly lastEditedAt: string | null;
  /** Who edited it last; null where nobody did, and where that account is gone. */
  readonly editor: Author | null;
}

/** One version of a comment that was edited; its text is asked for apart. */
export interface CommentVersion {
  readonly node: string;
  readonly at: string;
  readonly by: Author | null;
}

/** What GitHub keeps of who wrote comments and who edited them. Each function throws a GithubFailure. */
export interface GithubHistory {
  /** Comments, and whoever the token belongs to. */
  histories(
    nodes: readonly string[],
  ): Promise<{ readonly viewer: Author; readonly comments: readonly CommentHistory[] }>;
  /** All versions of a comment that was edited, in whatever order; none where there are too many. */
  versions(node: string): Promise<CommentVersion[]>;
  /** The text of a version; null where GitHub doesn't have it any more. */
  versionText(node: string): Promise<string | null>;
}

/** How many comments are asked for at once, and how many versions of one. */
const pageSize = 100;
/** Who would edit a comment more often than this hides something. */
const versionsMost = 1_000;

const actor =
  'fragment actor on Actor { __typename login ... on User { databaseId } ... on Bot { databaseId } }';

const historiesQuery = `query ($ids: [ID!]!) {
  viewer { login databaseId }
  nodes(ids: $ids) {
    ... on IssueComment { id body createdAt lastEditedAt author { ...actor } editor { ...actor } }
  }
}
${actor}`;

const versionsQuery = `query ($id: ID!, $first: Int!, $after: String) {
  node(id: $id) {
    ... on IssueComment {
      userContentEdits(first: $first, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { id editedAt editor { ...actor } }
      }
    }
  }
}
${actor}`;

// What its documentation calls a summary of the changes is the whole text.
const textQuery = 'query ($id: ID!) { node(id: $id) { ... on UserContentEdit { deletedAt diff } } }';

/** Who wrote and edited comments, which the REST API doesn't tell. */
export function openHistory(octokit: GithubClient['octokit'], ask: GithubClient['ask']): GithubHistory {
  const editsAfter = async (id: string, after: string | null): Promise<RawEdits> => {
    const { node } = await query(octokit, versionsQuery, { id, first: pageSize, after }, rawVersions);
    return node?.userContentEdits;
  };
  return {
    histories: (nodes) =>
      ask(async () => {
        const comments: CommentHistory[] = [];
        let viewer: Author | undefined;
        for (let from = 0; viewer === undefined || from < nodes.length; from += pageSize) {
          const ids = nodes.slice(from, from + pageSize);
          const answer = await query(octokit, historiesQuery, { ids }, rawHistories);
          viewer = { login: answer.viewer.login, id: answer.viewer.databaseId };
          for (const node of answer.nodes) {
            if (node === null || !('id' in node)) continue;
            const { id, body, createdAt, lastEditedAt } = node;
            const [author, editor] = [who(node.author), who(node.editor)];
            comments.push({ node: id, body, createdAt, lastEditedAt, author, editor });
          }
        }
        return { viewer, comments };
      }),
    versions: (id) =>
      ask(async () => {
        const versions: CommentVersion[] = [];
        let after: string | null = null;
        do {
          const edits: RawEdits = await editsAfter(id, after);
          for (const edit of edits?.nodes ?? []) {
            if (edit === null) continue;
            versions.push({ node: edit.id, at: edit.editedAt, by: who(edit.editor) });
          }
          after = edits?.pageInfo.hasNextPage === true ? edits.pageInfo.endCursor : null;
        } while (after !== null && versions.length < versionsMost);
        return after === null ? versions : [];
      }),
    versionText: (id) =>
      ask(async () => {
        const { node } = await query(octokit, textQuery, { id }, rawText);
        return node?.deletedAt === null ? (node.diff ?? null) : null;
      }),
  };
}

const rawActor = z.object({
  __typename: z.string(),
  login: z.string(),
  databaseId: z.number().nullish(),
});

/** Whoever the token belongs to. */
export const rawViewer = z.object({
  viewer: z.object({ login: z.string(), databaseId: z.number().nullable() }),
});

const rawComment = z.object({
  id: z.string(),
  body: z.string(),
  createdAt: z.string(),
  lastEditedAt: z.string().nullable(),
  author: rawActor.nullable(),
  editor: rawActor.nullable(),
});

// It is empty where it is the id of something else.
const rawHistories = rawViewer.extend({
  nodes: z.array(z.union([rawComment, z.strictObject({}), z.null()])),
});

const rawEdit = z.object({ id: z.string(), editedAt: z.string(), editor: rawActor.nullable() });

const rawVersions = z.object({
  node: z
    .object({
      userContentEdits: z
        .object({
          pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
          nodes: z.array(rawEdit.nullable()).nullable(),
        })
        .nullish(),
    })
    .nullable(),
});

type RawEdits = NonNullable<z.infer<typeof rawVersions>['node']>['userContentEdits'];

const rawText = z.object({
  node: z.object({ deletedAt: z.string().nullish(), diff: z.string().nullish() }).nullable(),
});

/** Somebody as the REST API names them: a bot's name is told from that of a person. */
function who(actor: z.infer<typeof rawActor> | null): Author | null {
  if (actor === null) return null;
  const { __typename, login, databaseId = null } = actor;
  return { id: databaseId, login: __typename === 'Bot' ? `${login}[bot]` : login };
}
