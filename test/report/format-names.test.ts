import { expect, it } from 'vitest';
import { namesOfFormats } from '../../src/report/format-names.js';
import {
  diagnosisReport,
  formatNames,
  historyReport,
  listReport,
  planReport,
  problemsReport,
  pruningReport,
  pullReport,
  resultReport,
  runReport,
  runsReport,
  stateReport,
  turnReport,
  validationReport,
} from '../../src/report/formats.js';

it('says in help what there is', () => {
  expect(namesOfFormats).toEqual({
    plan: formatNames(planReport),
    result: formatNames(resultReport),
    problems: formatNames(problemsReport),
    validation: formatNames(validationReport),
    runs: formatNames(runsReport),
    run: formatNames(runReport),
    history: formatNames(historyReport),
    pruning: formatNames(pruningReport),
    state: formatNames(stateReport),
    pull: formatNames(pullReport),
    listing: formatNames(listReport),
    diagnosis: formatNames(diagnosisReport),
    turn: formatNames(turnReport),
  });
});
