import { describe, expect, it } from 'vitest';
import { kindNames } from '../../src/base/kind-names.js';
import { error, warning } from '../../src/base/problems.js';
import { Metrics } from '../../src/cli/metrics.js';
import type { Change, Plan } from '../../src/plan/plan.js';
import { outcomes } from '../../src/report/watch-cycle.js';
import type { Cycle, CyclePlan } from '../../src/session/watch/cycle.js';
import { changeFor, declared, live } from '../plan/fixtures.js';
import { resultOf } from '../report/plans.js';

const shown = { id: 'o', name: 'acme', label: 'Old' };
const changed = changeFor(declared('Organization', { name: 'acme' }, { label: 'New' }), {
  live: live({ id: 'o', name: 'acme' }, shown),
});
const one: Change = { ...changed, address: 'Organization/acme' };
const drifted: Change = {
  ...changed,
  address: 'Organization/globex',
  fields: changed.fields.map((field) => ({ ...field, drift: { recorded: 'x', run: 'run-1' } })),
};
const plan = (...changes: Change[]) => ({ changes }) as unknown as Plan;

function planned(of: Plan, declared: CyclePlan['declared'] = []): CyclePlan {
  return { plan: of, declared, seconds: 0.3 };
}

function turn(parts: Partial<Cycle>): Cycle {
  const durations = { plan: 0.3, apply: null };
  return { outcome: 'drift', plan: null, result: null, problems: [], notes: [], durations, ...parts };
}

async function linesOf(metrics: Metrics): Promise<string[]> {
  return (await metrics.text()).split('\n');
}

describe('metrics', () => {
  it('contain from the start every series that an alert may use', async () => {
    const lines = await linesOf(new Metrics(300));
    for (const outcome of outcomes) expect(lines).toContain(`idops_turns_total{outcome="${outcome}"} 0`);
    for (const kind of kindNames) {
      expect(lines).toContain(`idops_pending_changes{kind="${kind}",action="update"} 0`);
      expect(lines).toContain(`idops_drifted_objects{kind="${kind}"} 0`);
      expect(lines).toContain(`idops_declared_objects{kind="${kind}"} 0`);
      expect(lines).toContain(`idops_changes_total{kind="${kind}",status="failed"} 0`);
    }
    expect(lines).toContain('idops_last_success_timestamp_seconds 0');
    expect(lines).toContain('idops_retries_total 0');
    expect(lines).toContain('idops_interval_seconds 300');
    expect(lines.some((line) => /^idops_build_info\{version="\d[^"]*"\} 1$/.test(line))).toBe(true);
  });

  it('report the changes of the last plan, and keep them while plans fail', async () => {
    const metrics = new Metrics(300);
    metrics.recordPlan(planned(plan(one, drifted)));
    metrics.recordCycle(turn({ plan: plan(one, drifted) }), 1_800_000_000);
    metrics.recordCycle(turn({ outcome: 'failed', durations: { plan: null, apply: null } }), 1_800_000_300);
    const lines = await linesOf(metrics);
    expect(lines).toContain('idops_pending_changes{kind="Organization",action="update"} 2');
    expect(lines).toContain('idops_drifted_objects{kind="Organization"} 1');
    expect(lines).toContain('idops_last_success_timestamp_seconds 1800000000');
    expect(lines).toContain('idops_turns_total{outcome="failed"} 1');
    expect(lines).toContain('idops_turn_duration_seconds_count{phase="plan"} 1');
    metrics.recordPlan(planned(plan()));
    metrics.recordCycle(turn({ outcome: 'unchanged', plan: plan() }), 1_800_000_600);
    expect(await linesOf(metrics)).toContain('idops_pending_changes{kind="Organization",action="update"} 0');
  });

  it('report the changes and declared objects of a plan before it is applied', async () => {
    const metrics = new Metrics(300);
    metrics.recordPlan(planned(plan(one, drifted), [{ kind: 'Organization' }, { kind: 'Organization' }]));
    const lines = await linesOf(metrics);
    expect(lines).toContain('idops_pending_changes{kind="Organization",action="update"} 2');
    expect(lines).toContain('idops_drifted_objects{kind="Organization"} 1');
    expect(lines).toContain('idops_declared_objects{kind="Organization"} 2');
    expect(lines).toContain('idops_declared_objects{kind="User"} 0');
    expect(lines).toContain('idops_turn_duration_seconds_count{phase="plan"} 1');
    expect(lines).toContain('idops_turns_total{outcome="drift"} 0');
    metrics.recordPlan(planned(plan()));
    expect(await linesOf(metrics)).toContain('idops_declared_objects{kind="Organization"} 0');
  });

  it('subtract applied changes from the pending ones', async () => {
    const metrics = new Metrics(300);
    const { address } = drifted;
    const results = [resultOf(), resultOf({ address, status: 'failed' })];
    const ended = {
      outcome: 'failed',
      plan: plan(one, drifted),
      durations: { plan: 0.2, apply: 12 },
    } as const;
    metrics.recordCycle(turn({ ...ended, result: { run: 'r', results, interrupted: false } }), 1);
    const lines = await linesOf(metrics);
    expect(lines).toContain('idops_pending_changes{kind="Organization",action="update"} 1');
    expect(lines).toContain('idops_changes_total{kind="Organization",status="applied"} 1');
    expect(lines).toContain('idops_changes_total{kind="Organization",status="failed"} 1');
    expect(lines).toContain('idops_turn_duration_seconds_sum{phase="apply"} 12');
    expect(lines).toContain('idops_last_success_timestamp_seconds 0');
  });

  it('count attempts by operation, method and status class', async () => {
    const metrics = new Metrics(300);
    const tried = { path: '/secret', reason: null, milliseconds: 1, attempt: 1 };
    metrics.countAttempt({ ...tried, operation: 'updateUser', method: 'PATCH', status: 204 });
    metrics.countAttempt({ ...tried, operation: 'updateUser', method: 'PATCH', status: 299 });
    metrics.countAttempt({ ...tried, operation: null, method: 'POST', status: null });
    metrics.countRetry();
    const text = await metrics.text();
    expect(text).toContain('idops_requests_total{operation="updateUser",method="PATCH",status="2xx"} 2');
    expect(text).toContain('idops_requests_total{operation="other",method="POST",status="none"} 1');
    expect(text).toContain('idops_retries_total 1');
    expect(text).not.toContain('secret');
  });

  it('count errors by code, but no warnings', async () => {
    const metrics = new Metrics(300);
    const problems = [error('locked', 'by ada@acme.example'), warning('unset-variable', 'x')];
    metrics.recordCycle(turn({ outcome: 'failed', problems }), 1);
    const lines = (await linesOf(metrics)).filter((line) => line.startsWith('idops_problems_total'));
    expect(lines).toEqual(['idops_problems_total{code="locked"} 1']);
  });
});
