import { describe, expect, it } from 'vitest';
import { type Fields, Sensitive } from '../../src/base/values.js';
import type { Declared } from '../../src/kinds/kind.js';
import { checkTemplate } from '../../src/mail/checks.js';
import { type BodyChecks, checkDeclaredTemplates, templateWarnings } from '../../src/plan/body-checks.js';
import { templateChange } from '../report/plans.js';

function declaredTemplate(fields: Fields, absent = false): Declared {
  const place = { file: 'manifests/emails.yaml', line: 1, column: 1, length: 4 };
  return {
    kind: 'EmailTemplate',
    identity: { backend_id: 'b', type: 't' },
    fields,
    absent,
    whole: [],
    ignored: [],
    places: {
      line: { file: place.file, line: place.line },
      of: (field) => ({ ...place, line: field === 'txt_content' ? 2 : 3 }),
      within: (field) => ({ ...place, line: field === 'txt_content' ? 2 : 3 }),
    },
  };
}

/** The document with other places within its fields. */
function within(document: Declared, places: Declared['places']['within']): Declared {
  return { ...document, places: { ...document.places, within: places } };
}

/** A document that declares no body, so that problems of bodies have no place. */
const document = declaredTemplate({});

/** The problems of declared templates. */
function problemsOf(declared: readonly Declared[], given: Omit<BodyChecks, 'profile'>) {
  return checkDeclaredTemplates(declared, { profile: 'documented', ...given }, undefined);
}

type Levels = Parameters<typeof templateWarnings>[2]['levels'];

/** The warnings of a changed template. */
function warningsOf(change: Parameters<typeof templateWarnings>[0], levels: Levels = {}, of = document) {
  return templateWarnings(change, of, { checkTemplate, levels, profile: 'documented' });
}

const lost = {
  code: 'lost-placeholder',
  message: 'the new txt body lost {{ a }}, which the present one has',
};

describe('warnings of a changed template', () => {
  it("compare with the server's body", () => {
    const change = templateChange({ txt_content: '{{ a }}' }, { txt_content: 'x' });
    expect(warningsOf(change)).toEqual({ warnings: [lost], errors: [] });
  });

  it('can be errors, or silenced', () => {
    const change = templateChange({ txt_content: '{{ a }}' }, { txt_content: 'x' });
    expect(warningsOf(change, { 'lost-placeholder': 'error' })).toEqual({ warnings: [], errors: [lost] });
    expect(warningsOf(change, { 'lost-placeholder': 'off' })).toEqual({ warnings: [], errors: [] });
  });

  it('consider the body that stays', () => {
    const html = '<meta charset="utf-8">{{ a }}';
    const change = templateChange({ txt_content: '{{ a }}', html_content: html }, { txt_content: 'x' });
    expect(warningsOf(change, { 'lost-placeholder': 'off' }).warnings).toEqual([
      { code: 'placeholder-mismatch', message: 'only the html body has {{ a }}' },
    ]);
  });

  it("never block a change because of the server's body", () => {
    const long = 'x'.repeat(1_048_577);
    const live = templateChange({ txt_content: long }, { txt_content: 'x' });
    const own = templateChange({ txt_content: 'x' }, { txt_content: long });
    const codes = (change: typeof live, level: 'error' | 'off') => {
      const { warnings, errors } = warningsOf(change, { 'body-too-large': level });
      return { warnings: warnings.map(({ code }) => code), errors: errors.map(({ code }) => code) };
    };
    expect(codes(live, 'error')).toEqual({ warnings: ['body-too-large'], errors: [] });
    expect(codes(own, 'error')).toEqual({ warnings: [], errors: ['body-too-large'] });
    expect(codes(live, 'off')).toEqual({ warnings: [], errors: [] });
  });

  it('quote nothing from a secret', () => {
    const change = templateChange({ txt_content: '{{ a }}' }, { txt_content: new Sensitive('{{#secret') });
    expect(warningsOf(change).warnings).toEqual([
      {
        code: 'template-syntax',
        message:
          'txt_content fails the check template-syntax; the details are hidden because it contains a secret',
      },
    ]);
    const lacks = templateChange({ txt_content: '{{ a }}' }, { txt_content: new Sensitive('{{ secret }}') });
    expect(warningsOf(lacks).warnings).toEqual([lost]);
  });

  it('are only about templates that will be updated', () => {
    const change = templateChange({ txt_content: '{{ a }}' }, { txt_content: 'x' });
    expect(warningsOf({ ...change, action: 'blocked' }).warnings).toEqual([]);
    expect(warningsOf({ ...change, kind: 'Client' }).warnings).toEqual([]);
  });
});

