import { buildSchema, type GraphQLSchema, graphql } from 'graphql';
import type { DoubleRemark, DoubleReview } from './github-double.js';

export function nodeOf({ id }: Pick<DoubleRemark, 'id'>): string {
  return `IC_${id}`;
}

let known: GraphQLSchema | undefined;

/** GitHub's own schema, so that invalid queries are refused as GitHub does. */
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

function commentNode(comment: DoubleRemark): object {
  const { edited, body, created_at: createdAt, user } = comment;
  return {
    __typename: 'IssueComment',
    id: nodeOf(comment),
    databaseId: comment.id,
    body,
    createdAt,
    author: actor(user),
    lastEditedAt: edited?.at ?? null,
    editor: edited === undefined ? null : actor(edited.by),
  };
}

function reviewNode({ by, mayPush, commit, at, state = 'APPROVED' }: DoubleReview): object {
  return {
    state,
    __typename: 'PullRequestReview',
    submittedAt: at,
    authorCanPushToRepository: mayPush,
    author: actor(by),
    commit: { oid: commit },
  };
}

/** Responds to a query about comments, reviews and branches as GitHub does, including errors. */
export async function answerGraphql(
  sent: { readonly query?: string; readonly variables?: { readonly [name: string]: unknown } },
  {
    comments,
    reviews,
    required,
  }: {
    readonly comments: readonly DoubleRemark[];
    readonly reviews: readonly DoubleReview[];
    readonly required: { readonly byProtection: number };
  },
  viewer: DoubleRemark['user'],
): Promise<object> {
  const { byProtection: requiredApprovingReviewCount } = required;
  const node = (id: string): object => {
    const found = comments.find((one) => nodeOf(one) === id);
    if (found === undefined) throw new Error(`Could not resolve to a node with the global id of '${id}'`);
    return commentNode(found);
  };
  return await graphql({
    schema: await schemaOfGithub(),
    source: sent.query ?? '',
    variableValues: sent.variables ?? {},
    rootValue: {
      viewer: { __typename: 'User', login: viewer.login, databaseId: viewer.id },
      repository: {
        __typename: 'Repository',
        ref: { refUpdateRule: { requiredApprovingReviewCount, requiresCodeOwnerReviews: false } },
        pullRequest: ({ number }: { readonly number: number }) => ({
          reviews: ({ states }: { readonly states: readonly string[] }) => ({
            nodes: reviews
              .filter((one) => one.number === number && states.includes(one.state ?? 'APPROVED'))
              .map(reviewNode),
          }),
        }),
      },
      nodes: ({ ids }: { readonly ids: readonly string[] }) => ids.map(node),
    },
  });
}
