import { shardText } from '../base/shard.js';
import type { NamedSample } from '../mail/samples.js';
import { isDrifted } from '../plan/drift.js';
import { countPrivileged, isPrivileged, type Plan, type Share, summarize } from '../plan/plan.js';
import { changeBox, changeDetails, warningLine } from './changes.js';
import { changesPage, type PageGroup } from './changes-page.js';
import { Emails } from './emails.js';
import { foldChanges, foldCount } from './fold.js';
import { type Insertable, markup } from './markup.js';
import { labelSuffix } from './names.js';
import type { RenderOptions } from './render-options.js';
import {
  allWarnings,
  destructiveCount,
  filterPlan,
  headline,
  isDestructive,
  isHighRisk,
  reviewGroups,
  shareNotes,
} from './review.js';
import { actions, actionWords, plural } from './words.js';

export interface HtmlOptions extends Pick<RenderOptions, 'debug' | 'only'> {
  /** Sample data by the template's address; generated if there is none. */
  readonly samples: ReadonlyMap<string, readonly NamedSample[]>;
}

/** A plan as a page. The page and its frames load nothing and run no script. */
export function planHtml(plan: Plan, options: HtmlOptions): string {
  const groups = groupsOf(plan, options);
  const folds = groups.flatMap(({ entries }) => entries.map(({ fold }) => fold));
  const shown = folds.flatMap(({ changes }) => changes);
  const { profile } = plan;
  const context = {
    ...options,
    emails: new Emails(),
    profile,
    allChanges: plan.changes,
    boxCount: folds.length,
    isResult: false,
  };
  const summary = summarize(plan);
  const counted = actions.filter(
    (action) => summary[action] > 0 || action === 'update' || action === 'unchanged',
  );
  const isEmpty = shown.length === 0 && options.only === undefined;
  return changesPage({
    title: `Plan: ${headline(plan)}`,
    heading: `idops plan for ${plan.server}`,
    facts: [...planFacts(plan), `Made at ${plan.createdAt} by idops ${plan.toolVersion}`],
    counts: counted.map((action) => ({ count: summary[action], words: actionWords[action] })),
    notices: [
      notices(plan, options.only),
      isEmpty ? markup`<p class="note">There is nothing to review: ${headline(plan)}.</p>` : null,
    ],
    filters: [
      { name: 'kind', legend: 'Kind', values: shown.map(({ kind }) => kind) },
      { name: 'action', legend: 'Action', values: shown.map(({ action }) => action) },
    ],
    toggles: [
      { name: 'privileged', label: 'privileged', hasMatch: shown.some(isPrivileged) },
      { name: 'destructive', label: 'destructive', hasMatch: shown.some(isDestructive) },
      { name: 'drift', label: 'changed on the server', hasMatch: shown.some(isDrifted) },
      {
        name: 'warnings',
        label: 'with warnings',
        hasMatch: shown.some(({ warnings }) => warnings.length > 0),
      },
    ],
    groups,
    renderEntry: ({ number, change, fold }) => {
      const { action, warnings } = change;
      return changeBox({
        number,
        named: change,
        fold,
        isImportant: isHighRisk(change) || action === 'blocked',
        attributes: markup`data-action="${action}"`,
        badges: markup`<span class="badge ${action}">${action}</span>`,
        notes: [
          isDrifted(change) ? markup`<span class="badge adopt">drift</span>` : null,
          warnings.length > 0
            ? markup`<span class="badge update">${plural(warnings.length, 'warning')}</span>`
            : null,
        ],
        content: changeDetails(change, context),
        context,
      });
    },
    footer: markup`<p>Required scopes: ${plan.requiredScopes.join(', ') || 'none'}</p>
<p>Digest: <code>${plan.digest}</code></p>`,
  });
}

export function planFacts({ profile, environment, shard, asOf }: Plan): Insertable[] {
  return [
    markup`Profile <code>${profile}</code>`,
    markup`Environment ${environment === null ? 'none' : markup`<code>${environment}</code>`}`,
    ...(shard === undefined ? [] : [`Shard ${shardText(shard)}`]),
    ...(asOf === undefined ? [] : [`As of ${asOf} (--now)`]),
  ];
}

function groupsOf(plan: Plan, options: HtmlOptions) {
  let number = 0;
  return reviewGroups(plan, options).map(({ title, rank, changes }) => {
    const [first] = changes;
    const filter =
      first === undefined || isHighRisk(first)
        ? null
        : rank === 1
          ? markup` data-kind="${first.kind}"`
          : markup` data-action="${first.action}"`;
    const entries = foldChanges(changes, options.debug).map((fold) => {
      number += 1;
      const { change } = fold;
      const { address, action } = change;
      return {
        number,
        objects: fold.changes.length,
        title: fold.changes.length === 1 ? `${address}${labelSuffix(change)}` : foldCount(fold),
        badge: { word: action, className: action },
        change,
        fold,
      };
    });
    return { title, meaning: '', filter, entries } satisfies PageGroup<(typeof entries)[number]>;
  });
}

function notices(plan: Plan, only: Share | undefined): Insertable {
  const shown = filterPlan(plan, only);
  const { count, totalNote } = destructiveCount(shown);
  const ofChanges = allWarnings(shown).length - plan.warnings.length;
  const privileged = countPrivileged(shown);
  return [
    privileged > 0
      ? markup`<p class="loss"><strong>${plural(privileged, 'privileged change')}</strong>, shown first.</p>\n`
      : null,
    count > 0
      ? markup`<p class="loss"><strong>${plural(count, 'destructive change')}</strong>${totalNote}, shown ${privileged > 0 ? 'next' : 'first'}.</p>\n`
      : null,
    shareNotes(plan, only).map((note) => markup`<p class="note">${note}</p>\n`),
    plan.warnings.map(warningLine),
    ofChanges > 0
      ? markup`<p class="warning">${plural(ofChanges, 'warning')} about single changes, shown with them.</p>\n`
      : null,
  ];
}
