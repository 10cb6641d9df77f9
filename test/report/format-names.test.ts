import { expect, it } from 'vitest';
import { formatsByReport } from '../../src/report/format-names.js';

import * as reports from '../../src/report/formats.js';

const { formatNames } = reports;

it('the format names of the help are those of the reports', () => {
  expect(formatsByReport).toEqual({
    plan: formatNames(reports.planReport),
    result: formatNames(reports.resultReport),
    problems: formatNames(reports.problemsReport),
    validation: formatNames(reports.validationReport),
    runs: formatNames(reports.runsReport),
    run: formatNames(reports.runReport),
    history: formatNames(reports.historyReport),
    pruning: formatNames(reports.pruningReport),
    state: formatNames(reports.stateReport),
    pull: formatNames(reports.pullReport),
    listing: formatNames(reports.listReport),
    access: formatNames(reports.accessReport),
    diagnosis: formatNames(reports.diagnosisReport),
    cycle: formatNames(reports.cycleReport),
  });
});
