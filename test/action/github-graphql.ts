import { buildSchema, type GraphQLSchema, graphql } from 'graphql';
import type { DoubleRemark } from './github-double.js';

/** One version of a comment that was edited, the first one too. */
export interface DoubleVersion {
  readonly at: string;
  /** Null for an account that is gone. */
  readonly by: DoubleRemark['user'] | null;
  /** Null where somebody took it out of the history. */
  readonly text: string | null;
}

/** The id by which GraphQL knows a comment. */
export function nodeOf({ id }: Pick<DoubleRemark, 'id'>): string {
  return `IC_${id}`;
}

let known: GraphQLSchema | undefined;

/** GitHub's own schema: what a query asks for that isn't in it is refused as GitHub would. */
async function schemaOfGithub(): Promise<GraphQLSchema> {
  if (known === undefined) {
    const { schema } = await import('@octokit/graphql-schema');
    known = buildSchema(schema.idl, { assumeValid: true, noLocation: true });
  }
  return known;
}

function actor(user: DoubleRemark['user'] | null): object | null {
  if (user === null) return null;
  const { id, login } = user;
  const isBot = login.endsWith('[bot]');
  return { __typename: isBot ? 'Bot' : 'User', login: login.replace(/\[bot\]$/, ''), databaseId: id };
}

function version(comment: DoubleRemark, index: number): object | null {
  const one = comment.versions?.[index];
  if (one === undefined) return null;
  return {
    __typename: 'UserContentEdit',
    id: `UCE_${comment.id}_${index}`,
    createdAt: one.at,
    editedAt: one.at,
    updatedAt: one.at,
    deletedAt: one.text === null ? one.at : null,
    editor: actor(one.by),
    diff: one.text,
  };
}

function commentNode(comment: DoubleRemark): object {
  const { versions = [], body, created_at: createdAt, user } = comment;
  const last = versions.at(-1);
  return {
    __typename: 'IssueComment',
    id: nodeOf(comment),
    databaseId: comment.id,
    body,
    createdAt,
    author: actor(user),
    lastEditedAt: last?.at ?? null,
    editor: last === undefined ? null : actor(last.by),
    includesCreatedEdit: versions.length > 0,
    // The last first, in pages.
    userContentEdits({ first, after }: { first?: number; after?: string | null }) {
      const all = versions.map((_, index) => version(comment, index)).reverse();
      const from = Number(after ?? 0);
      const to = from + (first ?? 0);
      return {
        totalCount: all.length,
        nodes: all.slice(from, to),
        pageInfo: { hasNextPage: to < all.length, endCursor: String(to) },
      };
    },
  };
}

/** Answers a query about comments as GitHub does, with errors where it would. */
export async function answerGraphql(
  sent: { readonly query?: string; readonly variables?: { readonly [name: string]: unknown } },
  comments: readonly DoubleRemark[],
  viewer: DoubleRemark['user'],
): Promise<object> {
  const node = ({ id }: { readonly id: string }): object => {
    const [, of, index] = /^UCE_(\d+)_(\d+)$/.exec(id) ?? [];
    const comment = comments.find((one) => nodeOf(one) === id || String(one.id) === of);
    const found =
      comment === undefined
        ? null
        : index === undefined
          ? commentNode(comment)
          : version(comment, Number(index));
    if (found === null) throw new Error(`Could not resolve to a node with the global id of '${id}'`);
    return found;
  };
  return await graphql({
    schema: await schemaOfGithub(),
    source: sent.query ?? '',
    variableValues: sent.variables ?? {},
    rootValue: {
      viewer: { __typename: 'User', login: viewer.login, databaseId: viewer.id },
      node,
      nodes: ({ ids }: { readonly ids: readonly string[] }) => ids.map((id) => node({ id })),
    },
  });
}
