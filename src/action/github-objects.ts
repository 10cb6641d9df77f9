// The parts of GitHub's answers that idops reads.

/** An issue that idops wrote. */
export interface Issue {
  readonly number: number;
  readonly body: string;
  readonly isOpen: boolean;
}

/** A comment that idops wrote. */
export interface OwnComment {
  readonly id: number;
  /** Its id in GraphQL. */
  readonly nodeId: string;
  readonly body: string;
}

/** A comment with its last edit. Times are ISO 8601. */
export interface CommentHistory {
  readonly body: string;
  readonly createdAt: string;
  readonly lastEditedAt: string | null;
  readonly author: Account | null;
  /** The last editor; null if nobody edited it, or if that account was deleted. */
  readonly editor: Account | null;
}

/** An account. A bot and a person may have the same name. */
interface Account {
  readonly __typename: string;
  readonly login: string;
}

/** A pull request. */
export interface PullRequest {
  readonly number: number;
  readonly base: { readonly ref: string; readonly sha?: string };
  /** The last commit of its branch. */
  readonly head: { readonly sha: string };
  /** Null if it isn't merged. */
  readonly merged_at: string | null;
  /** The merge commit; after a rebase the last commit. */
  readonly merge_commit_sha: string | null;
}

/** A run of a workflow. Times are ISO 8601. */
export interface WorkflowRun {
  readonly id: number;
  readonly workflow_id: number;
  /** The workflow's file, such as `.github/workflows/plan.yml`, with `@` and a reference if GitHub adds one. */
  readonly path: string;
  readonly event: string;
  readonly head_sha: string;
  readonly head_branch: string | null;
  readonly head_repository: { readonly full_name: string } | null;
  readonly status: string | null;
  readonly html_url: string;
  readonly created_at: string;
  readonly run_attempt?: number;
}

/** An artifact of a run. */
export interface Artifact {
  readonly id: number;
  readonly name: string;
  readonly size_in_bytes: number;
  readonly expired: boolean;
  readonly created_at: string | null;
}

/** A review that approves or requests changes. */
export interface Review {
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED';
  readonly submittedAt: string;
  readonly commit: { readonly oid: string } | null;
  /** Whether the author may push to the repository: GitHub ignores other reviews. */
  readonly authorCanPushToRepository: boolean;
  readonly author: Account | null;
}
