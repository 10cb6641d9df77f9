/** A decimal number of YAML 1.2 as JSON writes it, with all its digits; undefined where the text is none. */
export function decimalText(text: string): string | undefined {
  const parts = /^([-+]?)(?=\.?\d)(\d*)(?:\.(\d*))?([eE][-+]?\d+)?$/.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = ''] = parts;
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${digits}${fraction === '' ? '' : `.${fraction}`}${exponent}`;
}
