/** A word of a command as a person may paste it into a shell, whatever is in it; control characters stay readable. */
export function shellWord(text: string): string {
  // A word that begins like an option is one.
  const word = text.startsWith('-') ? `./${text}` : text;
  if (/^[\w./:@%+=,-]+$/.test(word)) return word;
  if (process.platform === 'win32') return `"${word}"`;
  if (!/[\u0000-\u001f\u007f]/.test(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  const escaped = word.replaceAll(/[\\']/g, '\\$&').replaceAll(/[\u0000-\u001f\u007f]/g, octal);
  return `$'${escaped}'`;
}

function octal(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
}