describe('a warning of a changed template', () => {
  const html = '<meta charset="utf-8"><img src="a.png">{{ a }}';

  it('has its place in the declared body', () => {
    const change = templateChange({ txt_content: '{{ a }}' }, { html_content: html });
    const parts: (object | undefined)[] = [];
    const declared = within(declaredTemplate({ html_content: html }), (_, part) => {
      parts.push(part);
      return { file: 'emails/a.html', inProject: 'a.html', line: 7, column: 3, length: 1, text: 'x' };
    });
    const place = { file: 'emails/a.html', inProject: 'a.html', line: 7, column: 3 };
    expect(warningsOf(change, {}, declared).warnings).toMatchObject([{ code: 'image-without-alt', place }]);
    expect(parts).toEqual([{ start: 22, end: 39 }]);
  });

  it('has every place up to a limit, and the number of the others', () => {
    const images = (count: number) => `<meta charset="utf-8">${'<img>'.repeat(count)}`;
    const problemWith = (count: number) => {
      const change = templateChange({}, { html_content: images(count) });
      const declared = within(declaredTemplate({ html_content: images(count) }), (_, part) => ({
        file: 'a.html',
        line: 1,
        column: (part?.start ?? 0) + 1,
        length: 1,
      }));
      const [warning] = warningsOf(change, {}, declared).warnings;
      const [problem] = problemsOf([declared], { checkTemplate, levels: {} });
      expect(problem?.places.map(({ column }) => column)).toEqual(
        (warning?.places ?? [warning?.place]).map((place) => place?.column),
      );
      expect(problem?.morePlaces).toBe(warning?.morePlaces);
      return warning;
    };
    expect(problemWith(1)).toMatchObject({ place: { column: 23 } });
    expect(problemWith(1)).not.toHaveProperty('places');
    expect(problemWith(3)?.places?.map(({ column }) => column)).toEqual([23, 28, 33]);
    expect(problemWith(3)).not.toHaveProperty('morePlaces');
    expect(problemWith(60)?.places).toHaveLength(50);
    expect(problemWith(60)?.morePlaces).toBe(10);
  });

  it("has one place if its parts can't be told apart", () => {
    const body = `<meta charset="utf-8">${'<img>'.repeat(60)}`;
    const change = templateChange({}, { html_content: body });
    const [warning] = warningsOf(change, {}, declaredTemplate({ html_content: body })).warnings;
    expect(warning).toMatchObject({ code: 'image-without-alt', place: { line: 3 } });
    expect(warning).not.toHaveProperty('places');
    expect(warning).not.toHaveProperty('morePlaces');
  });

  it("has no place if the body is the server's", () => {
    const change = templateChange({ html_content: html }, { txt_content: '{{ b }}' });
    const { warnings } = warningsOf(change, {}, declaredTemplate({ txt_content: '{{ b }}' }));
    expect(warnings.map(({ code, place }) => [code, place?.line])).toEqual([
      ['placeholder-mismatch', 2],
      ['image-without-alt', undefined],
    ]);
  });
});

describe('problems of declared templates', () => {
  it('have their place in the body that they are about', () => {
    const problems = problemsOf([declaredTemplate({ txt_content: '{{#a}}', html_content: 'x' })], {
      checkTemplate,
      levels: { 'template-syntax': 'error' },
    });
    expect(problems).toMatchObject([
      { code: 'template-syntax', severity: 'error', places: [{ line: 2 }] },
      { code: 'html-charset', severity: 'warning', places: [{ line: 3 }] },
    ]);
  });

  it('have places in both bodies if they are about both', () => {
    const fields = { txt_content: '{{a}}', html_content: '<meta charset="utf-8">' };
    const [problem] = problemsOf([declaredTemplate(fields)], { checkTemplate, levels: {} });
    expect(problem?.places.map(({ line }) => line)).toEqual([2, 3]);
  });

  it('are not looked for in a deleted template, or if the check is off', () => {
    expect(
      problemsOf([declaredTemplate({ txt_content: '{{#a}}' }, true)], { checkTemplate, levels: {} }),
    ).toEqual([]);
    const declared = [declaredTemplate({ txt_content: '{{#a}}' })];
    expect(problemsOf(declared, { checkTemplate, levels: { 'template-syntax': 'off' } })).toEqual([]);
  });
});
