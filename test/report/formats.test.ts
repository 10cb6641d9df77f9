import { describe, expect, test } from 'vitest';
import { planReport, type RenderOptions, render, renderText } from '../../src/report/formats.js';
import { planJson } from '../../src/report/json.js';
import { createRedactor } from '../../src/secrets/redactor.js';
import { changeOf, planOf } from './plans.js';

const renderOptions: RenderOptions = { color: false, debug: false, folder: 'infra' };

describe('the registry of formats', () => {
  test('refuses an unknown format, and renders no JSON as text', async () => {
    const shown = { plan: planOf([changeOf()]), samples: new Map() };
    await expect(render(planReport, 'yaml', shown, renderOptions)).rejects.toThrow('has no format yaml');
    await expect(renderText(planReport, 'json', shown, renderOptions)).rejects.toThrow(
      'the format json is not text',
    );
    expect(await render(planReport, 'json', shown, renderOptions)).toEqual({
      json: planJson(shown.plan, renderOptions),
    });
    expect(planReport.redact(shown, createRedactor())).toEqual(shown);
  });
});
